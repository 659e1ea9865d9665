package teff

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/flowtui/flowtui/internal/pyjson"
	"github.com/flowtui/flowtui/stores"
)

// Kind is the kind of every run of these stores.
const Kind = "teff"

// interruptKey is where a paused run keeps its question, in the state.
const interruptKey = "__interrupt__"

// record is one row of a store.
type record struct {
	key       stores.Key
	text      []byte // in the layout of teff's files; nil for a bad row
	next      *string
	iteration int64
	interrupt []byte // as written, nil when there is none or it is null
	updated   time.Time
	digest    [sha256.Size]byte
	size      int64
	bad       string
}

// readRow takes apart a row in the layout of teff's files. Missing keys have
// teff's defaults, other keys are ignored as teff does.
func readRow(text []byte) (r record) {
	r.size, r.digest = int64(len(text)), sha256.Sum256(text)
	members, err := pyjson.Object(text)
	if err != nil {
		r.bad = "it is not the JSON of a row: " + err.Error()
		return r
	}
	if raw, ok := pyjson.Last(members, "next_node_id"); ok && !pyjson.IsNull(raw) {
		next, ok := pyjson.String(raw)
		if !ok {
			return r.spoiled("its next_node_id is no text")
		}
		r.next = &next
	}
	if raw, ok := pyjson.Last(members, "iteration"); ok {
		if r.iteration, ok = pyjson.Int(raw); !ok || r.iteration < 0 {
			return r.spoiled(fmt.Sprintf("its iteration is %.40s", raw))
		}
	}
	if raw, ok := pyjson.Last(members, "state"); ok {
		state, err := pyjson.Object(raw)
		if err != nil {
			return r.spoiled("its state is no object")
		}
		if raw, ok := pyjson.Last(state, interruptKey); ok && !pyjson.IsNull(raw) {
			r.interrupt = raw
		}
	}
	r.text = text
	return r
}

func (r record) spoiled(why string) record {
	r.bad, r.next, r.iteration = why, nil, 0
	return r
}

// columns is a row of a table, of whatever types a database gives.
type columns struct {
	owner, id, state, next, iteration, updated any
}

// record makes a row of a table one in the layout of teff's files. What is in
// the table stays byte for byte. keep is for the text of the whole row.
func (c columns) record(keep bool) record {
	var r record
	owner, okOwner := text(c.owner)
	id, okID := text(c.id)
	r.key = stores.Key{Owner: owner, Run: id}
	state, okState := text(c.state)
	iteration, okIteration := c.iteration.(int64)
	var next []byte
	okNext := true
	if c.next == nil {
		next = []byte("null")
	} else if s, ok := text(c.next); ok {
		next = pyjson.Quote(s)
	} else {
		okNext = false
	}
	for _, col := range []struct {
		ok   bool
		name string
	}{{okOwner, "owner"}, {okID, "checkpoint_id"}, {okState, "state"}, {okNext, "next_node_id"}, {okIteration, "iteration"}} {
		if !col.ok {
			r.bad = "its " + col.name + " is of no type that teff writes, or not UTF-8"
			return r
		}
	}
	updated, known := number(c.updated)
	if known {
		r.updated = moment(updated)
	}
	// A row that was saved again is another one, also with the same content.
	h := sha256.New()
	fmt.Fprintf(h, "%d %s %d %x ", len(state), next, iteration, math.Float64bits(updated))
	io.WriteString(h, state)
	h.Sum(r.digest[:0])
	raw := []byte(state)
	r.size, r.iteration = int64(len(state)), iteration
	members, err := pyjson.Object(raw)
	switch {
	case err == nil && iteration >= 0:
	case err == nil:
		return r.spoiled(fmt.Sprintf("its iteration is %d", iteration))
	case pyjson.Check(raw) != nil:
		return r.spoiled("its state is not JSON: " + err.Error())
	default:
		return r.spoiled("its state is no object")
	}
	if q, ok := pyjson.Last(members, interruptKey); ok && !pyjson.IsNull(q) {
		r.interrupt = bytes.Clone(q) // not the whole state
	}
	if c.next != nil {
		s, _ := text(c.next)
		r.next = &s
	}
	if keep {
		r.text = compose(raw, next, iteration)
	}
	return r
}

// compose is a row in the layout of teff's files.
func compose(state, next []byte, iteration int64) []byte {
	b := make([]byte, 0, len(state)+len(next)+64)
	b = append(append(b, `{"state": `...), state...)
	b = append(append(b, `, "next_node_id": `...), next...)
	return fmt.Appendf(b, `, "iteration": %d}`, iteration)
}

func text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, utf8.ValidString(v)
	case []byte:
		return string(v), utf8.Valid(v)
	}
	return "", false
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	}
	return 0, false
}

// moment is a time that teff keeps in seconds; what is no time in the reach of
// a calendar is none.
func moment(seconds float64) time.Time {
	const reach = 1e11 // some 3000 years
	if !(seconds > -reach && seconds < reach) {
		return time.Time{}
	}
	return time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC()
}

// status is teff's, by the contract's names: a question in the state means
// paused, no next node completed, and anything else unfinished, which covers
// running, crashed and killed.
func (r record) status() stores.Status {
	switch {
	case r.bad != "":
		return stores.StatusRunning // not known to have ended
	case r.interrupt != nil:
		return stores.StatusPaused
	case r.next == nil:
		return stores.StatusDone
	}
	return stores.StatusRunning
}

func (r record) seal() stores.Seal { return stores.Seal{Prev: r.digest[:]} }

// checkpoint is the row as a checkpoint.
func (r record) checkpoint() stores.Checkpoint {
	return stores.Checkpoint{
		Place: stores.Place{Key: r.key}, Step: r.iteration, Base: r.iteration, Kind: Kind, Status: r.status(),
		Time: r.updated, Payload: r.text, Size: r.size, Seal: r.seal(), Bad: r.bad,
	}
}

// head is the row as a head, without its place among the others.
func (r record) head() stores.Head {
	return stores.Head{
		Place: stores.Place{Key: r.key}, Step: r.iteration, Base: r.iteration, Kind: Kind, Status: r.status(),
		Updated: r.updated, Payload: r.summary(), Seal: r.seal(), Bad: r.bad,
	}
}

// summary is the row with nothing in its state but the question.
func (r record) summary() []byte {
	state, next := []byte("{}"), []byte("null")
	if r.interrupt != nil {
		state = fmt.Appendf(nil, `{"%s": %s}`, interruptKey, r.interrupt)
	}
	if r.next != nil {
		next = pyjson.Quote(*r.next)
	}
	return compose(state, next, r.iteration)
}

// within adds the relatives of a run to its summary.
func within(summary []byte, parent, outermost string, children []string) []byte {
	b := slices.Clone(summary[:len(summary)-1])
	if parent != "" || len(children) > 0 {
		b = append(append(b, `, "parent": `...), pyjson.Quote(parent)...)
		b = append(append(b, `, "outermost": `...), pyjson.Quote(outermost)...)
		b = append(b, `, "children": [`...)
		for i, c := range children {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(b, pyjson.Quote(c)...)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}
