// Package theme is the one place that knows colours and symbols. It makes a
// [Styles] value for a terminal, from the environment only: it never asks the
// terminal anything. Sixteen colours, which people have already chosen to be
// readable on their background, serve light and dark alike; every tone also
// comes with a word or a symbol, so nothing is told by colour alone.
package theme
