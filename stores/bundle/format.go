package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// Version is the version of the format that this package writes.
const Version = 1

const formatName = "flowtui bundle"

// manifest is the first line of a bundle. The parts follow in its order: the
// graphs, then the runs, each Size bytes long.
type manifest struct {
	Format  string        `json:"format"`
	Version int           `json:"version"`
	Store   string        `json:"store"`
	Created rowjson.Stamp `json:"created"`
	By      string        `json:"by,omitempty"`
	Note    string        `json:"note,omitempty"`
	Graphs  []graphPart   `json:"graphs"`
	Runs    []runPart     `json:"runs"`
}

type part struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // of the part, hex
}

type graphPart struct {
	Digest string `json:"digest"`
	part
}

// runPart is a run's journal, with its list entry.
type runPart struct {
	Owner       string           `json:"owner"`
	Run         string           `json:"run"`
	Store       string           `json:"store"` // of the head
	Incarnation string           `json:"incarnation"`
	Open        int64            `json:"open"`
	Head        *rowjson.HeadRow `json:"head"`
	part
}

func (p runPart) key() stores.Key { return stores.Key{Owner: p.Owner, Run: p.Run} }

func (p runPart) head() stores.Head {
	h := p.Head.Row(stores.Place{Key: p.key(), Store: p.Store, Incarnation: p.Incarnation})
	h.Open = p.Open
	return h
}

// sealLine is the second line: the signature of the first.
type sealLine struct {
	Format int              `json:"format"`
	KeyID  string           `json:"key_id"`
	MAC    rowjson.HexBytes `json:"mac"`
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// described is the manifest for the contract; line is its bytes.
func (m manifest) described(line []byte) stores.Manifest {
	return stores.Manifest{
		Store: m.Store, Created: time.Time(m.Created), Runs: int64(len(m.Runs)), By: m.By, Note: m.Note, Payload: line,
	}
}
