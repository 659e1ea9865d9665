// Package redis keeps stores in a Redis server, a Sentinel group or a Redis
// Cluster, through github.com/redis/go-redis/v9. It implements every capability
// of the contract and [stores.Expirer].
//
// It owns the layout of the keys, the scripts that change them (scripts/), the
// URL and the translation of the server's errors. It imports nothing of flowtui
// but the contract, and never looks into a payload.
//
// # Keys
//
// All keys of a store start with its prefix in braces, so they share one slot
// of a cluster and a user can be limited to them (~{flowtui}:*). All rows of a
// run are fields of one hash: they expire, are evicted and are deleted
// together. Beside it an index record says in which sorted sets the run is; the
// sets are in the order of lists, so a page costs the page. A run whose hash is
// gone before its time is not forgotten: it is listed with Bad set, and nothing
// can be written to it until it is deleted.
//
// # Writing
//
// Every change is one script, which compares, writes or refuses as a whole. No
// script is sent twice, except when the server certainly did not run it
// (NOSCRIPT, MOVED). When the reply is lost the error is ErrUnknown. A write that
// was sent outlives its context by up to a second, so that its outcome is known.
//
// # Reading
//
// Reading uses plain read commands, for which a user with +@read is enough. TIME
// is not one of them: without it, leases are measured by this machine's clock.
// Each answer comes with the store's id, so that a server that came back empty
// is noticed and never taken for an empty store.
package redis
