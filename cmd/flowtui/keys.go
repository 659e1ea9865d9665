package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/flowtui/flowtui/engine/seal"
)

const (
	keyCmdTimeout = 10 * time.Second
	maxKeyBytes   = 64 << 10
)

// keySource says where the checkpoint key comes from; at most one is set.
type keySource struct{ file, env, cmd string }

func (s keySource) count() int {
	n := 0
	for _, x := range []string{s.file, s.env, s.cmd} {
		if x != "" {
			n++
		}
	}
	return n
}

// flags are the flags that give the same key, for a command line to copy.
func (s keySource) flags() []string {
	switch {
	case s.file != "":
		return []string{"--key-file", s.file}
	case s.env != "":
		return []string{"--key-env", s.env}
	case s.cmd != "":
		words := strings.Fields(s.cmd)
		if len(words) > 1 {
			words = []string{words[0], "…"} // the arguments may be secrets
		}
		return []string{"--key-cmd", strings.Join(words, " ")}
	}
	return nil
}

// String names the source. Arguments of a command may be secrets themselves.
func (s keySource) String() string {
	switch {
	case s.file != "":
		return "the key file " + s.file
	case s.env != "":
		return "the variable " + s.env
	case s.cmd != "":
		return "the key command"
	}
	return "no key"
}

// hint says what to look at when the source cannot be read, and why it cannot.
func (s keySource) hint(why error) string {
	switch {
	case s.file != "" && errors.Is(why, fs.ErrPermission):
		return "get the permission to read it, or give another file with the key that the runs were signed with"
	case s.file != "":
		return "give the file that the runs were signed with, or make a new key for a new store: openssl rand -hex 32"
	case s.env != "":
		return "export " + s.env + " before flowtui starts"
	}
	return "run the key command by itself and see what it prints"
}

// keyring reads the key. No source is no key, and no error: looking needs none.
// An error names the source and the reason, never what was read.
func (a *app) keyring(ctx context.Context, s keySource) (*seal.Keyring, error) {
	if s.count() == 0 {
		return nil, nil
	}
	if ring := a.rings[s]; ring != nil { // the variable is gone by now, and a pipe is empty
		return ring, nil
	}
	data, err := a.readKey(ctx, s)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, refuse(s.hint(err), "%s gives no key: %v", s, err)
	}
	ring, err := seal.ParseKeyring(data)
	clear(data)
	if err != nil {
		return nil, refuse("a key file has one key a line, the newest first: at least 32 bytes as they are, or as hex:… or base64:…",
			"%s gives no key: %v", s, err)
	}
	if s.env != "" || s.file != "" && !isRegular(s.file) {
		if a.rings == nil {
			a.rings = map[keySource]*seal.Keyring{}
		}
		a.rings[s] = ring
	}
	return ring, nil
}

func (a *app) readKey(ctx context.Context, s keySource) ([]byte, error) {
	switch {
	case s.file != "":
		return a.readKeyFile(ctx, s.file)
	case s.env != "":
		secret, ok := os.LookupEnv(s.env)
		if !ok {
			return nil, errors.New("it is not set")
		}
		os.Unsetenv(s.env) // the tools that a flow runs must not inherit it
		return []byte(secret), nil
	}
	return runKeyCmd(ctx, s.cmd)
}

func (a *app) readKeyFile(ctx context.Context, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, errors.Unwrap(err) // the path is named already
	}
	if info.IsDir() {
		return nil, errors.New("it is a folder")
	}
	if why := exposed(path, info.Mode()); why != "" && a.exposedKey == "" { // told once
		a.exposedKey = why
		a.warnf("the key file %s", why)
	}
	data, err := readFile(ctx, path, maxKeyBytes)
	switch e, ok := errors.AsType[*fs.PathError](err); {
	case ok:
		return nil, e.Err
	case err != nil:
		return nil, err
	case len(data) > maxKeyBytes:
		return nil, fmt.Errorf("it has more than %d bytes", maxKeyBytes)
	}
	return data, nil
}

// exposed says who else has a key file, and what to do about it, "" for nobody.
// On Windows modes are no permissions.
func exposed(path string, mode fs.FileMode) string {
	can := ""
	switch {
	case !mode.IsRegular() || runtime.GOOS == "windows":
		return ""
	case mode&0o044 != 0:
		can = "read"
	case mode&0o022 != 0:
		can = "changed"
	default:
		return ""
	}
	return fmt.Sprintf("%s can be %s by others (mode %04o): chmod 600 %s", path, can, mode.Perm(), quote(path))
}

// runKeyCmd runs a command without a shell and returns its output. Of what it
// says on stderr only the last line is told, and only when it failed and the
// line holds nothing of the output.
func runKeyCmd(ctx context.Context, line string) ([]byte, error) {
	argv, err := splitWords(line)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, keyCmdTimeout)
	defer cancel()
	var out, said limitedBuffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe open
	err = cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("no answer within %s", keyCmdTimeout)
	case err != nil:
		defer clear(out.data)
		if why := lastWords(said.data, out.data); why != "" {
			return nil, fmt.Errorf("%w: %s", err, why)
		}
		return nil, err
	case out.over:
		return nil, fmt.Errorf("it gives more than %d bytes", maxKeyBytes)
	}
	return out.data, nil
}

// lastWords is the last line that a command said, "" when that line has
// anything in common with what it printed, which may be a secret, or is one
// word, which is no explanation but may be a secret too.
func lastWords(said, printed []byte) string {
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if !strings.ContainsRune(last, ' ') {
		return ""
	}
	for _, word := range strings.Fields(string(printed)) {
		if strings.Contains(last, word) {
			return ""
		}
	}
	return clip(last, 200)
}

// limitedBuffer keeps the first bytes and drops the rest.
type limitedBuffer struct {
	data []byte
	over bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	room := maxKeyBytes - len(b.data)
	b.over = b.over || len(p) > room
	b.data = append(b.data, p[:min(room, len(p))]...)
	return len(p), nil
}
