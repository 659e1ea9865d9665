// Package keymap holds every key binding of the screens as data, grouped by
// the context in which it is live. Footers, the help overlay and the tables of
// the manual are made from it, so what is shown is what works. It knows
// nothing of screens: whoever handles keys asks key.Matches.
package keymap
