package jsonfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flowtui/flowtui/stores"
)

// run is one look at the files of a run.
type run struct {
	contents
	openCalls int64
	exists    bool
	bad       string // why the run cannot be gone on from
	file      *os.File
	info      os.FileInfo
	journal   *journal
}

func (r *run) close() {
	if r.file != nil {
		r.file.Close()
	}
}

// latestHead is the head of the newest checkpoint.
func (r *run) latestHead() stores.Head {
	h := r.head
	h.Key, h.Open, h.Bad = r.key, r.openCalls, r.bad
	return h
}

// look reads what is new in the files of a run. What seems to be damaged is
// looked at again: it may have been changed just then.
func (s *Store) look(dir *os.Root, k stores.Key, name string) (*run, error) {
	said := ""
	for tries := 1; ; tries++ {
		r, err := s.lookOnce(dir, k, name)
		if err != nil || r.bad == "" || r.bad == said || tries == 5 {
			return r, err
		}
		said = r.bad
		r.close()
	}
}

func (s *Store) lookOnce(dir *os.Root, k stores.Key, name string) (*run, error) {
	// The head first: what it says was committed is in the journal by then.
	head, headThere, _ := readHead(dir, name) // a head that cannot be read is made again from the journal
	r := &run{contents: contents{key: k}, exists: true}
	var err error
	r.file, r.info, err = openFile(dir, name+journalExt, os.O_RDONLY)
	path := s.pathOf(k, name+journalExt)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !headThere:
		r.exists = false
		return r, nil
	case errors.Is(err, fs.ErrNotExist):
		r.bad = fmt.Sprintf("%s is missing, but there is a head file of the run", path)
		return r, nil
	case errors.Is(err, errNotFile), errors.Is(err, fs.ErrPermission):
		r.bad = fmt.Sprintf("%s: %v", path, err)
		return r, nil
	case err != nil:
		return nil, err
	}
	r.journal = s.cache.journal(k)
	r.journal.mu.Lock()
	err = r.journal.update(r.file, r.info)
	r.contents, r.openCalls = r.journal.contents, r.journal.open(r.journal.head)
	r.journal.mu.Unlock()
	s.cache.note(k, r.journal, r.lines, r.damage == "" && err == nil)
	if err != nil {
		r.bad = fmt.Sprintf("%s: %v", path, err)
		return r, nil
	}
	if why := r.verdict(head); why != "" {
		r.bad = path + ": " + why
	}
	return r, nil
}

// verdict says what is wrong with a journal, also in the light of the head file.
func (r *run) verdict(head *headFile) string {
	switch {
	case r.damage != "":
		return r.damage
	case r.info.Size() == 0:
		return "the file is empty"
	case r.lines == 0:
		return "it does not begin with a whole line"
	case r.newest() != nil && (r.head.Run == "" || r.head.Step != r.newest().Step):
		return "its newest checkpoint has no head"
	case head == nil:
		return ""
	case head.Journal.Size > r.end:
		return fmt.Sprintf("%d bytes were committed, only %d of them are sound; removing the head file accepts what is left", head.Journal.Size, r.end)
	case !namedAt(r.file, head.Journal.Last, head.Journal.Sum):
		return "it is not the journal that the head file sums up; removing the head file accepts the journal"
	}
	return ""
}

// headAt is the head of a run for a list: from its head file when that is up to
// date, which costs no payload. It is nil when there is no such run.
func (s *Store) headAt(dir *os.Root, k stores.Key, name string) (*stores.Head, error) {
	if head, _, err := readHead(dir, name); err == nil && head != nil && head.key() == k {
		f, info, err := openFile(dir, name+journalExt, os.O_RDONLY)
		if err == nil {
			fresh := head.current(f, info.Size())
			f.Close()
			if fresh {
				h := head.row()
				return &h, nil
			}
		}
	}
	r, err := s.look(dir, k, name)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if !r.exists {
		return nil, nil
	}
	h := r.latestHead()
	return &h, nil
}

// current reports whether the journal ends where the head file says. A line that
// has no end yet does not count.
func (h *headFile) current(f *os.File, size int64) bool {
	if size < h.Journal.Size || !namedAt(f, h.Journal.Last, h.Journal.Sum) {
		return false
	}
	tail := io.NewSectionReader(f, h.Journal.Size, size-h.Journal.Size)
	b := make([]byte, min(tail.Size(), 1<<16))
	for {
		n, err := tail.Read(b)
		if bytes.IndexByte(b[:n], '\n') >= 0 {
			return false
		}
		if err != nil {
			return err == io.EOF
		}
	}
}

func (s *Store) pathOf(k stores.Key, file string) string {
	return filepath.Join(s.path, ownersDir, fileName(k.Owner), file)
}
