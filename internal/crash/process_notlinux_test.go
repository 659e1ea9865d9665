//go:build unix && !linux

package crash

import "syscall"

// dieWithParent does nothing: this system has no way to ask for it. A worker
// ends when it asks a test for orders that is gone.
func dieWithParent(*syscall.SysProcAttr) {}
