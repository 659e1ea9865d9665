// Package testwriter gives tests of a store another process that writes to it and can
// be killed. It owns what that process writes, and how a test hears what was saved.
package testwriter
