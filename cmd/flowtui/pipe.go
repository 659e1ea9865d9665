package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowtui/flowtui/engine/flowfile"
)

// takePipe reads a flow file that comes through a pipe, as of a shell's <(…): it
// can be read once, and is for whoever names the flow later. What is a regular
// file, or not there, is left alone; a device or a socket is refused.
func (a *app) takePipe(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if _, taken := a.piped[path]; err != nil || info.Mode().IsRegular() || info.IsDir() || taken {
		return nil
	}
	if info.Mode()&fs.ModeNamedPipe == 0 {
		return problem("usage", "give a file, or a pipe that ends", "%s is %s, not a flow file", path, kindOfFile(info.Mode()))
	}
	data, err := readFile(ctx, path, flowfile.MaxBytes)
	if err != nil {
		return fmt.Errorf("flow file %s: %w", path, err)
	}
	if a.piped == nil {
		a.piped = map[string][]byte{}
	}
	a.piped[path] = data
	return nil
}

// kindOfFile says what is no regular file, pipe or folder.
func kindOfFile(m fs.FileMode) string {
	switch {
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}

// readFile reads a file that may be a pipe, and one byte more than the limit of
// one that does not end.
func readFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	return readEnding(ctx, func() (io.ReadCloser, error) { return os.Open(path) }, limit)
}

// readEnding opens and reads what may come slowly or never: a pipe that nobody
// writes to cannot even be opened. The context ends the wait, and what waits on
// ends with the program.
func readEnding(ctx context.Context, open func() (io.ReadCloser, error), limit int64) ([]byte, error) {
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		f, err := open()
		if err != nil {
			done <- read{nil, err}
			return
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, limit+1))
		done <- read{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case r := <-done:
		return r.data, r.err
	}
}

// load reads the flow file at a path, or the text that came through that pipe.
func (f *flowFiles) load(path string) (*flowfile.File, error) {
	data, piped := f.piped[path]
	if !piped {
		file, err := f.opts.Load(path)
		if _, unread := errors.AsType[*fs.PathError](err); unread {
			return nil, unreadable(path, err)
		}
		return file, err
	}
	file, err := parsePiped(f.opts, path, data)
	if err == nil && nameless(path) && file.Name == filepath.Base(path) {
		return nil, problem("usage", "begin it with name: and the name of the flow", "the flow that comes through the pipe %s has no name", path)
	}
	return file, err
}

// parsePiped reads what came through a pipe. A pipe without a folder of its own
// has the one that flowtui runs in.
func parsePiped(opts flowfile.Options, path string, data []byte) (*flowfile.File, error) {
	opts.Dir = filepath.Dir(path)
	if nameless(path) {
		opts.Dir = "."
	}
	var err error
	if opts.Dir, err = filepath.Abs(opts.Dir); err != nil {
		return nil, fmt.Errorf("flow file %s: %w", path, err)
	}
	return flowfile.Parse(path, data, opts)
}

// nameless reports a path that the system made, as /dev/fd/63 for <(…).
func nameless(path string) bool {
	return strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/")
}
