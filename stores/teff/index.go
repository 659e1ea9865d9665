package teff

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// index is every run of a store at one moment, without the states. No store of
// teff has an index by time or status, so listing reads all rows anyway; it is
// kept for as long as nothing changes.
type index struct {
	heads []stores.Head // newest update first, then owner, then run
	byKey map[stores.Key]int
	// closed are the owners whose runs cannot be listed, with the reason.
	closed map[string]error
}

// closedTo is why a list with a filter is not whole, nil when it is.
func (x *index) closedTo(f stores.Filter) error {
	for _, owner := range slices.Sorted(maps.Keys(x.closed)) {
		if f.Owner == stores.AnyOwner || f.Owner == owner {
			return x.closed[owner]
		}
	}
	return nil
}

func newIndex(records []record) *index {
	x := &index{byKey: make(map[stores.Key]int, len(records))}
	slices.SortFunc(records, func(a, b record) int {
		return placeOf(a.updated.UnixMicro(), a.key).compare(placeOf(b.updated.UnixMicro(), b.key))
	})
	for _, r := range records {
		x.byKey[r.key] = len(x.heads)
		x.heads = append(x.heads, r.head())
	}
	x.relate()
	return x
}

// sub is what teff puts between the id of a run and that of the subflow node
// whose graph it runs under an id of its own.
const sub = ":sub:"

// parent is the run that a nested one belongs to: the longest id before a
// ":sub:" of which there is a row. An id of a user may have one as well, so
// without such a row it is nobody's.
func (x *index) parent(k stores.Key) (stores.Key, bool) {
	for end := strings.LastIndex(k.Run, sub); end >= 0; end = strings.LastIndex(k.Run[:end], sub) {
		p := stores.Key{Owner: k.Owner, Run: k.Run[:end]}
		if _, ok := x.byKey[p]; ok {
			return p, true
		}
	}
	return stores.Key{}, false
}

// relate tells every head its parent and everything below it.
func (x *index) relate() {
	parents, outermost, children := map[stores.Key]string{}, map[stores.Key]string{}, map[stores.Key][]string{}
	for _, h := range x.heads {
		for k, nested := x.parent(h.Key); nested; k, nested = x.parent(k) {
			if parents[h.Key] == "" {
				parents[h.Key] = k.Run
			}
			outermost[h.Key] = k.Run
			children[k] = append(children[k], h.Run)
		}
	}
	for i := range x.heads {
		h := &x.heads[i]
		slices.Sort(children[h.Key])
		h.Payload = within(h.Payload, parents[h.Key], outermost[h.Key], children[h.Key])
	}
}

// place is where a run stands in lists.
type place struct {
	Updated int64  `json:"u"` // microseconds
	Owner   []byte `json:"o"` // bytes, because it may not be UTF-8
	Run     []byte `json:"r"`
}

func placeOf(updated int64, k stores.Key) place {
	return place{updated, []byte(k.Owner), []byte(k.Run)}
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(q.Updated, p.Updated), slices.Compare(p.Owner, q.Owner), slices.Compare(p.Run, q.Run))
}

func (p place) String() string {
	b, _ := json.Marshal(p) // numbers and bytes always encode
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(s string) (*place, error) {
	if s == "" {
		return nil, nil
	}
	var p place
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: cursor %q", stores.ErrInvalid, s)
	}
	return &p, nil
}

// page is the first heads after a place that a filter selects.
func (x *index) page(f stores.Filter, after *place, size int) (page stores.Page) {
	from := 0
	if after != nil {
		from, _ = slices.BinarySearchFunc(x.heads, *after, func(h stores.Head, p place) int {
			if placeOf(h.Updated.UnixMicro(), h.Key).compare(p) <= 0 {
				return -1
			}
			return 1
		})
	}
	for _, h := range x.heads[from:] {
		if !f.Matches(h) {
			continue
		}
		if len(page.Heads) == size {
			last := page.Heads[size-1]
			page.Next = placeOf(last.Updated.UnixMicro(), last.Key).String()
			break
		}
		page.Heads = append(page.Heads, copyHead(h))
	}
	return page
}

func copyHead(h stores.Head) stores.Head {
	h.Payload, h.Prev = slices.Clone(h.Payload), slices.Clone(h.Prev)
	return h
}

func (x *index) count(f stores.Filter) stores.Counts {
	n := stores.Counts{ByStatus: map[stores.Status]int64{}}
	for _, h := range x.heads {
		if f.Matches(h) {
			n.ByStatus[h.Status]++
		}
	}
	return n
}

func (x *index) owners() []string {
	var owners []string
	for _, h := range x.heads {
		owners = append(owners, h.Owner)
	}
	slices.Sort(owners)
	return slices.Compact(owners)
}
