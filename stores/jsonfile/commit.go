package jsonfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// change runs f on a store that is there, and is made when it may be. The call
// is waited for by Close.
func (s *Store) change(ctx context.Context, f func(root *os.Root) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return stores.ErrClosed
	}
	s.writing.Add(1)
	s.mu.Unlock()
	defer s.writing.Done()
	if why := s.whyReadOnly(); why != "" {
		return fmt.Errorf("%w: %s", stores.ErrReadOnly, why)
	}
	m, err := s.marker(ctx)
	if err != nil {
		return err
	}
	if m.ID == "" {
		if err := s.prepare(ctx); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(s.path)
	if err != nil {
		return err
	}
	defer root.Close()
	return f(root)
}

// writing is a write to one run, which is locked.
type writing struct {
	*run
	s    *Store
	root *os.Root
	dir  *os.Root // of the owner; nil when there is none and none was asked for
	name string
}

// write runs f on a run that is locked.
func (s *Store) write(ctx context.Context, op string, k stores.Key, create bool, f func(*writing) error) error {
	return s.locked(ctx, op, k, create, func(root, dir *os.Root) error {
		w := &writing{run: &run{contents: contents{key: k}}, s: s, root: root, dir: dir, name: fileName(k.Run)}
		if dir != nil {
			var err error
			if w.run, err = s.look(dir, k, w.name); err != nil {
				return err
			}
			defer w.run.close()
		}
		return f(w)
	})
}

// locked runs f while the run is locked. dir is the folder of its owner, nil when
// there is none and none is to be made. Only the wait for the lock obeys ctx:
// what follows is short and is not interrupted, so that its outcome is known.
func (s *Store) locked(ctx context.Context, op string, k stores.Key, create bool, f func(root, dir *os.Root) error) error {
	if err := k.Validate(); err != nil {
		return s.wrapWrite(op, k, err)
	}
	err := s.change(ctx, func(root *os.Root) error {
		free, err := s.lock(ctx, root, stripe(k))
		if err != nil {
			return err
		}
		defer free()
		dir, err := s.ownerFolder(root, k.Owner, create)
		if errors.Is(err, fs.ErrNotExist) && !create {
			return f(root, nil)
		}
		if err != nil {
			return err
		}
		defer dir.Close()
		return f(root, dir)
	})
	if err == nil {
		s.notify()
	}
	return s.wrapWrite(op, k, err)
}

// ownerFolder opens an owner's folder, and makes it when it is asked to.
func (s *Store) ownerFolder(root *os.Root, owner string, create bool) (*os.Root, error) {
	name := fileName(owner)
	dir, err := openFolder(root, ownersDir+"/"+name)
	if err != nil && (!create || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	if err != nil {
		err = s.makeFolder(root, ownersDir)
		var owners *os.Root
		if err == nil {
			owners, err = openFolder(root, ownersDir)
		}
		if err != nil {
			return nil, err
		}
		defer owners.Close()
		if err := s.makeFolder(owners, name); err != nil {
			return nil, err
		}
		if dir, err = openFolder(owners, name); err != nil {
			return nil, err
		}
	}
	if plain, _ := idOf(name); plain == "" && create {
		if err := s.nameOwner(dir, owner); err != nil {
			dir.Close()
			return nil, err
		}
	}
	return dir, nil
}

// ownerName keeps the id of an owner whose folder has only its digest.
type ownerName struct {
	Owner string `json:"owner"`
}

func (s *Store) nameOwner(dir *os.Root, owner string) error {
	if readOwner(dir, fileName(owner)) == owner {
		return nil
	}
	b, err := json.Marshal(ownerName{owner})
	if err != nil {
		return err
	}
	return s.replace(dir, ownerFile, append(b, '\n'), true)
}

// readOwner is the id of the owner of a folder, or "".
func readOwner(dir *os.Root, name string) string {
	var o ownerName
	b, err := readSmall(dir, ownerFile, 1<<16)
	if err != nil || json.Unmarshal(b, &o) != nil || fileName(o.Owner) != name {
		return ""
	}
	return o.Owner
}

// sound refuses a run that cannot be gone on from.
func (w *writing) sound() error {
	if w.bad != "" {
		return fmt.Errorf("%w: %s", stores.ErrUnreadable, w.bad)
	}
	return nil
}

// last is the newest checkpoint for the rules of the contract.
func (w *writing) last() *stores.Checkpoint {
	if newest := w.newest(); newest != nil {
		return &newest.Checkpoint
	}
	return nil
}

// commit writes one line, all of it or nothing.
func (w *writing) commit(l *rowjson.Line, graph func() error) error {
	l.After = w.sum
	if err := l.Check(); err != nil {
		return err
	}
	b, sum, err := rowjson.Seal(l)
	if err != nil {
		return err
	}
	if graph != nil {
		if err := graph(); err != nil {
			return err
		}
	}
	if w.exists {
		err = w.append(b)
	} else {
		err = w.s.replace(w.dir, w.name+journalExt, b, true)
	}
	if err != nil {
		return err
	}
	w.settle(l, ref{at: w.end, size: int64(len(b)), sum: sum})
	return nil
}

// append writes a line to the journal. When that fails the journal is as it was.
func (w *writing) append(b []byte) error {
	f, info, err := openFile(w.dir, w.name+journalExt, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	if !os.SameFile(info, w.info) {
		return fmt.Errorf("%w: %s was replaced while it was locked", stores.ErrUnavailable, w.s.pathOf(w.key, w.name+journalExt))
	}
	if info.Size() > w.end { // a line that a killed writer did not finish
		w.s.step("cut " + w.name)
		if err := f.Truncate(w.end); err != nil {
			return err
		}
	}
	w.s.step("append " + w.name)
	if _, err = f.WriteAt(b, w.end); err == nil {
		w.s.step("sync " + w.name)
		err = w.s.sync(f)
	}
	if err == nil {
		return nil
	}
	undo := f.Truncate(w.end)
	if undo == nil {
		undo = w.s.sync(f)
	}
	if undo != nil {
		return fmt.Errorf("%w: %w", stores.ErrUnknown, errors.Join(err, undo))
	}
	return err
}

// settle brings the head file up to date after a commit of one line, or of many
// (l is nil) that end with the one at a place. A head file that could
// not be written costs readers a look into the journal, and the next commit
// writes it again.
func (w *writing) settle(l *rowjson.Line, at ref) {
	j := w.journal
	if j == nil {
		j = w.s.cache.journal(w.key)
	}
	j.mu.Lock()
	if f, info, err := openFile(w.dir, w.name+journalExt, os.O_RDONLY); err == nil {
		if j.file == nil || !os.SameFile(j.file, info) {
			j.reset(info)
		}
		if l != nil && j.end == at.at && j.sum == l.After { // else a reader was faster
			j.apply(l, at)
		} else {
			_ = j.update(f, info) // if it fails, the head is not that of this commit
		}
		f.Close()
	}
	head, lines := j.headFile(), j.lines
	j.mu.Unlock()
	w.s.cache.note(w.key, j, lines, true)
	if head.Journal.Sum != at.sum {
		return
	}
	if b, _, err := rowjson.Seal(head); err == nil {
		_ = w.s.replace(w.dir, w.name+headExt, b, false)
	}
}

// writeLease is write for a lease, which says nothing about the run.
func (s *Store) writeLease(ctx context.Context, op string, k stores.Key, create bool, f func(dir *os.Root, name string) error) error {
	return s.locked(ctx, op, k, create, func(_, dir *os.Root) error { return f(dir, fileName(k.Run)) })
}
