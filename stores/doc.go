// Package stores is the contract between the engine and a checkpoint store.
//
// A store keeps opaque, signed rows. It never interprets a payload and never
// checks a signature: what is signed is what comes back, byte for byte. The
// core protocol is [Store]; everything else is an optional capability, a small
// interface that is found by type assertion ([Lister], [Historian],
// [EventLog], [Grapher], [Watcher], [Leaser], [Remover], [Importer], [Copy], [Auditor],
// [Examiner], [Expirer]).
//
// Rules that every native store keeps and the suite in storetest checks:
//
//   - Save is a compare-and-set against the newest checkpoint of the run: step
//     0 only for a run that does not exist, else exactly one step further, in
//     the stored segment or the next one, in the same incarnation. Anything
//     else is [ErrConflict] and writes nothing.
//   - One transaction holds the checkpoint, its head, its events, its call
//     records and its graph. A crash leaves the old or the new, never a mix.
//   - RecordCall(started) is refused with ErrConflict when the writer's segment
//     is not the run's current one, or the run has ended. Every other call record is
//     kept whatever the current segment is: a late done is the truth about a
//     call in doubt.
//   - Rows go in and come out as copies; a caller may change what it holds.
//   - Times are UTC with a precision of one microsecond.
//   - Reading never writes: no table, no migration, no side file.
//   - A row that cannot be read comes back with Bad set and whatever could be
//     read of it. It never hides the others.
//
// This package imports nothing of flowtui.
package stores
