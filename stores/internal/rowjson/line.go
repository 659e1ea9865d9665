package rowjson

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/stores"
)

// Line is one commit of a journal.
type Line struct {
	After       string         `json:"after"` // sum of the line before, "" in the first
	Owner       string         `json:"owner"`
	Run         string         `json:"run"`
	Store       string         `json:"store"`
	Incarnation string         `json:"incarnation"`
	Checkpoint  *CheckpointRow `json:"checkpoint,omitempty"`
	Head        *HeadRow       `json:"head,omitempty"`
	Calls       []CallRow      `json:"calls,omitempty"`
	Events      []EventRow     `json:"events,omitempty"`
}

// LineAt is an empty line for rows of a place.
func LineAt(p stores.Place) *Line {
	return &Line{Owner: p.Owner, Run: p.Run, Store: p.Store, Incarnation: p.Incarnation}
}

// Place is where all rows of the line belong.
func (l *Line) Place() stores.Place {
	return stores.Place{Key: stores.Key{Owner: l.Owner, Run: l.Run}, Store: l.Store, Incarnation: l.Incarnation}
}

// Every file of the store is made of sealed lines: {"sum":"…", and then the
// rest of an object, whose SHA-256 gives the sum.
const (
	sumStart = `{"sum":"`
	sumEnd   = `",`
	sumSize  = 32 // hex digits
	// SumPrefix is how many bytes stand before the rest.
	SumPrefix = len(sumStart) + sumSize + len(sumEnd)
)

// MaxLine is the longest line that is read or written.
const MaxLine = 1 << 30

// SumOf is the checksum of the rest of a line.
func SumOf(rest []byte) string {
	sum := sha256.Sum256(rest)
	return hex.EncodeToString(sum[:sumSize/2])
}

// Seal encodes v, an object, as a line.
func Seal(v any) (b []byte, sum string, err error) {
	buf := bytes.NewBufferString(sumStart + string(make([]byte, sumSize)) + `"`)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false) // it is read in a terminal, not in a page
	if err := enc.Encode(v); err != nil {
		return nil, "", err
	}
	b = buf.Bytes()
	b[SumPrefix-1] = ',' // instead of the {
	if len(b) > MaxLine {
		return nil, "", fmt.Errorf("%w: %d bytes in one write, at most %d are allowed", stores.ErrInvalid, len(b), MaxLine)
	}
	sum = SumOf(b[SumPrefix : len(b)-1])
	copy(b[len(sumStart):], sum)
	return b, sum, nil
}

// What is wrong with a line that may be torn.
var (
	ErrNoSum    = errors.New("it does not start with a checksum")
	ErrWrongSum = errors.New("its checksum is wrong")
)

// NamedSum is the checksum that a line gives itself.
func NamedSum(b []byte) (string, error) {
	if len(b) < SumPrefix || string(b[:len(sumStart)]) != sumStart || string(b[SumPrefix-len(sumEnd):SumPrefix]) != sumEnd {
		return "", ErrNoSum
	}
	return string(b[len(sumStart) : len(sumStart)+sumSize]), nil
}

// Unseal checks a line, without its line feed, and decodes it.
func Unseal(b []byte, v any) (sum string, err error) {
	if sum, err = NamedSum(b); err != nil {
		return "", err
	}
	if SumOf(b[SumPrefix:]) != sum {
		return sum, ErrWrongSum
	}
	return sum, json.Unmarshal(b, v)
}

// How much goes into one line of an imported run's logs.
const (
	lineRows  = 500
	lineBytes = 1 << 20
)

// RunLines are a whole run as a journal: a line for each checkpoint, then its
// call records, then its events, then its head. Rows that name another store
// than the ones before them begin a line, since all of a line have one place.
// After is left to who writes them.
func RunLines(r stores.Run) []*Line {
	var lines []*Line
	for _, c := range r.Checkpoints {
		l := LineAt(c.Place)
		l.Checkpoint = CheckpointOf(c)
		lines = append(lines, l)
	}
	var l *Line
	rows, size := 0, 0
	room := func(p stores.Place, bytes int) {
		if l == nil || l.Place() != p || rows >= lineRows || size+bytes > lineBytes {
			l, rows, size = LineAt(p), 0, 0
			lines = append(lines, l)
		}
		rows, size = rows+1, size+bytes
	}
	for _, c := range r.Calls {
		room(c.Place, len(c.Payload))
		l.Calls = append(l.Calls, CallOf(c))
	}
	for _, e := range r.Events {
		room(e.Place, len(e.Payload))
		l.Events = append(l.Events, EventOf(e))
	}
	l = LineAt(r.Head.Place)
	l.Head = HeadOf(r.Head)
	return append(lines, l)
}

// SealRun encodes a whole run as a journal, see [RunLines], and says where its
// last line begins.
func SealRun(r stores.Run) (journal []byte, last int, err error) {
	after := ""
	for _, l := range RunLines(r) {
		l.After = after
		if err := l.Check(); err != nil {
			return nil, 0, err
		}
		b, sum, err := Seal(l)
		if err != nil {
			return nil, 0, err
		}
		last, after = len(journal), sum
		journal = append(journal, b...)
	}
	return journal, last, nil
}
