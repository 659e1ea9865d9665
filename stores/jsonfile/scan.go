package jsonfile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// entry is what a list is sorted and filtered by.
type entry struct {
	owner, run string // ids
	dir, name  string // of the files
	updated    int64
	status     stores.Status
	flow       string
	open       bool
	bad        string // a folder that cannot be read; there is no run to look at
}

func (e *entry) matches(f stores.Filter) bool {
	h := stores.Head{Place: stores.Place{Key: stores.Key{Owner: e.owner, Run: e.run}}, Status: e.status, Flow: e.flow}
	if e.open {
		h.Open = 1
	}
	return f.Matches(h)
}

// trace tells whether a file is still what it was.
type trace struct {
	size  int64
	mtime int64
	inode uint64
}

func traceOf(info os.FileInfo) trace {
	return trace{info.Size(), info.ModTime().UnixNano(), inode(info)}
}

// tick is how coarse the times of files are: within it a change may not show.
func tick(t time.Time) time.Duration {
	if t.Nanosecond() == 0 {
		return 2 * time.Second // perhaps a file system that counts seconds
	}
	return 50 * time.Millisecond
}

// seen remembers the entries of runs whose journals have not changed since.
type seen struct {
	mu   sync.Mutex
	dirs map[string]map[string]seenRun // by the names of folder and run
}

type seenRun struct {
	entry
	journal trace
}

// owners calls f for each owner's folder that can be an owner's. dir is nil for
// one that cannot be read, and why says so.
func (s *Store) eachOwner(root *os.Root, want string, f func(owner, name string, dir *os.Root, why error) error) error {
	if root == nil {
		return nil
	}
	names, err := readNames(root, ownersDir)
	if err != nil {
		return err
	}
	for _, name := range names {
		owner, ok := idOf(name)
		if !ok || want != stores.AnyOwner && fileName(want) != name {
			continue // not ours
		}
		dir, err := openFolder(root, ownersDir+"/"+name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if owner == "" && err == nil {
			owner = readOwner(dir, name)
		}
		if owner == "" {
			owner = name // its id is lost
		}
		err = f(owner, name, dir, err)
		if dir != nil {
			dir.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readNames lists a folder; nothing when there is none.
func readNames(root *os.Root, name string) ([]string, error) {
	dir, err := openFolder(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return namesIn(dir)
}

func namesIn(dir *os.Root) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// runsIn are the names of the runs in an owner's folder.
func runsIn(dir *os.Root) ([]string, error) {
	files, err := namesIn(dir)
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, file := range files {
		if name, ok := runOf(file); ok {
			runs = append(runs, name)
		}
	}
	slices.Sort(runs)
	return slices.Compact(runs), nil
}

// scan finds the entries that a filter selects. It looks at the name and the
// times of every journal, and into the head files of those that changed.
func (s *Store) scan(ctx context.Context, root *os.Root, f stores.Filter) (found []entry, err error) {
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	if s.seen.dirs == nil {
		s.seen.dirs = map[string]map[string]seenRun{}
	}
	err = s.eachOwner(root, f.Owner, func(owner, dirName string, dir *os.Root, why error) error {
		names, err := []string(nil), why
		if err == nil {
			names, err = runsIn(dir)
		}
		if err != nil {
			e := entry{owner: owner, run: "(every run)", dir: dirName, bad: s.pathOf(stores.Key{Owner: owner}, "") + ": " + err.Error()}
			if e.matches(f) {
				found = append(found, e)
			}
			return nil
		}
		all := make([]scanned, len(names))
		err = eachOf(ctx, len(names), func(i int) error {
			var err error
			all[i], err = s.scanRun(dir, owner, dirName, names[i], s.seen.dirs[dirName])
			return err
		})
		if err != nil {
			return err
		}
		now := make(map[string]seenRun, len(names))
		for i, r := range all {
			if r.keep {
				now[names[i]] = r.seenRun
			}
			if r.there && r.matches(f) {
				found = append(found, r.entry)
			}
		}
		s.seen.dirs[dirName] = now
		return nil
	})
	return found, err
}

// scanned is what a scan found of one run.
type scanned struct {
	seenRun
	there bool
	keep  bool // until the journal changes
}

// scanners is how many runs are looked at at a time: most of the time goes into
// waiting for the file system.
const scanners = 8

// eachOf calls f for 0 to n-1, several at a time, until one fails or ctx ends.
func eachOf(ctx context.Context, n int, f func(i int) error) error {
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(scanners, n) {
		wg.Go(func() {
			for inner.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(i); err != nil {
					stop(err)
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return context.Cause(inner)
}

func (s *Store) scanRun(dir *os.Root, owner, dirName, name string, old map[string]seenRun) (scanned, error) {
	looked := time.Now()
	info, err := dir.Lstat(name + journalExt)
	if e, ok := old[name]; ok && err == nil && e.journal == traceOf(info) && e.owner == owner {
		return scanned{e, true, true}, nil
	}
	k := s.keyOf(dir, owner, name)
	h, err2 := s.headAt(dir, k, name)
	if err2 != nil || h == nil {
		return scanned{}, err2
	}
	r := scanned{there: true}
	r.entry = entry{owner: k.Owner, run: k.Run, dir: dirName, name: name, updated: h.Updated.UnixMicro(), status: h.Status, flow: h.Flow, open: h.Open > 0}
	if err == nil && h.Bad == "" && looked.Sub(info.ModTime()) > tick(info.ModTime()) {
		r.journal, r.keep = traceOf(info), true
	}
	return r, nil
}

// keyOf is the key of a run by the name of its files. Where the name has only a
// digest, the id is in the files.
func (s *Store) keyOf(dir *os.Root, owner, name string) stores.Key {
	k := stores.Key{Owner: owner}
	if k.Run, _ = idOf(name); k.Run != "" {
		return k
	}
	if head, _, _ := readHead(dir, name); head != nil {
		k.Run = head.Run
		return k
	}
	if id := firstRun(dir, name); fileName(id) == name {
		k.Run = id
		return k
	}
	k.Run = name // its id is lost
	return k
}

// firstRun is the run id in the first line of a journal, or "".
func firstRun(dir *os.Root, name string) string {
	f, _, err := openFile(dir, name+journalExt, os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer f.Close()
	var l struct {
		Run string `json:"run"`
	}
	if err := json.NewDecoder(bufio.NewReader(io.LimitReader(f, rowjson.MaxLine))).Decode(&l); err != nil {
		return ""
	}
	return l.Run
}
