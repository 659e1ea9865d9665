//go:build !(linux || darwin || freebsd)

package sqlite

import (
	"io/fs"
	"os"
)

// mayWrite looks at the read-only attribute; there is no cheap way to ask for more.
func mayWrite(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && info.Mode().Perm()&0o200 == 0 {
		err = fs.ErrPermission
	}
	return err
}
