package viewer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// open finds the format of spec and opens it. The first match wins.
func (r Registry) open(ctx context.Context, spec string, readOnly bool) (stores.Store, Format, error) {
	var looked, found []string
	var failed error
	for _, f := range r {
		looked = append(looked, f.Name)
		match, what, err := f.Sniff(ctx, spec)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, stores.ErrNotFound):
			return nil, f, missing(spec)
		case err != nil && failed == nil: // the others fail for the same reason
			failed = fmt.Errorf("%s: %w", f.Name, err)
		case err != nil:
		case match:
			s, err := f.Open(ctx, spec, readOnly)
			if errors.Is(err, fs.ErrNotExist) {
				err = missing(spec)
			}
			if another, g := r.elsewhere(ctx, f, spec, readOnly, err); another != nil {
				return another, g, nil
			}
			return s, f, err
		default:
			if what = foundOnly(what); what != "" && !slices.Contains(found, what) {
				found = append(found, what)
			}
		}
	}
	if failed != nil {
		return nil, Format{}, fmt.Errorf("%s: %w", spec, failed)
	}
	if len(found) == 0 {
		found = []string{"nothing that is known"}
	}
	return nil, Format{}, Problem{
		Code:    "failed",
		Message: fmt.Sprintf("%s is not a store: looked for %s; found %s", spec, strings.Join(looked, ", "), strings.Join(found, "; ")),
		Hint:    "give the path or the URL of a store",
	}
}

// elsewhere opens spec in the first foreign format that is found there, when
// the format f of our own, which cannot tell before opening, found none of its
// marks.
func (r Registry) elsewhere(ctx context.Context, f Format, spec string, readOnly bool, err error) (stores.Store, Format) {
	if f.Unsigned || !errors.Is(err, stores.ErrNotFound) && !errors.Is(err, stores.ErrNotStore) {
		return nil, f
	}
	for _, g := range r {
		if !g.Unsigned {
			continue
		}
		if match, _, err := g.Sniff(ctx, spec); !match || err != nil {
			continue
		}
		if s, err := g.Open(ctx, spec, readOnly); err == nil {
			return s, g
		}
	}
	return nil, f
}

// foundOnly is what a driver found, without what it is not and what it looked
// for: that is said once for all formats.
func foundOnly(what string) string {
	what = strings.TrimPrefix(what, stores.ErrNotStore.Error()+": ")
	if _, found, ok := strings.Cut(what, ", found "); ok && strings.HasPrefix(what, "looked for ") {
		return found
	}
	return what
}

func missing(spec string) error {
	return Problem{Code: "not-found", Message: "there is nothing at " + spec, Hint: "check the path: a store is never created by looking at it"}
}

// attachment is one attached store.
type attachment struct {
	label  string
	spec   string
	format Format
	store  stores.Store
	key    string // for StoreInfo

	production bool // it was given as one of production

	mu   sync.Mutex
	info stores.Info
	down StoreProblem // when it could not be read; zero when it could

	bundle *bundleState // once it was checked, see bundled
}

// Attach opens the stores. It writes nothing to them.
func Attach(ctx context.Context, specs []string, o Options) (*Service, error) {
	s := newService(o)
	if len(specs) == 0 {
		return nil, Problem{Code: "usage", Message: "no store was given", Hint: "give the path or the URL of a store"}
	}
	for _, spec := range specs {
		store, f, err := s.o.Formats.open(ctx, spec, o.ReadOnly)
		if err != nil { // masked: a URL may hold a password
			return nil, errors.Join(&openError{s.unopened(err), err}, s.Close())
		}
		a := &attachment{label: s.label(spec), spec: spec, format: f, store: store, production: o.Production[spec]}
		s.stores = append(s.stores, a)
		if a.info, err = store.Info(ctx); err != nil {
			return nil, errors.Join(&openError{s.unopened(err), err}, s.Close())
		}
		if err := s.once(a); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		a.key = s.keyState(ctx, a)
	}
	return s, nil
}

// once drops the newest store when it is attached already, by whatever path: each
// of its runs would be there twice.
func (s *Service) once(a *attachment) error {
	last := len(s.stores) - 1
	i := slices.IndexFunc(s.stores[:last], a.same)
	if i < 0 {
		return nil
	}
	first := s.stores[i]
	first.production = first.production || a.production
	s.stores = s.stores[:last]
	s.twice = append(s.twice, fmt.Sprintf("%s is given twice: it is opened once", first.label))
	return a.store.Close()
}

// same reports that two attachments are of one store. A copy has the same id, but
// is at another place.
func (a *attachment) same(b *attachment) bool {
	if a.format.Name != b.format.Name || a.info.ID != b.info.ID {
		return false
	}
	if a.spec == b.spec || a.info.Location != "" && a.info.Location == b.info.Location {
		return true
	}
	at, err := os.Stat(a.info.Location)
	if err != nil {
		return false
	}
	bt, err := os.Stat(b.info.Location)
	return err == nil && os.SameFile(at, bt)
}

// unopened tells why a store cannot be opened. Nothing was under way there.
func (s *Service) unopened(err error) Problem {
	p := s.Explain(err)
	if errors.Is(err, stores.ErrUnreadable) && p.Hint == "" {
		p.Hint = "it was damaged or cut off: keep what is there, and put a backup in its place"
	}
	if errors.Is(err, stores.ErrUnavailable) {
		p.Hint = "look whether its server runs and whether the address is right, then try again"
	}
	return p
}

// openError tells only what may be told, and keeps the class of what it is
// about: whether a store that is down may come back.
type openError struct {
	told  Problem
	cause error
}

func (e *openError) Error() string   { return e.told.Message }
func (e *openError) Unwrap() []error { return []error{e.told, e.cause} }

// label is a short name that no other store has.
func (s *Service) label(spec string) string {
	name := spec
	if _, rest, ok := strings.Cut(spec, "://"); ok {
		name = rest[strings.LastIndexByte(rest, '@')+1:]
		name, _, _ = strings.Cut(name, "?")
	} else if base := filepath.Base(spec); base != "." && base != string(filepath.Separator) {
		name = base
	}
	name, _ = maskText(Scrub(name))
	label := name
	for n := 2; slices.ContainsFunc(s.stores, func(a *attachment) bool { return a.label == label }); n++ {
		label = fmt.Sprintf("%s (%d)", name, n)
	}
	return label
}

// doesNotFit ends the state of a key that the newest run was not signed with.
const doesNotFit = "does not fit"

// keyState says whether the key at hand fits the store, by its newest run.
func (s *Service) keyState(ctx context.Context, a *attachment) string {
	if a.format.Unsigned {
		return "unsigned, no call log"
	}
	id := s.o.Keys.ID()
	if id == "" {
		return "no key"
	}
	name := "key " + id[:4]
	if b := s.bundled(ctx, a); b != nil && b.verdict.Bad() {
		return name + ", bundle " + string(b.verdict)
	}
	lister, ok := a.store.(stores.Lister)
	if !ok {
		return name
	}
	page, err := lister.List(ctx, stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}, Limit: 1})
	if err != nil || len(page.Heads) == 0 {
		return name
	}
	switch err := engine.CheckHead(s.o.Keys, page.Heads[0]); {
	case err == nil:
		return name + " ok"
	case errors.Is(err, seal.ErrUnknownKey):
		return name + " " + doesNotFit
	}
	return name // that row was changed: it tells nothing about the key
}

// id is the store's own id, "" while nothing was ever written to it.
func (a *attachment) id(ctx context.Context) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.info.ID == "" {
		if info, err := a.store.Info(ctx); err == nil {
			a.info = info
		}
	}
	return a.info.ID
}

// leases reports whether the store tells who works on a run.
func (a *attachment) leases() bool {
	_, ok := a.store.(stores.Leaser)
	return ok
}

// Stores describes the attached stores, in the order in which they were given.
func (s *Service) Stores() []StoreInfo {
	var infos []StoreInfo
	for _, a := range s.stores {
		a.mu.Lock()
		i := StoreInfo{
			Label: a.label, Format: a.info.Format, Location: a.info.Location, ReadOnly: a.info.ReadOnly || s.o.ReadOnly,
			Why: a.info.Why, Key: a.key, Unfit: strings.HasSuffix(a.key, doesNotFit), Owner: s.o.Owner, AnyOwner: s.o.AnyOwner, NoLease: !a.leases(), Foreign: a.format.Unsigned,
			Production: a.production,
		}
		a.mu.Unlock()
		if s.o.ReadOnly {
			i.Why = s.whyReadOnly()
		}
		infos = append(infos, i)
	}
	return out(s, infos, false)
}
