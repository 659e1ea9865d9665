package jsonfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// headFile sums a run up for lists: the head of its newest checkpoint, and how
// far its journal was committed when the file was written.
type headFile struct {
	Owner       string          `json:"owner"`
	Run         string          `json:"run"`
	Store       string          `json:"store"`
	Incarnation string          `json:"incarnation"`
	Journal     extent          `json:"journal"`
	Open        int64           `json:"open"`
	Head        rowjson.HeadRow `json:"head"`
}

// extent is the committed part of a journal.
type extent struct {
	Size int64  `json:"size"`
	Last int64  `json:"last"` // where the last line begins
	Sum  string `json:"sum"`  // of the last line
}

func (j *journal) headFile() headFile {
	return headFile{
		Owner: j.key.Owner, Run: j.key.Run, Store: j.head.Store, Incarnation: j.head.Incarnation,
		Journal: extent{Size: j.end, Last: j.last, Sum: j.sum},
		Open:    j.open(j.head), Head: *rowjson.HeadOf(j.head),
	}
}

func (h *headFile) key() stores.Key { return stores.Key{Owner: h.Owner, Run: h.Run} }

func (h *headFile) row() stores.Head {
	head := h.Head.Row(stores.Place{Key: h.key(), Store: h.Store, Incarnation: h.Incarnation})
	head.Open = h.Open
	return head
}

// maxHead is far more than a head file has: a larger one is not read.
const maxHead = 64 << 20

// readHead returns the head file of a run; nil when there is none that can be
// used, which costs a look into the journal and nothing else. there says
// whether there is anything of its name.
func readHead(dir *os.Root, name string) (h *headFile, there bool, err error) {
	b, err := readSmall(dir, name+headExt, maxHead)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case errors.Is(err, errNotFile):
		return nil, true, nil
	case err != nil:
		return nil, true, err
	}
	h = new(headFile)
	if _, err := rowjson.Unseal(bytes.TrimSuffix(b, []byte("\n")), h); err != nil || fileName(h.Run) != name || !h.Head.Status.Valid() {
		return nil, true, nil
	}
	return h, true, nil
}
