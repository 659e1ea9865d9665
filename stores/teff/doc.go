// Package teff reads the checkpoint stores of teff 0.3, a Python project, as
// they are: folders of JSON files, SQLite databases and PostgreSQL tables, each
// with or without history, and its older SQLite tables. It is a driver of the
// store contract; a row's meaning beyond its status is left to who reads it.
//
// A teff row is a state, the node that runs next and an iteration. It becomes a
// checkpoint whose step is the iteration and whose payload is the row in the
// layout of teff's own files, whatever the store:
//
//	{"state": {…}, "next_node_id": "n" or null, "iteration": 3}
//
// A head's payload is the same with nothing in the state but __interrupt__, and
// with three keys more: parent, the run that a nested run belongs to, outermost,
// the one above it that belongs to none, and children, all nested runs below it. The text of a state is never changed; it
// is JSON as Python writes it, where NaN is a number. Rows carry no signature:
// in the place of a MAC's predecessor (Seal.Prev) stands the SHA-256 of the row,
// which tells whether it is still the one that was seen.
//
// Reading changes nothing, not a time stamp: no folder is made, no table is
// migrated, no transaction that was cut off is rolled back. What cannot be read
// in place without a change is read from a copy.
package teff
