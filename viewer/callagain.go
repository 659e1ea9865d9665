package viewer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// Attempt is what became of a call before it was made again.
type Attempt struct {
	Segment int64      `json:"segment"`
	Status  string     `json:"status"`
	State   CallState  `json:"state"`
	Why     string     `json:"why"` // and who made it again, like "was in doubt since 09:10:03 UTC, run again by ana"
	Error   string     `json:"error,omitempty"`
	Started *time.Time `json:"started"`
	Ended   *time.Time `json:"ended"`
	By      string     `json:"by"`
}

// Again tells why the call was made more than once, "" when it was not.
func (c Call) Again() string {
	var whys []string
	for _, b := range c.Before {
		whys = append(whys, b.Why)
	}
	return strings.Join(whys, "; ")
}

// Twice reports that the call was made again although it had run: its worker told so
// when another one was at it already.
func (c Call) Twice() bool {
	return slices.ContainsFunc(c.Before, func(b Attempt) bool { return b.State == CallDone || b.State == CallResolved })
}

// MaybeTwice reports that the call was made again although it may have run: nobody
// said that it did not.
func (c Call) MaybeTwice() bool {
	return slices.ContainsFunc(c.Before, func(b Attempt) bool { return b.State == CallInDoubt })
}

// attempts are what became of the calls that were made again, before that: each
// folded from the records up to the next start. A call's newest record alone hides
// that it may have run twice.
func attempts(rows []stores.Call) map[callAt][]engine.CallInfo {
	of := map[callAt][]stores.Call{}
	for _, r := range rows {
		k := callAt{r.Step, engine.CallID(r.Node, r.Ordinal)}
		of[k] = append(of[k], r)
	}
	all := map[callAt][]engine.CallInfo{}
	for k, own := range of {
		slices.SortStableFunc(own, func(a, b stores.Call) int { return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.N, b.N)) })
		for i, r := range own {
			if r.Status != stores.CallStarted {
				continue
			}
			for _, before := range engine.FoldCalls(own[:i]) {
				// A second start by the same worker is the one that a person has agreed to.
				agreed := before.Status == stores.CallStarted && before.Segment == r.Segment
				if before.Status != stores.CallPending && !agreed {
					all[k] = append(all[k], before)
				}
			}
		}
	}
	return all
}

// takeover is when a worker took a run over, and for whom; by is "" for a worker
// that did so by itself.
type takeover struct {
	step int64
	at   time.Time
	by   string
}

// takeovers reads them from the run's log.
func takeovers(ctx context.Context, a *attachment, k stores.Key) (list []takeover, err error) {
	log, ok := a.store.(stores.EventLog)
	if !ok {
		return nil, nil
	}
	for after := int64(0); ; {
		rows, err := log.Events(ctx, k, after, 0)
		if err != nil && !errors.Is(err, stores.ErrNotFound) {
			return nil, err
		}
		start := after
		for _, e := range rows {
			after = max(after, e.N)
			switch {
			case e.Bad != "":
			case e.Type == engine.EventRecovered:
				list = append(list, takeover{step: e.Step, at: e.Time})
			case e.Type == engine.EventRecovery && len(list) > 0 && list[len(list)-1].step == e.Step:
				var d struct {
					By string `json:"by"`
				}
				if json.Unmarshal(e.Payload, &d) == nil {
					list[len(list)-1].by = d.By
				}
			}
		}
		if after == start {
			return list, nil
		}
	}
}

// again completes the calls with their attempts before the one that counts.
func (s *Service) again(ctx context.Context, a *attachment, k stores.Key, rows []stores.Call, folded []engine.CallInfo, calls []Call) error {
	before := attempts(rows)
	if len(before) == 0 {
		return nil
	}
	taken, err := takeovers(ctx, a, k)
	if err != nil {
		return err
	}
	for i, c := range folded {
		list := before[callAt{c.Step, c.ID}]
		for n, b := range list {
			next := c
			if n+1 < len(list) {
				next = list[n+1]
			}
			calls[i].Before = append(calls[i].Before, attemptOf(b, next, taken, s.now()))
		}
	}
	return nil
}

func attemptOf(c, next engine.CallInfo, taken []takeover, now time.Time) Attempt {
	state := facts{}.stateOf(c, c.Doubtful())
	return Attempt{
		Segment: c.Segment, Status: string(c.Status), State: state, Why: madeAgain(c, now) + byWhom(c, next, taken), Error: c.Error,
		Started: moment(c.Started), Ended: moment(c.Ended), By: c.By,
	}
}

// madeAgain says what became of an attempt, as the begin of a sentence that ends
// with who made the call again.
func madeAgain(c engine.CallInfo, now time.Time) string {
	switch {
	case unstarted(c):
		return fmt.Sprintf("could not be started at %s, tried again", timeOf(now, c.Ended))
	case c.Status == stores.CallResolved && c.NotRun:
		return fmt.Sprintf("was in doubt since %s, did not run as %s said, run", timeOf(now, c.Started), nameOr(c.By, "an operator"))
	case c.Doubtful():
		return fmt.Sprintf("was in doubt since %s, run again", timeOf(now, c.Started))
	case c.Open():
		return fmt.Sprintf("was begun at %s without a result, run again", timeOf(now, c.Started))
	case c.Failed:
		return fmt.Sprintf("failed at %s, tried again", timeOf(now, c.Ended))
	}
	return fmt.Sprintf("had run already, started at %s, run again", timeOf(now, c.Started))
}

// byWhom is who had the call made again: the person who asked for the recovery, else
// the worker. The same worker that tries once more is not worth a word.
func byWhom(c, next engine.CallInfo, taken []takeover) string {
	if next.Segment == c.Segment {
		return ""
	}
	who := next.By
	for _, t := range taken {
		if !t.at.After(next.Started) {
			who = nameOr(t.by, next.By)
		}
	}
	if who == "" {
		return ""
	}
	return " by " + strings.TrimSpace(who)
}

// overtaken tells of a call with a result that a person had said did not run: its
// worker only stood still, and had the last word. "" for all other calls.
func overtaken(rows []stores.Call, c engine.CallInfo) string {
	if !c.Finished() {
		return ""
	}
	var upTo []stores.Call
	for _, r := range rows {
		if r.Step == c.Step && r.Node == c.Node && r.Ordinal == c.Ordinal && r.Segment == c.Segment && r.N < c.N {
			upTo = append(upTo, r)
		}
	}
	for _, said := range engine.FoldCalls(upTo) { // one, or none
		if said.Status == stores.CallResolved && said.NotRun && !unstarted(said) {
			return fmt.Sprintf("resolved as not run by %s, its worker's late result came in after that", nameOr(said.By, "an operator"))
		}
	}
	return ""
}
