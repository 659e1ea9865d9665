package jsonfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/stores"
)

// line is one commit of a journal.
type line struct {
	After       string         `json:"after"` // sum of the line before, "" in the first
	Owner       string         `json:"owner"`
	Run         string         `json:"run"`
	Store       string         `json:"store"`
	Incarnation string         `json:"incarnation"`
	Checkpoint  *checkpointRow `json:"checkpoint,omitempty"`
	Head        *headRow       `json:"head,omitempty"`
	Calls       []callRow      `json:"calls,omitempty"`
	Events      []eventRow     `json:"events,omitempty"`
}

func lineAt(p stores.Place) *line {
	return &line{Owner: p.Owner, Run: p.Run, Store: p.Store, Incarnation: p.Incarnation}
}

func (l *line) place() stores.Place {
	return stores.Place{Key: stores.Key{Owner: l.Owner, Run: l.Run}, Store: l.Store, Incarnation: l.Incarnation}
}

// Every file of the store is made of sealed lines: {"sum":"…", and then the
// rest of an object, whose SHA-256 gives the sum.
const (
	sumStart  = `{"sum":"`
	sumEnd    = `",`
	sumSize   = 32 // hex digits
	sumPrefix = len(sumStart) + sumSize + len(sumEnd)
)

// maxLine is the longest line that is read or written.
const maxLine = 1 << 30

func sumOf(rest []byte) string {
	sum := sha256.Sum256(rest)
	return hex.EncodeToString(sum[:sumSize/2])
}

// seal encodes v, an object, as a line.
func seal(v any) (b []byte, sum string, err error) {
	buf := bytes.NewBufferString(sumStart + string(make([]byte, sumSize)) + `"`)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false) // it is read in a terminal, not in a page
	if err := enc.Encode(v); err != nil {
		return nil, "", err
	}
	b = buf.Bytes()
	b[sumPrefix-1] = ',' // instead of the {
	if len(b) > maxLine {
		return nil, "", fmt.Errorf("%w: %d bytes in one write, at most %d are allowed", stores.ErrInvalid, len(b), maxLine)
	}
	sum = sumOf(b[sumPrefix : len(b)-1])
	copy(b[len(sumStart):], sum)
	return b, sum, nil
}

var (
	errNoSum    = errors.New("it does not start with a checksum")
	errWrongSum = errors.New("its checksum is wrong")
)

// namedSum is the checksum that a line gives itself.
func namedSum(b []byte) (string, error) {
	if len(b) < sumPrefix || string(b[:len(sumStart)]) != sumStart || string(b[sumPrefix-len(sumEnd):sumPrefix]) != sumEnd {
		return "", errNoSum
	}
	return string(b[len(sumStart) : len(sumStart)+sumSize]), nil
}

// unseal checks a line, without its line feed, and decodes it.
func unseal(b []byte, v any) (sum string, err error) {
	if sum, err = namedSum(b); err != nil {
		return "", err
	}
	if sumOf(b[sumPrefix:]) != sum {
		return sum, errWrongSum
	}
	return sum, json.Unmarshal(b, v)
}
