// Package sqlite keeps a store in one SQLite file, through the pure Go driver
// modernc.org/sqlite. It implements every capability of the contract.
//
// It owns the schema (migrations/), the settings of every connection and the
// translation of SQLite's errors. It imports nothing of flowtui but the
// contract, and never looks into a payload.
//
// # Writing
//
// The file is in WAL mode. One connection writes; its transactions take the
// write lock first (BEGIN IMMEDIATE), so they wait for other writers instead
// of failing, and with synchronous=FULL a save that returned survives a power
// cut. Once a transaction has begun it is not interrupted, so its outcome is
// known; only a disk that fails during the commit gives ErrUnknown. What the
// connection has written it need not read again while SQLite's count of changes
// says, inside the transaction, that nobody else has written. The
// connection opens at the first write: attaching writes nothing. Close folds
// the -wal file into the main file, so a store at rest is a single file.
//
// # Reading
//
// Reading never takes a write lock and leaves the main and the -wal file as
// they are. While nobody writes it goes through an immutable handle, which
// makes no side files and works in a read-only folder; the files are looked at
// before and after each read, and the read is done again if they changed.
// While somebody writes, or after a writer was killed, the -wal file is not
// empty and a plain read-only handle sees every committed row. That handle
// shares the -shm file with the writer: it sets its lock marks, and after a
// crash it rebuilds this file, which is an index that can always be rebuilt.
// It creates the -shm file where a -wal file lies alone (a store copied while
// it was in use), and where it may not, opening says so. A last writer that
// closes while a reader is connected leaves an empty -wal file behind.
//
// # Spoiled rows
//
// Tables are not STRICT. A row with a value of the wrong type or an absurd one
// comes back with Bad set and never hides the others; a run whose newest
// checkpoint is bad cannot be written to (ErrUnreadable).
package sqlite
