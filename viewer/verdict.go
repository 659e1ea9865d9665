package viewer

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// checked is a verdict that a whole verification found, for one head.
type checked struct {
	head    string // fingerprint
	verdict Verdict
	reason  string
	at      time.Time
	all     []Finding
	setBack bool // regressed by what was seen before
	passing bool // the store could not read the run: it is asked again soon
}

// sighting is how far a run was seen, so that an older one put back shows.
type sighting struct {
	incarnation string
	step        int64
	past        map[string]bool // incarnations that were replaced
}

// fingerprint names what a list shows of a run, by the checkpoint that the
// list entry sums up.
func fingerprint(h stores.Head) string {
	mac := hex.EncodeToString(h.Prev)
	return fmt.Sprintf("%.24s.%d.%d.%d.%d", mac, h.Step, h.Segment, h.Open, len(h.Bad))
}

// headVerdict judges a head by itself and by what was seen and verified
// before. It reads nothing.
func (s *Service) headVerdict(a *attachment, storeID string, h stores.Head) (Verdict, string) {
	ref := a.ref(h.Key)
	switch {
	case a.format.Unsigned:
		return Unsigned, ""
	case h.Bad != "":
		return Unreadable, "its list entry cannot be read: " + h.Bad
	}
	var err error
	switch {
	case h.Format != derived:
		err = engine.CheckHead(s.o.Keys, h)
	case s.o.Keys == nil:
		err = seal.ErrNoKey
	}
	own := Unchecked
	switch {
	case errors.Is(err, seal.ErrNoKey):
		own = NoKeyGiven
	case errors.Is(err, seal.ErrUnknownKey):
		own = UnknownKey
	case errors.Is(err, seal.ErrFormat):
		return Unreadable, "its list entry: " + err.Error()
	case err != nil:
		return Forged, "its list entry is forged: it was changed after it was signed"
	case storeID != "" && h.Store != storeID:
		return Forged, "its list entry was signed for another store"
	}
	if own == Unchecked { // what anybody could have written is not remembered as seen
		if why := s.regressed(ref, h); why != "" {
			return Regressed, why
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.verdicts[ref]
	ok = ok && c.head == fingerprint(h) && (!c.passing || s.now().Sub(c.at) <= freshFor)
	if ok && (own == Unchecked || c.verdict.Bad()) { // missing rows are found without the key, too
		return c.verdict, c.reason
	}
	return own, ""
}

// forgetHint is the way out when a store was set back by its own people.
func (s *Service) forgetHint(a *attachment, k stores.Key) string {
	args := append([]string{nameOr(s.o.Command, "flowtui"), "verify"}, s.o.KeyFlags...)
	if k.Owner != stores.DefaultOwner || s.o.SayOwner {
		args = append(args, "--owner", k.Owner)
	}
	args = append(args, "--forget-seen")
	return "if a backup was restored on purpose, forget what was seen: " + shellJoin(placed(args, []string{a.location(), k.Run}))
}

// setBackProblem refuses a run that was seen at a later step.
func (s *Service) setBackProblem(a *attachment, k stores.Key, reason string) Problem {
	return Problem{Code: codeCorrupt, Message: fmt.Sprintf("run %q: %s", k.Run, reason), Run: k.Run, Hint: s.forgetHint(a, k)}
}

// regressed compares a sound head with what was seen before, and remembers it.
func (s *Service) regressed(ref Ref, h stores.Head) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.seen[ref]
	if !known && s.o.Memory != nil {
		life, step := s.o.Memory.Seen(ref.Store, ref.Owner, ref.Run)
		old, known = sighting{incarnation: life, step: step}, step >= 0 && life != ""
	}
	switch {
	case known && old.past[h.Incarnation]:
		return "an older run of this id was put back: a newer one was seen before"
	case known && old.incarnation == h.Incarnation && h.Step < old.step:
		return fmt.Sprintf("history regressed: step %d was seen before, the newest is now step %d", old.step, h.Step)
	case known && old.incarnation == h.Incarnation && h.Step == old.step:
		s.seen[ref] = old
		return ""
	}
	past := old.past
	if known && old.incarnation != h.Incarnation {
		past = map[string]bool{old.incarnation: true}
		for life := range old.past {
			past[life] = true
		}
	}
	s.seen[ref] = sighting{h.Incarnation, h.Step, past}
	if s.o.Memory != nil {
		s.o.Memory.See(ref.Store, ref.Owner, ref.Run, h.Incarnation, h.Step)
	}
	return ""
}

// verdictRank orders verdicts, the worst first.
var verdictRank = []Verdict{Forged, Gap, Regressed, Unreadable, UnknownKey, NoKeyGiven, Unsigned, Verified, Unchecked}

func worse(a, b Verdict) Verdict {
	for _, v := range verdictRank {
		if a == v || b == v {
			return v
		}
	}
	return a
}

// inspect verifies a whole run and remembers the verdict for later lists.
func (s *Service) inspect(ctx context.Context, a *attachment, k stores.Key) (checked, error) {
	before, _ := s.head(ctx, a, k)
	return s.inspectFrom(ctx, a, k, before)
}

// inspectFrom is inspect with a list entry that was read already, the zero one
// when there is none.
func (s *Service) inspectFrom(ctx context.Context, a *attachment, k stores.Key, before stores.Head) (checked, error) {
	if a.format.Unsigned {
		return s.inspectForeign(ctx, a, k)
	}
	r, err := engine.Verify(ctx, a.store, s.o.Keys, k)
	if damaged(err) {
		return s.recollect(a, before, unreadableRows(k, before.Step, err)), nil
	}
	if err != nil {
		return checked{}, err
	}
	return s.remember(ctx, a, before, r.Verdict, r.Findings), nil
}

// remember joins what the engine found with what was seen before.
func (s *Service) remember(ctx context.Context, a *attachment, h stores.Head, v engine.Verdict, found []engine.Finding) checked {
	c := checked{verdict: Verdict(v)}
	for _, f := range found {
		c.all = append(c.all, Finding{f.Key.Owner, f.Key.Run, f.Record, f.Step, f.N, Verdict(f.Verdict), f.Reason})
	}
	s.mu.Lock()
	delete(s.verdicts, a.ref(h.Key))
	s.mu.Unlock()
	switch own, why := s.headVerdict(a, a.id(ctx), h); {
	case h.Run == "":
	case own == Regressed:
		c.all = append(c.all, Finding{h.Owner, h.Run, engine.RecordCheckpoint, h.Step, 0, Regressed, why})
		c.verdict, c.setBack = worse(c.verdict, Regressed), true
	case own.Bad() && !c.verdict.Bad():
		c.all = append(c.all, Finding{h.Owner, h.Run, engine.RecordHead, h.Step, 0, own, why})
		c.verdict = own
	}
	c.reason = reasonOf(c.verdict, c.all)
	return s.recollect(a, h, c)
}

// recollect keeps a verdict for later lists, unless the head is not known.
func (s *Service) recollect(a *attachment, h stores.Head, c checked) checked {
	c.head, c.at = fingerprint(h), s.now()
	if h.Run != "" {
		s.mu.Lock()
		s.verdicts[a.ref(h.Key)] = c
		s.mu.Unlock()
	}
	return c
}

// reasonOf is the worst finding in one sentence.
func reasonOf(v Verdict, all []Finding) string {
	for _, f := range all {
		if f.Verdict != v {
			continue
		}
		what := fmt.Sprintf("step %d", f.Step)
		switch f.Record {
		case engine.RecordCall:
			what = fmt.Sprintf("call record %d of step %d", f.N, f.Step)
		case engine.RecordEvent:
			what = fmt.Sprintf("event %d", f.N)
		case engine.RecordHead:
			what = "its list entry"
		}
		if f.Verdict == Gap {
			return fmt.Sprintf("rows are missing at %s: %s", what, f.Reason)
		}
		return fmt.Sprintf("%s is %s: %s", what, f.Verdict, f.Reason)
	}
	return ""
}
