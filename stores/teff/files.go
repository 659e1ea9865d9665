package teff

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// files is a folder of JSON files: OWNER/ID.json, or ID.json for the owner "".
type files struct {
	dir string

	mu   sync.Mutex
	seen map[string]seenFile // by path within dir, of the last listing
	shut map[string]error    // owners whose folder may not be read, of the last listing
}

// seenFile is what a file said when it looked like this.
type seenFile struct {
	stamp
	record
}

type stamp struct {
	size  int64
	mtime time.Time
}

const (
	rowSuffix = ".json"
	// maxFile is the largest file that is read.
	maxFile = 512 << 20
	// settling is how long after a change another one may leave the same time
	// stamp, because file systems keep coarse times.
	settling = 100 * time.Millisecond
)

func openFiles(dir string) (*files, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &files{dir: abs}, nil
}

func (f *files) location() string { return f.dir }
func (f *files) close() error     { return nil }

// name is how teff writes ids and owners into paths, so that a run is found
// under the id that was given to it.
func (f *files) name(k stores.Key) stores.Key {
	return stores.Key{
		Owner: strings.NewReplacer("/", "_", ".", "_").Replace(k.Owner),
		Run:   strings.ReplaceAll(k.Run, "/", "_"),
	}
}

func (f *files) pathOf(k stores.Key) string { return path.Join(k.Owner, k.Run+rowSuffix) }

func (f *files) info(context.Context) (stores.Info, error) {
	info := stores.Info{Format: "teff JSON files", Location: f.dir}
	locked, all, err := f.locked()
	if info.ReadOnly = all; all {
		info.Why = "no permission to write to " + locked[0]
	}
	return info, err
}

// locked are the folders with runs in them that this user may not write to; all
// says that there is no other.
func (f *files) locked() (list []string, all bool, err error) {
	root, err := f.root()
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, false, err
	}
	var folders []string
	for _, e := range entries {
		switch {
		case strings.HasSuffix(e.Name(), rowSuffix):
			folders = append(folders, f.dir)
		case isOwner(root, e):
			folders = append(folders, filepath.Join(f.dir, e.Name()))
		}
	}
	if len(folders) == 0 {
		folders = []string{f.dir}
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
	for _, dir := range folders {
		if !mayWrite(dir) {
			list = append(list, dir)
		}
	}
	return list, len(list) == len(folders), nil
}

func (f *files) closed() map[string]error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.shut)
}

// root opens the folder: nothing outside it is read, whatever links are in it.
func (f *files) root() (*os.Root, error) {
	stat, err := os.Stat(f.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: no such folder", stores.ErrNotFound)
	case err != nil:
		return nil, err
	case !stat.IsDir():
		return nil, fmt.Errorf("%w: looked for a folder, found a file", stores.ErrNotStore)
	}
	return os.OpenRoot(f.dir)
}

// found is one file of a listing.
type found struct {
	key  stores.Key
	path string
	info fs.FileInfo // nil when it could not be looked at
	err  error
}

// walk looks at every file that teff would list, and reads none.
func (f *files) walk(ctx context.Context) (list []found, shut map[string]error, err error) {
	root, err := f.root()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	list, folders, err := f.folder(ctx, root, "")
	if err != nil {
		return nil, nil, err
	}
	shut = map[string]error{}
	for _, owner := range folders {
		files, _, err := f.folder(ctx, root, owner)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone meanwhile
		}
		if errors.Is(err, fs.ErrPermission) {
			shut[owner] = &fs.PathError{Op: "list", Path: filepath.Join(f.dir, owner), Err: fs.ErrPermission}
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		list = append(list, files...)
	}
	return list, shut, nil
}

// folder lists an owner's files, and for the owner "" the folders of the others.
// A folder with a dot in its name is no owner's: teff writes none.
func (f *files) folder(ctx context.Context, root *os.Root, owner string) (list []found, folders []string, err error) {
	entries, err := fs.ReadDir(root.FS(), path.Join(owner, "."))
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		name := path.Join(owner, e.Name())
		if id, ok := strings.CutSuffix(e.Name(), rowSuffix); ok {
			info, err := root.Stat(name)
			if errors.Is(err, fs.ErrNotExist) && e.Type()&fs.ModeSymlink == 0 {
				continue // gone meanwhile
			}
			list = append(list, found{stores.Key{Owner: owner, Run: id}, name, info, err})
		} else if owner == "" && isOwner(root, e) {
			folders = append(folders, e.Name())
		}
	}
	return list, folders, nil
}

func isOwner(root *os.Root, e fs.DirEntry) bool {
	return !strings.Contains(e.Name(), ".") && isFolder(root, e)
}

func isFolder(root *os.Root, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := root.Stat(e.Name())
	return err == nil && info.IsDir()
}

func (f *files) fingerprint(ctx context.Context) (string, bool, error) {
	now := time.Now()
	list, shut, err := f.walk(ctx)
	if err != nil {
		return "", false, err
	}
	h, settled := sha256.New(), true
	for _, file := range list {
		s := stampOf(file.info)
		fmt.Fprintf(h, "%q %d %d %v\n", file.path, s.size, s.mtime.UnixNano(), file.err)
		settled = settled && now.Sub(s.mtime) > settling
	}
	fmt.Fprintf(h, "%v", shut)
	return hex.EncodeToString(h.Sum(nil)), settled, nil
}

func stampOf(info fs.FileInfo) stamp {
	if info == nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime()}
}

// rows reads every file that changed since the last time.
func (f *files) rows(ctx context.Context) ([]record, error) {
	now := time.Now()
	list, shut, err := f.walk(ctx)
	if err != nil {
		return nil, err
	}
	root, err := f.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := make(map[string]seenFile, len(list))
	var records []record
	for _, file := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := stampOf(file.info)
		known, ok := f.seen[file.path]
		if !ok || known.stamp != s || now.Sub(s.mtime) <= settling {
			r, err := read(root, file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			r.text, r.interrupt = nil, bytes.Clone(r.interrupt) // an index holds no states
			known = seenFile{s, r}
		}
		seen[file.path] = known
		records = append(records, known.record)
	}
	f.seen, f.shut = seen, shut
	return records, nil
}

// read reads one file. What cannot be read is a bad row, as for teff, which
// lists it too. Only that there is no file is an error.
func read(root *os.Root, file found) (record, error) {
	bad := func(format string, args ...any) (record, error) {
		return record{key: file.key, updated: stores.Micro(stampOf(file.info).mtime), bad: fmt.Sprintf(format, args...)}, nil
	}
	switch {
	case errors.Is(file.err, fs.ErrPermission):
		return bad("no permission to read %s", file.path)
	case file.err != nil:
		return bad("its file cannot be read: %v", file.err)
	case !file.info.Mode().IsRegular():
		return bad("%s is no ordinary file", file.path)
	case file.info.Size() > maxFile:
		return bad("its file has %d bytes, at most %d are read", file.info.Size(), int64(maxFile))
	}
	text, info, err := readAll(root, file.path)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, err
	}
	if errors.Is(err, fs.ErrPermission) {
		return bad("no permission to read %s", file.path)
	}
	if err != nil {
		return bad("its file cannot be read: %v", err)
	}
	r := readRow(text)
	r.key, r.updated = file.key, stores.Micro(info.ModTime())
	if r.bad != "" {
		r.bad = file.path + ": " + r.bad
	}
	return r, nil
}

func readAll(root *os.Root, name string) ([]byte, fs.FileInfo, error) {
	file, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	return text, info, err
}

func (f *files) row(_ context.Context, k stores.Key) (record, error) {
	root, err := f.root()
	if err != nil {
		return record{}, err
	}
	defer root.Close()
	name := f.pathOf(k)
	if strings.ContainsRune(name, 0) || path.Base(name) != k.Run+rowSuffix {
		return record{}, stores.ErrNotFound // no file can have that name
	}
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, link := root.Lstat(name); link != nil {
			return record{}, stores.ErrNotFound
		}
	}
	if isTooLong(err) {
		return record{}, stores.ErrNotFound
	}
	r, err := read(root, found{k, name, info, err})
	if errors.Is(err, fs.ErrNotExist) {
		err = stores.ErrNotFound
	}
	return r, err
}

// sniffFiles tells whether a folder looks like one of teff's: a file of it that
// can be read is a row.
func sniffFiles(ctx context.Context, dir string) (bool, string, error) {
	f, err := openFiles(dir)
	if err != nil {
		return false, "", err
	}
	list, _, err := f.walk(ctx)
	if err != nil {
		return false, "", err
	}
	if len(list) == 0 {
		return false, "a folder without JSON files in it or in its folders", nil
	}
	root, err := f.root()
	if err != nil {
		return false, "", err
	}
	defer root.Close()
	const tries = 100
	for _, file := range list[:min(len(list), tries)] {
		r, err := read(root, file)
		if err == nil && r.bad == "" && isRow(r.text) {
			return true, "", nil
		}
	}
	return false, "a folder with JSON files, none of which is a row of teff", nil
}
