package viewer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// Health is what a look at one store found. Its JSON is the contract of
// `flowtui doctor`. Times are milliseconds.
type Health struct {
	OK       bool             `json:"ok"`
	Store    string           `json:"store"`
	Format   string           `json:"format"`
	Location string           `json:"location"`
	ID       string           `json:"id"`
	Version  int              `json:"version"`
	Writable bool             `json:"writable"`
	Why      string           `json:"why_not_writable,omitempty"`
	Runs     map[string]int64 `json:"runs"`
	Bytes    *int64           `json:"bytes"` // null when that cannot be told
	Key      string           `json:"key"`   // id of the key that signs, "" for none
	Keys     []KeyUse         `json:"keys"`  // of the newest runs
	Clock    *ClockSkew       `json:"clock"` // null for a store without a clock of its own
	Latency  Latency          `json:"latency"`
	Facts    []HealthFact     `json:"facts"`
	May      []Ability        `json:"may"`
	Problems []string         `json:"problems"`
}

// KeyUse tells of the newest runs' list entries that one key signed.
type KeyUse struct {
	Key    string  `json:"key"`
	Rows   int     `json:"rows"`
	Result Verdict `json:"verdict"` // the worst
}

// ClockSkew is how far the store's clock is ahead of this machine's, known to
// within half of the time that asking took.
type ClockSkew struct {
	Ahead  float64 `json:"ahead_ms"`
	Within float64 `json:"within_ms"`
}

// Latency is how long reads of one list entry took.
type Latency struct {
	Reads  int     `json:"reads"`
	Min    float64 `json:"min_ms"`
	Median float64 `json:"median_ms"`
}

// HealthFact is one thing that the store's driver tells.
type HealthFact struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Problem string `json:"problem,omitempty"`
}

// Ability is something that an operator may do with the store, or why not.
type Ability struct {
	What string `json:"what"`
	Why  string `json:"why_not,omitempty"` // "" when it is possible
}

// How much a look reads.
const (
	examinedReads = 9
	examinedHeads = 100
	maxSkew       = 5 * time.Second // ages are wrong by as much
)

// Examine looks at the first attached store: what it is, whether the key fits,
// how fast it answers, and what may be done with it. It writes nothing. The
// error is a context that ended; whatever else goes wrong is a problem.
func (s *Service) Examine(ctx context.Context) (Health, error) {
	a := s.stores[0]
	a.mu.Lock()
	info := a.info
	a.mu.Unlock()
	h := Health{
		Store: a.spec, Format: info.Format, Location: info.Location, ID: info.ID, Version: info.Version, Key: s.o.Keys.ID(),
		Runs: map[string]int64{}, Keys: []KeyUse{}, Facts: []HealthFact{}, Problems: []string{},
	}
	if err := s.present(ctx, a); err != nil {
		h.note("%s", s.Explain(err).Message)
		return out(s, h, false), ctx.Err()
	}
	h.Why = s.refusals(a, stores.Head{}).write
	h.Writable = h.Why == ""
	s.examineRuns(ctx, a, &h)
	if heads, ok := s.newestHeads(ctx, a, &h); ok {
		s.examineKeys(a, heads, &h)
		s.examineReads(ctx, a, &h)
		s.examineNewest(ctx, a, heads, &h)
	}
	s.examineDriver(ctx, a, &h)
	if b := s.bundled(ctx, a); b != nil && b.verdict != Verified {
		h.note("%s", b.why)
	}
	h.May = s.abilities(a, h.Keys)
	h.OK = len(h.Problems) == 0
	return out(s, h, false), ctx.Err()
}

func (h *Health) note(format string, args ...any) {
	h.Problems = append(h.Problems, fmt.Sprintf(format, args...))
}

func (s *Service) examineRuns(ctx context.Context, a *attachment, h *Health) {
	counts, err := s.countIn(ctx, a, stores.Filter{Owner: stores.AnyOwner})
	if err != nil {
		h.note("its runs cannot be counted: %s", s.Explain(err).Message)
		return
	}
	for _, status := range []stores.Status{stores.StatusRunning, stores.StatusPaused, stores.StatusFailed, stores.StatusDone} {
		h.Runs[string(status)] = counts[status]
	}
}

// newestHeads are the list entries of the newest runs of every owner, none of a
// store that makes no lists. It reports false when they cannot be read.
func (s *Service) newestHeads(ctx context.Context, a *attachment, h *Health) ([]stores.Head, bool) {
	lister, ok := a.store.(stores.Lister)
	if !ok {
		return nil, true
	}
	page, err := lister.List(ctx, stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}, Limit: examinedHeads})
	if err != nil {
		h.note("its runs cannot be listed: %s", s.Explain(err).Message)
		return nil, false
	}
	return page.Heads, true
}

// examineNewest reads what belongs to the newest run: a store whose lists can be read
// may have lost the rest.
func (s *Service) examineNewest(ctx context.Context, a *attachment, heads []stores.Head, h *Health) {
	if len(heads) == 0 || heads[0].Bad != "" { // that is told
		return
	}
	k, read := heads[0].Key, "checkpoint"
	c, err := a.store.Latest(ctx, k)
	if err == nil && c.Bad != "" {
		err = errors.New(c.Bad)
	}
	if err == nil {
		read = "call log"
		_, err = a.store.Calls(ctx, k, c.Base)
	}
	if log, ok := a.store.(stores.EventLog); ok && err == nil {
		read = "log"
		_, err = log.Events(ctx, k, 0, 1)
	}
	if errors.Is(err, stores.ErrNotFound) {
		if _, gone := a.store.(stores.Lister).Head(ctx, k); errors.Is(gone, stores.ErrNotFound) {
			return // it was deleted meanwhile
		}
	}
	if err != nil {
		h.note("the %s of the newest run, %s of %s, cannot be read: %s", read, k.Run, k.Owner, s.Explain(err).Message)
	}
}

// examineKeys checks the list entries of the newest runs.
func (s *Service) examineKeys(a *attachment, heads []stores.Head, h *Health) {
	if a.format.Unsigned {
		return
	}
	uses := map[string]*KeyUse{}
	for _, head := range heads {
		use := uses[head.KeyID]
		if use == nil {
			use = &KeyUse{Key: head.KeyID, Result: Verified}
			uses[head.KeyID] = use
		}
		use.Rows++
		use.Result = worse(use.Result, headResult(s.o.Keys, h.ID, head))
	}
	for _, id := range slices.Sorted(maps.Keys(uses)) {
		use := *uses[id]
		h.Keys = append(h.Keys, use)
		switch use.Result {
		case Verified:
		case NoKeyGiven:
			h.note("no key was given, so nothing can be verified: the newest runs are signed with key %s", id)
		case UnknownKey:
			h.note("%d of the newest runs are signed with key %s, which was not given", use.Rows, id)
		default:
			h.note("of the newest runs that name key %s, some do not verify: see flowtui verify", id)
		}
	}
}

func headResult(keys *seal.Keyring, store string, head stores.Head) Verdict {
	err := engine.CheckHead(keys, head)
	switch {
	case head.Bad != "", errors.Is(err, seal.ErrFormat):
		return Unreadable
	case errors.Is(err, seal.ErrNoKey):
		return NoKeyGiven
	case errors.Is(err, seal.ErrUnknownKey):
		return UnknownKey
	case err != nil, head.Store != store:
		return Forged
	}
	return Verified
}

// examineReads measures what a list costs at least.
func (s *Service) examineReads(ctx context.Context, a *attachment, h *Health) {
	var took []time.Duration
	for range examinedReads {
		start := time.Now()
		var err error
		if lister, ok := a.store.(stores.Lister); ok {
			_, err = lister.List(ctx, stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}, Limit: 1})
		} else {
			_, err = a.store.Info(ctx)
		}
		if err != nil {
			h.note("it answered, and then did not: %s", s.Explain(err).Message)
			return
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	h.Latency = Latency{len(took), millis(took[0]), millis(took[len(took)/2])}
}

func millis(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

func (s *Service) examineDriver(ctx context.Context, a *attachment, h *Health) {
	examiner, ok := a.store.(stores.Examiner)
	if !ok {
		return
	}
	before := s.now()
	e, err := examiner.Examine(ctx)
	after := s.now()
	if err != nil {
		h.note("it cannot be examined: %s", s.Explain(err).Message)
		return
	}
	if e.Bytes >= 0 {
		h.Bytes = &e.Bytes
	}
	for _, f := range e.Facts {
		h.Facts = append(h.Facts, HealthFact(f))
		if f.Problem != "" {
			h.note("%s: %s", f.Name, f.Problem)
		}
	}
	if e.Clock.IsZero() {
		return
	}
	within := after.Sub(before) / 2
	ahead := e.Clock.Sub(before.Add(within))
	h.Clock = &ClockSkew{millis(ahead), millis(within)}
	if ahead.Abs() > maxSkew+within {
		h.note("the store's clock and this machine's are %s apart: ages are wrong by as much, leases go by the store's", ahead.Abs().Round(time.Second))
	}
}

// noKey is why nothing can be verified, as far as the keys of the newest runs tell.
func (s *Service) noKey(a *attachment, keys []KeyUse) string {
	switch {
	case a.format.Unsigned:
		return "its rows carry no signatures"
	case s.o.Keys == nil:
		return "no key was given"
	case len(keys) > 0 && !slices.ContainsFunc(keys, func(k KeyUse) bool { return k.Result != UnknownKey }):
		return "the newest runs are signed with a key that was not given"
	}
	return ""
}

// abilities are what an operator may do, each with the reason why not. keys are
// those of the newest runs.
func (s *Service) abilities(a *attachment, keys []KeyUse) []Ability {
	sure, key := s.refusals(a, stores.Head{}), s.noKey(a, keys)
	without := func(ok bool, why string) string {
		if ok {
			return ""
		}
		return why
	}
	_, history := a.store.(stores.Historian)
	_, events := a.store.(stores.EventLog)
	_, watch := a.store.(stores.Watcher)
	_, remove := a.store.(stores.Remover)
	forced := key
	if key != "" {
		forced += ", and what cannot be verified goes with --force only"
	}
	flows := ""
	if s.o.Flows == nil || len(s.o.Flows.Names()) == 0 {
		flows = "no flow files were given, with --flows"
	}
	if a.format.Unsigned {
		_, noWorkflows := s.workflows()
		return []Ability{
			{"look at runs", ""}, {"look at earlier steps", without(history, "it keeps the newest step only")}, {"verify", key},
			{"see who works on a run", "it keeps no leases"}, {"read the log of a run", "it keeps no log"},
			{"answer, bring runs on", cmp.Or(sure.write, s.noWorkflow(noWorkflows))},
		}
	}
	return []Ability{
		{"look at runs", ""},
		{"look at earlier steps", without(history, "it keeps the newest step only")},
		{"read the log of a run", without(events, "it keeps no log")},
		{"see who works on a run", without(a.leases(), "it keeps no leases")},
		{"see changes as they come", without(watch, "it does not tell of changes: it is asked again and again")},
		{"verify", key},
		{"approve, deny, answer, resolve", cmp.Or(sure.write, key)},
		{"bring runs on", cmp.Or(sure.write, key, flows)},
		{"delete runs", cmp.Or(sure.write, without(remove, "it cannot delete a run only as it was seen"), forced)},
	}
}
