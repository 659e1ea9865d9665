package viewer

import "github.com/flowtui/flowtui/stores"

// badges says what a run is, most urgent first. It is the only place that does.
func badges(f facts) []Badge {
	list := []Badge{}
	add := func(b Badge, is bool) {
		if is {
			list = append(list, b)
		}
	}
	p := f.pulse()
	lost := p == gone || p == skewed
	add(Tampered, f.verdict.Bad())
	add(InDoubt, f.inDoubt())
	add(Paused, f.paused())
	add(Failed, f.status == string(stores.StatusFailed))
	add(Stuck, lost && !f.inDoubt())
	add(Spoiled, f.status == unreadable && f.verdict == Unsigned)
	add(Running, p == alive || p == maybe)
	add(Recovered, f.segment > 1)
	add(NoKey, f.verdict == NoKeyGiven || f.verdict == UnknownKey)
	add(Done, f.status == string(stores.StatusDone))
	return list
}

// urgency orders badges, the most urgent first.
var urgency = map[Badge]int{Tampered: 0, InDoubt: 1, Paused: 2, Failed: 3, Stuck: 4, Spoiled: 5, Running: 6, Recovered: 7, NoKey: 8, Done: 9}

func (r Row) urgency() int {
	if len(r.Badges) == 0 {
		return len(urgency)
	}
	return urgency[r.Badges[0]]
}

// has reports whether the run has a badge.
func (r Row) has(b Badge) bool {
	for _, have := range r.Badges {
		if have == b {
			return true
		}
	}
	return false
}
