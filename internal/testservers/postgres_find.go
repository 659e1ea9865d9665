//go:build unix

package testservers

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// debianPrograms is where Debian keeps the programs of each version.
const debianPrograms = "/usr/lib/postgresql/*/bin"

// postgresPrograms finds the folder with the programs of the server: in PATH,
// or the one of the newest version among those of the pattern.
func postgresPrograms(pattern string) (string, error) {
	folders, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	if initdb, err := exec.LookPath("initdb"); err == nil {
		folders = slices.Insert(folders, 0, filepath.Dir(initdb))
	}
	for _, folder := range folders {
		_, initdb := exec.LookPath(filepath.Join(folder, "initdb"))
		_, server := exec.LookPath(filepath.Join(folder, "postgres"))
		if initdb == nil && server == nil {
			return folder, nil
		}
	}
	return "", errors.New("PostgreSQL's programs initdb and postgres are not installed")
}

// version of .../15/bin is 15.
func version(folder string) float64 {
	v, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(folder)), 64) // others come last
	return v
}

// postgresOwner is who runs the server: PostgreSQL refuses to run as root.
func postgresOwner() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no other user for it: %w", err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
