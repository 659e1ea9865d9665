// Package archtest holds the tests that keep the tree in shape: which package
// may import which, and how long files and functions may get. It has no code.
package archtest
