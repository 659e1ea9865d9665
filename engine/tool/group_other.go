//go:build !unix

package tool

import "os/exec"

// ownGroup leaves the default: a kill reaches the process alone. What it
// started may live on, but cannot hang us.
func ownGroup(*exec.Cmd) {}
