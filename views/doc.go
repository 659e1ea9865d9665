// Package views draws runs in a terminal and lets a person act on them. [Main]
// is all that an operator's own program calls; [Run] is for one that attaches
// its stores itself.
//
// The laws of the package:
//   - Init, Update and View do no I/O and do not wait. Every call of the
//     [Backend] is in commands.go or run_commands.go, takes a context and
//     returns one message.
//   - A screen owns a context, cancelled when it is closed. A reply names the
//     screen and the request that it answers; late and superseded ones are
//     dropped. Actions run under the program's context instead: leaving a
//     screen does not stop one.
//   - Keys are matched against package keymap only, and go to the layer in
//     front: what it does not know does nothing. Text fields own every key but
//     ctrl+c. Pasted text outside a text field does nothing, nor does any other
//     key than ctrl+c in a window that is too small to show a layer.
//   - Selection is by run, never by line. A sheet acts on exactly the run and
//     version it was opened for.
//   - What is shown changes only when the store has said so.
//   - What can be seen is read again at a heartbeat and when a lease on it runs
//     out; only what was read within a heartbeat is called live.
//   - What a person decides on has to be read first, in every sheet and whatever
//     is decided. It counts as read line by line, when a line stood on the
//     screen for a glance: in front, and in a window that shows it.
//   - A sheet goes on to what is open beside what was decided, as if it was
//     opened anew.
//   - Enter confirms only what stood still for a moment, and only when no other
//     key came with it.
//   - Styles come from package theme; what is drawn is exact to the cell.
//
// It imports viewer, keymap, theme and widget, and knows neither engine nor
// stores.
package views
