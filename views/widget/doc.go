// Package widget holds the pieces that screens are made of: table, tabs, text
// pane, text field, box. They know nothing of runs and do no I/O. What they
// draw is exact: every line is one line and as wide in cells as it was asked
// to be, whatever the text.
package widget
