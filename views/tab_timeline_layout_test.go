package views

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/widget"
)

func widthOf(s string) int { return widget.Width(s) }

// sec is a time, in seconds after an hour.
func sec(s float64) time.Time {
	return time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
}

func ran(node string, from, to float64) viewer.NodeRun {
	return viewer.NodeRun{Node: node, Started: sec(from), Ended: sec(to)}
}

func saved(step, segment int64, at float64, frontier string, nodes ...viewer.NodeRun) viewer.HistoryStep {
	return viewer.HistoryStep{Step: step, Segment: segment, Status: "running", At: strings.Fields(frontier), Time: sec(at), Nodes: nodes}
}

func claimed(step, segment int64, at float64) viewer.HistoryStep {
	h := saved(step, segment, at, "")
	h.Claim = true
	return h
}

func paused(h viewer.HistoryStep) viewer.HistoryStep {
	h.Status = "paused"
	return h
}

func called(step, segment int64, id, status, by string, from, to float64) viewer.Call {
	node, _, _ := strings.Cut(id, ".")
	c := viewer.Call{ID: id, Step: step, Segment: segment, Node: node, Tool: "t_" + node, Status: status, By: by}
	c.State = map[string]viewer.CallState{"pending": viewer.CallWaiting}[status]
	if c.State == "" {
		c.State = viewer.CallState(status)
	}
	a, b := sec(from), sec(to)
	c.Started = &a
	if to > 0 {
		c.Ended = &b
	}
	return c
}

// sketch writes a timeline as one line of text per row.
func sketch(rows []timeRow) string {
	var b strings.Builder
	for _, r := range rows {
		switch {
		case r.divider != "":
			fmt.Fprintf(&b, "%s\n", "-- "+r.divider)
			continue
		case r.step == unsaved:
			b.WriteString("now")
		case r.first:
			fmt.Fprintf(&b, "%d", r.step)
		}
		fmt.Fprintf(&b, "/%d %s", r.segment, r.name)
		if t := took(r.bar); t != "" {
			b.WriteString(" " + t)
		}
		for _, c := range r.calls {
			b.WriteString(" " + c.ID)
		}
		if r.note != "" {
			b.WriteString(" (" + r.note + ")")
		}
		if r.cut {
			b.WriteString(" X")
		}
		if r.open {
			b.WriteString(" >")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestTimelineLayout(t *testing.T) {
	t.Parallel()
	start := saved(0, 1, 0, "a")
	for _, c := range []struct {
		name    string
		history []viewer.HistoryStep
		calls   []viewer.Call
		present present
		want    string
	}{
		{name: "nothing"},
		{name: "two steps", history: []viewer.HistoryStep{start, saved(1, 1, 2, "b", ran("a", 0, 2)), saved(2, 1, 3, "", ran("b", 2, 3))},
			calls: []viewer.Call{called(0, 1, "a.1", "done", "w1", 0, 1), called(0, 1, "a.2", "done", "w1", 1, 2)},
			want:  "0/1 start 0ms\n1/1 a 2.0s a.1 a.2\n2/1 b 1.0s\n"},
		{name: "parallel nodes", history: []viewer.HistoryStep{start, saved(1, 1, 3, "c", ran("a", 0, 2), ran("b", 0, 3))},
			calls: []viewer.Call{called(0, 1, "b.1", "done", "w1", 0, 1), called(0, 1, "a.1", "done", "w1", 0, 1), called(0, 1, "x.1", "done", "w1", 0, 1)},
			want:  "0/1 start 0ms\n1/1 a 2.0s a.1\n/1 b 3.0s b.1 x.1\n"},
		{name: "crash in a call, and a claim", history: []viewer.HistoryStep{start, claimed(1, 2, 1140), saved(2, 2, 1141, "", ran("a", 1140, 1141))},
			calls: []viewer.Call{called(0, 1, "a.1", "resolved", "op1", 1, 600), called(0, 2, "a.2", "done", "w2", 1140, 1141)},
			want:  "0/1 start 0ms\n/1 a 0ms a.1 X\n-- w2 claimed segment 2, 18 minutes later\n2/2 a 1.0s a.2\n"},
		{name: "crash between calls", history: []viewer.HistoryStep{start, claimed(1, 2, 10)}, present: present{holder: "w9"},
			want: "0/1 start 0ms\n/1 a 0ms (the worker was cut off) X\n-- w9 claimed segment 2, 10 seconds later\n"},
		{name: "crash twice", history: []viewer.HistoryStep{start, claimed(1, 2, 10), claimed(2, 3, 20), saved(3, 3, 21, "", ran("a", 20, 21))},
			want: "0/1 start 0ms\n/1 a 0ms (the worker was cut off) X\n-- a worker claimed segment 2, 10 seconds later\n" +
				"/2  0ms (the worker was cut off) X\n-- a worker claimed segment 3, 10 seconds later\n3/3 a 1.0s\n"},
		{name: "pause, decision, claim", history: []viewer.HistoryStep{start, paused(saved(1, 1, 1, "a", ran("a", 0, 1))), claimed(2, 1, 300),
			claimed(3, 2, 301), saved(4, 2, 303, "", ran("a", 301, 303))},
			calls: []viewer.Call{called(0, 1, "a.1", "done", "w1", 0, 0.5), called(0, 2, "a.2", "done", "w2", 301, 302)},
			want: "0/1 start 0ms\n1/1 a 1.0s a.1 (paused at a)\n-- 4 minutes\n2/1 decision 0ms (was stored)\n" +
				"-- w2 claimed segment 2, 1 second later\n4/2 a 2.0s a.2\n"},
		{name: "decisions, the same worker", history: []viewer.HistoryStep{start, paused(saved(1, 1, 1, "a b")), paused(claimed(2, 1, 2)),
			claimed(3, 1, 3), saved(4, 1, 5, "", ran("a", 3, 4), ran("b", 3, 5))},
			calls: []viewer.Call{called(0, 1, "a.1", "done", "w1", 3, 4)},
			want:  "0/1 start 0ms\n1/1 paused 0ms (paused at a, b)\n2/1 decision 0ms (was stored)\n3/1 decision 0ms (was stored)\n4/1 a 1.0s a.1\n/1 b 2.0s\n"},
		{name: "waits for approval", history: []viewer.HistoryStep{start, paused(saved(1, 1, 1, "a"))},
			calls: []viewer.Call{called(0, 1, "a.1", "pending", "w1", 0.5, 0)},
			want:  "0/1 start 0ms\n1/1 paused 0ms a.1 (paused at a)\n"},
		{name: "in doubt", history: []viewer.HistoryStep{start}, calls: []viewer.Call{called(0, 1, "a.1", "started", "w1", 1, 0)},
			present: present{gone: true}, want: "0/1 start 0ms\nnow/1 a 0ms a.1 X\n"},
		{name: "running in a call", history: []viewer.HistoryStep{start}, calls: []viewer.Call{called(0, 1, "a.1", "started", "w1", 1, 0)},
			present: present{alive: true, now: sec(4)}, want: "0/1 start 0ms\nnow/1 a 3.0s a.1 >\n"},
		{name: "running without a call", history: []viewer.HistoryStep{start}, present: present{alive: true, now: sec(2)},
			want: "0/1 start 0ms\nnow/1 a 2.0s >\n"},
		{name: "nobody knows", history: []viewer.HistoryStep{start}, calls: []viewer.Call{called(0, 1, "a.1", "started", "w1", 1, 0)},
			want: "0/1 start 0ms\nnow/1 a 0ms a.1\n"},
		{name: "failed", history: []viewer.HistoryStep{start, {Step: 1, Segment: 1, Status: "failed", Time: sec(2), At: []string{"a"},
			Nodes: []viewer.NodeRun{{Node: "a", Started: sec(1), Ended: sec(2), Error: "HTTP 503"}}}},
			want: "0/1 start 0ms\n1/1 a 1.0s (HTTP 503)\n"},
		{name: "clock that goes back", history: []viewer.HistoryStep{start, saved(1, 1, -60, "b", ran("a", 0, -60)), claimed(2, 2, -600)},
			want: "0/1 start 0ms\n1/1 a clock skew\n/1 b 0ms (the worker was cut off) X\n-- a worker claimed segment 2, clock skew\n"},
		{name: "clock of a worker 10 minutes behind", history: []viewer.HistoryStep{start, claimed(1, 2, -600), saved(2, 2, -599, "", ran("a", -600, -599))},
			want: "0/1 start 0ms\n/1 a 0ms (the worker was cut off) X\n-- a worker claimed segment 2, clock skew\n2/2 a 1.0s\n"},
		{name: "no times", history: []viewer.HistoryStep{{Step: 0, Status: "running"}, {Step: 1, Status: "done", Nodes: []viewer.NodeRun{{Node: "a"}}}},
			want: "0/0 start\n1/0 a\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := sketch(timelineOf(c.history, c.calls, c.present)); got != c.want {
				t.Fatalf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// Whatever the times are, a bar lies inside its lane.
func TestBarsStayInTheirLane(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	odd := []time.Time{{}, time.Unix(0, 0), time.Unix(1<<40, 0), sec(0), sec(-600), sec(1e9)}
	at := func() time.Time {
		if rnd.IntN(3) == 0 {
			return odd[rnd.IntN(len(odd))]
		}
		return sec(float64(rnd.IntN(5000)) / 7)
	}
	for range 2000 {
		var rows []timeRow
		for range 1 + rnd.IntN(6) {
			rows = append(rows, timeRow{first: true, bar: span{at(), at()}})
		}
		a := axisOf(foldWaits(rows))
		for _, width := range []int{1, 2, 10, 200} {
			for _, r := range rows {
				from, to := a.cells(r.bar, width)
				if from < 0 || to < from || to >= width {
					t.Fatalf("width %d, bar %v: %d to %d", width, r.bar, from, to)
				}
			}
		}
	}
}

func TestLongWaitsAreFoldedAndOrderIsKept(t *testing.T) {
	t.Parallel()
	rows := []timeRow{{bar: span{sec(0), sec(2)}}, {bar: span{sec(2), sec(4)}}, {bar: span{sec(4000), sec(4004)}}}
	a := axisOf(rows)
	for i, want := range [][2]int{{0, 24}, {24, 48}, {50, 99}} {
		from, to := a.cells(rows[i].bar, 100)
		if max(from-want[0], want[0]-from, to-want[1], want[1]-to) > 3 {
			t.Errorf("bar %d is %d to %d, want about %v", i, from, to, want)
		}
	}
}

func TestWordsAndTook(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "less than a second", time.Second: "1 second", 90 * time.Second: "1 minute", 19 * time.Minute: "19 minutes",
		3 * time.Hour: "3 hours", 50 * time.Hour: "2 days",
	} {
		if got := words(d); got != want {
			t.Errorf("%v: %q", d, got)
		}
	}
	for _, c := range []struct {
		s    span
		want string
	}{{span{}, ""}, {span{sec(0), sec(0.25)}, "250ms"}, {span{sec(0), sec(1.9)}, "1.9s"}, {span{sec(0), sec(200)}, "3m"}, {span{sec(1), sec(0)}, "clock skew"}} {
		if got := took(c.s); got != c.want {
			t.Errorf("%v: %q", c.s, got)
		}
	}
}
