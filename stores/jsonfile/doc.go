// Package jsonfile keeps a store in a folder of JSON files that a person can
// read. It implements every capability of the contract, for every process on
// one host.
//
// It owns the layout of the folder, the locks and the translation of the
// system's errors. It imports nothing of flowtui but the contract, and never
// looks into a payload. The layout is described in docs/store-format.md.
//
// # Writing
//
// A run is a journal, a file of JSON lines. A commit is one line: a checkpoint
// with its head, call records and events, or a call record with its events. It
// is written at once and synced before the call returns. A line counts when it
// is whole, its checksum is right and it names the checksum of the line before
// it. The first line comes with its file: it is written beside, synced and
// renamed. After a line the run's head file is replaced; it is a summary for
// lists, and says how far the journal was committed.
//
// Writers of a run hold a lock of the operating system, which ends with the
// process. A line that a killed writer left half written is ignored by readers
// and cut off by the next writer. What looks torn below the length that the head
// file says was committed is damage, not a torn end, and is never cut.
//
// # Reading
//
// Reading takes no lock and writes nothing. A run whose files are damaged comes
// back with Bad set, with the file and the reason; it cannot be written to, and
// hides no other. Links that lead out of the folder are not followed.
package jsonfile
