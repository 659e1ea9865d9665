package jsonfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/flowtui/flowtui/stores"
)

var errNotFile = errors.New("looked for a file")

// openFile opens a regular file. Links are not followed, and what would block,
// such as a pipe, is not opened.
func openFile(dir *os.Root, name string, flag int) (*os.File, os.FileInfo, error) {
	seen, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%w, found a %s", errNotFile, kind(seen.Mode()))
	}
	f, err := dir.OpenFile(name, flag, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w, found a %s", errNotFile, kind(info.Mode()))
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&fs.ModeSymlink != 0:
		return "link"
	}
	return "thing of mode " + m.Type().String()
}

// readSmall reads a file that cannot be large.
func readSmall(dir *os.Root, name string, limit int64) ([]byte, error) {
	f, info, err := openFile(dir, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%w of at most %d bytes, found one of %d", errNotFile, limit, info.Size())
	}
	b := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = b.ReadFrom(io.LimitReader(f, limit))
	return b.Bytes(), err
}

// openFolder opens a folder that is no link.
func openFolder(dir *os.Root, name string) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("looked for a folder, found a %s", kind(info.Mode()))
	}
	return dir.OpenRoot(name)
}

// replace writes a file as a whole: beside it, and then in its place. With
// durable it survives a power cut once this returns.
func (s *Store) replace(dir *os.Root, name string, b []byte, durable bool) error {
	temp := name + tempExt
	s.step("write " + temp)
	// A file that a killed writer left, or a link that somebody put there.
	if err := dir.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if _, err = f.Write(b); err == nil && durable {
		s.step("sync " + temp)
		err = s.sync(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		s.step("rename " + temp)
		err = dir.Rename(temp, name)
	}
	if err != nil {
		_ = dir.Remove(temp) // it was never anything
		return err
	}
	if durable {
		s.step("sync folder of " + name)
		if err := s.syncFolder(dir); err != nil {
			return fmt.Errorf("%w: %w", stores.ErrUnknown, err)
		}
	}
	return nil
}

func (s *Store) syncFolder(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return s.sync(f)
}

// makeFolder makes a folder that survives a power cut.
func (s *Store) makeFolder(dir *os.Root, name string) error {
	s.step("make folder " + name)
	err := dir.Mkdir(name, 0o777)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	s.step("sync folder over " + name)
	return s.syncFolder(dir)
}
