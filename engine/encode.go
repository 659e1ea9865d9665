package engine

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// The encoders of this file give the same bytes as marshal, for what is written
// at every save: encoding/json would sort the keys of every map by reflection,
// and read a state a second time to embed it. What is rare is left to marshal.

// object is a JSON object in the making. The first error stays.
type object struct {
	b   []byte
	err error
}

func newObject(size int) *object { return &object{b: append(make([]byte, 0, size), '{')} }

func (o *object) end() (json.RawMessage, error) { return append(o.b, '}'), o.err }

// key begins a field; it must need no escapes.
func (o *object) key(k string) *object {
	if len(o.b) > 1 {
		o.b = append(o.b, ',')
	}
	o.b = append(o.b, '"')
	o.b = append(o.b, k...)
	o.b = append(o.b, '"', ':')
	return o
}

func (o *object) raw(k string, v json.RawMessage) { o.key(k).b = append(o.b, v...) }

func (o *object) number(k string, n int64) { o.key(k).b = strconv.AppendInt(o.b, n, 10) }

func (o *object) text(k, v string) {
	o.key(k).add(func(b []byte) ([]byte, error) { return appendText(b, v) })
}

func (o *object) texts(k string, v []string) {
	o.key(k).add(func(b []byte) ([]byte, error) { return appendList(b, v, appendText) })
}

func (o *object) time(k string, t time.Time) {
	o.key(k).b = append(o.b, '"')
	o.add(t.AppendText)
	o.b = append(o.b, '"')
}

// other is any field that is rare.
func (o *object) other(k string, v any) {
	o.key(k).add(func(b []byte) ([]byte, error) { return appendOther(b, v) })
}

func (o *object) add(f func(b []byte) ([]byte, error)) {
	b, err := f(o.b)
	if err != nil {
		if o.err == nil {
			o.err = err
		}
		return
	}
	o.b = b
}

func appendOther(b []byte, v any) ([]byte, error) {
	raw, err := marshal(v)
	return append(b, raw...), err
}

// appendText writes plain ASCII as it is.
func appendText(b []byte, s string) ([]byte, error) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return appendOther(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"'), nil
}

func appendList[T any](b []byte, list []T, item func([]byte, T) ([]byte, error)) (_ []byte, err error) {
	if list == nil {
		return append(b, "null"...), nil
	}
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = item(b, v); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendMap(b []byte, m map[string]any) (_ []byte, err error) {
	if m == nil {
		return append(b, "null"...), nil
	}
	b = append(b, '{')
	keys := make([]string, 0, 16) // most objects need no more, and these stay on the stack
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendText(b, k); err != nil {
			return nil, err
		}
		if b, err = appendValue(append(b, ':'), m[k]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// appendValue writes a value of a state.
func appendValue(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case map[string]any:
		return appendMap(b, v)
	case []any:
		return appendList(b, v, appendValue)
	case string:
		return appendText(b, v)
	}
	return appendOther(b, v)
}

// stateText are the values of a state as they are written. What no update has
// touched is not encoded again.
type stateText map[string]json.RawMessage

func (t stateText) forget(updates []State) {
	for _, u := range updates {
		for k := range u {
			delete(t, k)
		}
	}
}

func (t stateText) encode(s State) (json.RawMessage, error) {
	keys, size := make([]string, 0, 16), 2
	for k, v := range s {
		raw, known := t[k]
		if !known {
			var err error
			if raw, err = appendValue(nil, v); err != nil {
				return nil, err
			}
			t[k] = raw
		}
		keys = append(keys, k)
		size += len(raw) + len(k) + 4
	}
	slices.Sort(keys)
	o := newObject(size)
	for _, k := range keys {
		if len(o.b) > 1 {
			o.b = append(o.b, ',')
		}
		o.add(func(b []byte) ([]byte, error) { return appendText(b, k) })
		o.b = append(append(o.b, ':'), t[k]...)
	}
	return o.end()
}

// payload encodes a checkpoint. visits are its Visits as JSON.
func (b Checkpoint) payload(visits json.RawMessage) (json.RawMessage, error) {
	o := newObject(len(b.State) + len(visits) + 512)
	o.raw("state", b.State)
	o.texts("frontier", b.Frontier)
	o.raw("visits", visits)
	o.number("supersteps", b.Supersteps)
	if len(b.Waiting) > 0 {
		o.other("waiting", b.Waiting)
	}
	if len(b.Decisions) > 0 {
		o.other("decisions", b.Decisions)
	}
	if b.Error != nil {
		o.other("error", b.Error)
	}
	if len(b.Nodes) > 0 {
		o.key("nodes").add(func(to []byte) ([]byte, error) { return appendList(to, b.Nodes, appendNodeRun) })
	}
	if len(b.Again) > 0 {
		o.texts("again", b.Again)
	}
	if len(b.Log) > 0 {
		o.other("log", b.Log)
	}
	o.text("worker", b.Worker)
	return o.end()
}

// visitList is a run's visits as they are written, sorted by node. It is changed
// in place: between two saves only the nodes that have run are counted.
type visitList struct {
	b     []byte // ,"node":count for each node, then }
	nodes []visit
}

// visit says where the count of a node stands in the list.
type visit struct {
	node       string
	start, end int
}

// encode writes visits, given the nodes that have run since the last time. The
// list is only good until the next one.
func (l *visitList) encode(visits map[string]int64, ran []NodeRun) (json.RawMessage, error) {
	for _, n := range ran {
		if err := l.count(n.Node, visits); err != nil {
			return nil, err
		}
	}
	if len(l.nodes) != len(visits) { // a worker that has just taken the run over
		*l = visitList{}
		for _, id := range slices.Sorted(maps.Keys(visits)) {
			if err := l.count(id, visits); err != nil {
				return nil, err
			}
		}
	}
	if len(l.nodes) == 0 {
		return json.RawMessage("{}"), nil
	}
	l.b[0] = '{'
	return l.b, nil
}

func (l *visitList) count(id string, visits map[string]int64) error {
	n, counted := visits[id]
	if !counted {
		return nil
	}
	at, known := slices.BinarySearchFunc(l.nodes, id, func(v visit, id string) int { return strings.Compare(v.node, id) })
	if !known {
		if err := l.insert(at, id); err != nil {
			return err
		}
	}
	v := l.nodes[at]
	l.replace(at, v.start, v.end, strconv.AppendInt(make([]byte, 0, 20), n, 10))
	return nil
}

// insert makes room for a node; its count is still empty.
func (l *visitList) insert(at int, id string) error {
	field, err := appendText([]byte{','}, id)
	if err != nil {
		return err
	}
	start := 0
	switch {
	case len(l.nodes) == 0:
		l.b = []byte{'}'}
	case at == 0:
		l.b[0] = ','
	default:
		start = l.nodes[at-1].end
	}
	l.nodes = slices.Insert(l.nodes, at, visit{id, start, start})
	l.replace(at, start, start, append(field, ':'))
	l.nodes[at].start = l.nodes[at].end
	return nil
}

// replace puts text for a part of a node's field, which ends there.
func (l *visitList) replace(at, start, end int, text []byte) {
	l.b = slices.Replace(l.b, start, end, text...)
	l.nodes[at].end = start + len(text)
	if more := len(text) - (end - start); more != 0 {
		for i := range l.nodes[at+1:] {
			l.nodes[at+1+i].start += more
			l.nodes[at+1+i].end += more
		}
	}
}

func appendNodeRun(b []byte, n NodeRun) ([]byte, error) {
	if n.Error != "" || len(n.Replayed) > 0 || len(n.Unreplayed) > 0 {
		return appendOther(b, n)
	}
	o := newObject(128)
	o.text("node", n.Node)
	o.time("started", n.Started)
	o.time("ended", n.Ended)
	raw, err := o.end()
	return append(b, raw...), err
}

func (h HeadBody) payload() (json.RawMessage, error) {
	if len(h.Waiting) > 0 || h.Stored != 0 || h.Error != "" || h.Denied != nil || h.Worker == "" {
		return marshal(h)
	}
	o := newObject(128)
	o.texts("at", h.At)
	o.text("worker", h.Worker)
	return o.end()
}

func (c callBody) payload() (json.RawMessage, error) {
	if c.Failed || c.Error != "" || c.Denied != nil || c.Why != "" || c.NotRun || c.Note != "" || c.Event != 0 {
		return marshal(c)
	}
	o := newObject(len(c.Args) + len(c.Result) + 160)
	if len(c.Args) > 0 {
		o.raw("args", c.Args)
	}
	o.text("digest", c.Digest)
	if len(c.Result) > 0 {
		o.raw("result", c.Result)
	}
	o.text("by", c.By)
	return o.end()
}

// savedEvent is the data of EventSaved.
type savedEvent struct {
	Flow       string        `json:"flow,omitempty"` // of a flow
	Kind       string        `json:"kind"`
	Stage      *string       `json:"stage,omitempty"` // of a loop
	Status     stores.Status `json:"status"`
	Step       int64         `json:"step"`
	Unreplayed []string      `json:"unreplayed,omitempty"`
}

func (e savedEvent) payload() (json.RawMessage, error) {
	if e.Flow == "" || e.Stage != nil || len(e.Unreplayed) > 0 {
		return marshal(e)
	}
	o := newObject(128)
	o.text("flow", e.Flow)
	o.text("kind", e.Kind)
	o.text("status", string(e.Status))
	o.number("step", e.Step)
	return o.end()
}

func eventPayload(data any) (json.RawMessage, error) {
	if e, ok := data.(savedEvent); ok {
		return e.payload()
	}
	return marshal(data)
}
