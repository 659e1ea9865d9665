package engine

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// importEvent is the payload of an [EventImport]: the anchor of rows that name
// the store that the run came from. It is signed for the store that the run was
// imported into, and says exactly which rows it brought along, so that no row
// that was made elsewhere afterwards passes as one of them.
type importEvent struct {
	operatorEvent
	From   string       `json:"from"`             // id of the store that the run was copied from
	Step   int64        `json:"step"`             // newest checkpoint that was brought
	MAC    string       `json:"mac"`              // of that checkpoint
	Calls  []SegmentEnd `json:"calls"`            // newest call record of each segment
	Bundle string       `json:"bundle,omitempty"` // SHA-256 of the bundle's manifest, hex
}

// origin is a store that a run was in before it was imported, and how far the
// run had come there.
type origin struct {
	store string
	importEvent
	events int64 // numbers of the events that it had
	ends   map[int64]SegmentEnd
}

// home is the id of the store that a row must name: the first origin that the
// row was brought from, else this store. A head is made anew by an import.
func (c *chain) home(record string, h seal.Header) string {
	for _, o := range c.origins {
		switch {
		case record == RecordCheckpoint && h.Step <= o.Step,
			record == RecordCall && h.N <= o.ends[h.Segment].Calls,
			record == RecordEvent && h.N <= o.events:
			return o.store
		}
	}
	return c.store
}

// imported takes over what the run's imports vouch for.
func (c *chain) imported(origins []origin) {
	c.origins = origins
	for _, o := range origins {
		for seg, end := range o.ends {
			c.pinned[seg] = end
			c.claimed[seg] = max(c.claimed[seg], end.Calls)
		}
	}
}

// anchored compares a checkpoint with what the imports say of it.
func (c *chain) anchored(row stores.Checkpoint) {
	for _, o := range c.origins {
		if o.Step == row.Step && o.MAC != hex.EncodeToString(row.MAC) {
			c.find(RecordCheckpoint, row.Step, 0, 0, Forged, "it is not the step that was imported")
		}
	}
}

// place is where rows that are added now belong, also in a run that was
// imported: to this store.
func (l *loaded) place() stores.Place {
	return stores.Place{Key: l.key, Store: l.store, Incarnation: l.last.Incarnation}
}

// loadImported loads a run again that has rows of other stores, in the light of
// its imports. What no import explains stays forged.
func loadImported(ctx context.Context, s stores.Store, l *loaded) (*loaded, error) {
	log, ok := s.(stores.EventLog)
	if !ok {
		return l, nil
	}
	origins, err := importsOf(ctx, log, l.keys, l.store, l.life, l.key)
	if err != nil || len(origins) == 0 {
		return l, err
	}
	return loadOnce(ctx, s, l.keys, l.store, l.life, origins, l.key)
}

// importsOf reads the imports of a run from its log.
func importsOf(ctx context.Context, log stores.EventLog, keys *seal.Keyring, storeID, life string, k stores.Key) ([]origin, error) {
	var imports []stores.Event
	for after := int64(0); ; {
		page, err := log.Events(ctx, k, after, 1000)
		if err != nil {
			return nil, err
		}
		start := after
		for _, e := range page {
			if after = max(after, e.N); e.Type == EventImport {
				imports = append(imports, e)
			}
		}
		if after == start {
			return originsIn(imports, keys, storeID, life), nil
		}
	}
}

// originsIn are the origins that the import events among those given tell of.
// They must lead from store to store and end in this one: else they explain
// nothing.
func originsIn(events []stores.Event, keys *seal.Keyring, storeID, life string) []origin {
	var list []origin
	at := "" // where the run was after the imports so far
	for _, e := range events {
		if e.Type != EventImport || e.Bad != "" || e.Incarnation != life || check(keys, eventHeader(e), e.Payload, e.Seal) != nil {
			continue
		}
		o := origin{events: e.N - 1, ends: map[int64]SegmentEnd{}}
		if decodeBody(e.Payload, &o.importEvent) != nil || at != "" && o.From != at {
			return nil
		}
		o.store, at = o.From, e.Store
		for _, end := range o.Calls {
			o.ends[end.Segment] = end
		}
		list = append(list, o)
	}
	if at != storeID {
		return nil
	}
	return list
}

// VerifyRun is [Verify] for a whole run that was read from the store with an id:
// it is about exactly these rows.
func VerifyRun(keys *seal.Keyring, storeID string, r stores.Run) Report {
	feed := func(origins []origin) *chain {
		c := newChain(keys, storeID, r.Head.Incarnation, r.Key())
		c.imported(origins)
		for _, row := range r.Checkpoints {
			c.checkpoint(row)
		}
		c.read()
		for _, e := range r.Events {
			c.event(e)
		}
		c.calls(r.Calls)
		c.finish(&r.Head, true)
		return c
	}
	c := feed(nil)
	if c.foreign {
		if origins := originsIn(r.Events, keys, storeID, r.Head.Incarnation); len(origins) > 0 {
			c = feed(origins)
		}
	}
	return Report{Key: r.Key(), Verdict: worst(c.findings), Findings: c.findings}
}

// Import says where a copied run goes and who takes it there.
type Import struct {
	From   string // id of the store that the copy was read from
	Store  string // id of the store that it goes to
	By     string
	Note   string
	Bundle string // SHA-256 of the bundle's manifest in hex, "" for none
	Clock  Clock
}

// Adopt makes a whole run that was read from one store fit for another. Its
// rows stay as they are, and go on naming the store that they were made for; a
// signed event that is added to the run's log anchors exactly those rows in the
// new store, and the list entry is signed for it. A run that does not verify is
// refused: what is not sound must not be signed.
func Adopt(keys *seal.Keyring, r stores.Run, o Import) (stores.Run, error) {
	if err := r.Check(); err != nil {
		return r, err
	}
	if o.From == "" || o.Store == "" {
		return r, &Error{Class: ErrInvalid, Key: r.Key(), Reason: fmt.Sprintf("an import leads from store %q to store %q", o.From, o.Store)}
	}
	before := &loaded{chain: &chain{key: r.Key(), findings: VerifyRun(keys, o.From, r).Findings}}
	if err := before.trusted(); err != nil {
		return r, err
	}
	last := r.Last()
	place := stores.Place{Key: r.Key(), Store: o.Store, Incarnation: last.Incarnation}
	data := importEvent{
		operatorEvent: operatorEvent{Action: "import", By: o.By, Note: o.Note},
		From:          o.From, Step: last.Step, MAC: hex.EncodeToString(last.MAC), Calls: []SegmentEnd{}, Bundle: o.Bundle,
	}
	for i, c := range r.Calls {
		if i+1 == len(r.Calls) || r.Calls[i+1].Segment != c.Segment {
			data.Calls = append(data.Calls, SegmentEnd{Segment: c.Segment, Calls: c.N, MAC: hex.EncodeToString(c.MAC)})
		}
	}
	var newest stores.Event
	if n := len(r.Events); n > 0 {
		newest = r.Events[n-1]
	}
	signer := &Runner{keys: keys}
	added, err := chainEvents(signer, place, last.Step, newest.N, newest.MAC, []newEvent{{EventImport, data}}, o.Clock.now())
	if err != nil {
		return r, err
	}
	r.Events = append(r.Events[:len(r.Events):len(r.Events)], added...)
	r.Head.Place, r.Head.Prev = place, last.MAC
	r.Head.Seal, err = sign(keys, headHeader(r.Head), r.Head.Payload)
	return r, err
}
