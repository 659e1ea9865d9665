// Package postgres keeps a store in the tables of one PostgreSQL schema,
// through jackc/pgx. It implements every capability of the contract.
//
// It owns the schema (migrations/), the statements, and the translation of the
// server's errors. It imports nothing of flowtui but the contract, and never
// looks into a payload.
//
// # Writing
//
// A write is one transaction in one round trip: BEGIN, a lock on the run's
// head, one statement that compares and writes, COMMIT. The server never waits
// for the client in between, so a worker that is frozen holds no lock. The
// isolation level is said with every BEGIN: under READ COMMITTED the statement
// after the lock sees what the writer before it has committed. Two writers of a
// new run are told apart by the primary key of its head.
// A write that is refused asks for the reason in a second round trip, so that the
// others do not pay for it.
//
// A write is never sent twice. When the connection breaks after it was sent,
// the outcome is ErrUnknown, and the caller reads back.
//
// Behind the COMMIT, in the same round trip, goes a NOTIFY for watchers. It is
// not part of the transaction: the server commits transactions with a NOTIFY
// one after the other, and refuses them when a listener that hangs has let its
// queue fill up. A notice that is lost is made up for by a slow poll.
//
// # Sessions
//
// No statement depends on what another one left in the session: nothing is SET
// or locked beyond its transaction, so a pooler in transaction mode may give
// every transaction to another connection. A connection whose server process is
// the one that greeted the client has no pooler in between; only there are the
// statements of writes prepared, and only there does a watcher LISTEN, on a
// connection of its own. Elsewhere, and on a replica, watchers poll.
//
// # Reading
//
// A read is one statement. Functions and operators are called with the types
// that they are defined for, so that nobody who may create functions can put
// one of theirs in between. Attaching reads the catalog and writes nothing.
// A read that meets a dead connection is done again on a new one, once.
//
// # Spoiled rows
//
// A row with a missing or absurd value comes back with Bad set and never hides
// the others; a run whose newest checkpoint is bad cannot be written to
// (ErrUnreadable).
package postgres
