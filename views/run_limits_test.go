package views

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// loneRun is the run screen of order-7 alone, with everything read at once.
type loneRun struct {
	*runScreen
	app *App
}

func openRun(t testing.TB, change ...func(*viewstest.Backend)) *loneRun {
	b := viewstest.New()
	viewstest.Recovered(b)
	for _, f := range change {
		f(b)
	}
	app := New(Deps{Backend: b, Clock: func() time.Time { return viewstest.Now }, Context: t.Context()})
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r := &loneRun{newRunScreen(&env{shared: app.shared, id: 99, ctx: ctx}, viewstest.Ref("order-7")).(*runScreen), app}
	r.SetSize(80, 22)
	r.do(r.Init())
	return r
}

func (r *loneRun) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			r.do(c)
		}
	case addressed:
		r.do(r.Update(msg))
		_ = r.View() // as the program does after every message
	}
}

func (r *loneRun) press(keys ...string) {
	for _, k := range keys {
		msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
		if k == "enter" {
			msg = tea.KeyMsg{Type: tea.KeyEnter}
		}
		r.do(r.Update(msg))
		_ = r.View() // as the program does after every message
	}
}

// looks are the things that the screen can show.
var looks = [][]string{
	{"1"}, {"2"}, {"2", "h"}, {"3"}, {"3", "j", "enter"}, {"4"}, {"4", "G", "enter"}, {"4", "/", "x"}, {"4", "D"}, {"5"}, {"5", "enter"}, {"6"},
}

// fits checks that every line fits the size, for many sizes.
func (r *loneRun) fits(t *testing.T) {
	t.Helper()
	for w := range 201 {
		for _, h := range []int{0, 3, 22} {
			r.SetSize(w, h)
			lines := strings.Split(r.View(), "\n")
			if h > 0 && len(lines) != h {
				t.Fatalf("%dx%d: %d lines", w, h, len(lines))
			}
			for _, l := range lines {
				if got := widthOf(l); got > w {
					t.Fatalf("%dx%d: %d cells: %q", w, h, got, l)
				}
			}
		}
	}
}

func TestRunFitsEverySize(t *testing.T) {
	t.Parallel()
	for _, look := range looks {
		t.Run(fmt.Sprint(look), func(t *testing.T) {
			t.Parallel()
			r := openRun(t)
			r.press(look...)
			before := r.View()
			r.fits(t)
			r.SetSize(80, 22)
			if after := r.View(); after != before {
				t.Fatalf("after many sizes\n%s\nwant\n%s", after, before)
			}
		})
	}
}

// spoil puts a text into every text of a value that is shown.
func spoil(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.Type() == reflect.TypeFor[string]() {
			v.SetString(v.String() + text)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() || v.Type() == reflect.TypeFor[viewer.Ref]() {
			return
		}
		for i := range v.NumField() {
			spoil(v.Field(i), text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem(), text)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes(append([]byte(`{"a":1}`), text...))
			return
		}
		for i := range v.Len() {
			spoil(v.Index(i), text)
		}
	}
}

const evil = "\x1b]52;c;AAAA\x07\x1b]0;title\x07\x1b[2J\x1b[10A\x1bPq\x1b\\\x9b2J\u009b2J\x9d\a\b\r\n\t\x7f\u202e\x00👨‍👩‍👧‍👦🎙\ufe0f漢字e\u0301"

func spoilAll(b *viewstest.Backend) {
	ref := viewstest.Ref("order-7")
	d := b.Details[ref]
	d.Waiting = viewstest.Rows()[0].Waiting
	d.Findings = []viewer.Finding{{Record: "call", Verdict: viewer.Forged, Reason: "changed"}}
	d.Error = "failed"
	d.Lease = &viewer.Lease{Holder: "w", Expires: viewstest.Now.Add(time.Hour)}
	d.History[2].Nodes[0].Error = "broken"
	calls, events := b.CallLog[ref], b.EventLog[ref]
	for _, v := range []any{&d, &calls, &events} {
		spoil(reflect.ValueOf(v), evil)
	}
	for i := range calls {
		calls[i].Status = viewstest.Calls()[i].Status
	}
	b.Details[ref], b.CallLog[ref], b.EventLog[ref] = d, calls, events
	b.Infos[0].Key += evil
	b.Report = &viewer.Report{Findings: d.Findings, Problems: []viewer.StoreProblem{{Store: evil, Problem: viewer.Problem{Message: evil}}}}
	b.StateAt = func(_ viewer.Ref, step int64, reveal bool) viewer.StateView {
		v := viewstest.State(step, reveal)
		spoil(reflect.ValueOf(&v.Lines), evil)
		return v
	}
}

func TestScenario36RunShowsNoControlCharacters(t *testing.T) {
	t.Parallel()
	for _, look := range looks {
		t.Run(fmt.Sprint(look), func(t *testing.T) {
			t.Parallel()
			r := openRun(t, spoilAll)
			r.press(look...)
			view := r.View()
			if !utf8.ValidString(view) {
				t.Fatalf("%q", view)
			}
			for _, c := range view {
				if c != '\n' && (c < ' ' || c >= 0x7f && c < 0xa0 || c == 0x202e) {
					t.Fatalf("%U in\n%q", c, view)
				}
			}
			r.fits(t)
		})
	}
}

func TestScenario34GiantValuesAreCut(t *testing.T) {
	t.Parallel()
	r := openRun(t, func(b *viewstest.Backend) {
		calls := b.CallLog[viewstest.Ref("order-7")]
		calls[0].Result = json.RawMessage(`"` + strings.Repeat("x", 30<<20) + `"`)
		b.EventLog[viewstest.Ref("order-7")] = manyEventsOf(60_000)
		b.StateAt = func(_ viewer.Ref, step int64, _ bool) viewer.StateView {
			v := manyLinesOf(20_000)
			v.Cut, v.Size, v.Step = 980_000, 80<<20, 4
			return v
		}
	})
	r.press("4")
	if v := r.View(); !strings.Contains(v, "980000 lines left out") || !strings.Contains(v, "80.0 MB") {
		t.Fatal(v)
	}
	r.press("3", "enter", "G")
	if v := r.View(); !strings.Contains(v, "more bytes left out") {
		t.Fatal(v)
	}
	r.press("5")
	if v := r.View(); !strings.Contains(v, "earlier left out: 10000") || !strings.Contains(v, "60000") {
		t.Fatal(v)
	}
}

func manyEventsOf(n int) []viewer.Event {
	events := make([]viewer.Event, n)
	for i := range events {
		events[i] = viewer.Event{N: int64(i) + 1, Time: viewstest.Now, Type: "call", Data: json.RawMessage(`{"id":"a.1"}`)}
	}
	return events
}

// A key and its frame must be quick whatever the size: 16 ms is one frame of
// a screen.
func BenchmarkStateKeyToFrame(b *testing.B) {
	r := openRun(b, func(f *viewstest.Backend) {
		f.StateAt = func(_ viewer.Ref, step int64, _ bool) viewer.StateView {
			v := manyLinesOf(20_000)
			v.Step = max(step, 4)
			return v
		}
	})
	r.SetSize(140, 38)
	r.press("4", "l")
	for i := 0; b.Loop(); i++ {
		r.press([]string{"j", "l", "j", "j", "h", "k"}[i%6])
		_ = r.View()
	}
}

func BenchmarkDiffStates(b *testing.B) {
	before, after := manyLinesOf(20_000), manyLinesOf(20_000)
	for i := range after.Lines {
		if i%3 == 0 {
			after.Lines[i].Text = "other"
		}
	}
	for b.Loop() {
		t := stateTree{}
		t.set(diffStates(before, after))
	}
}

func BenchmarkTimelineFrame(b *testing.B) {
	var history []viewer.HistoryStep
	var calls []viewer.Call
	for i := range 5000 {
		s := float64(i)
		history = append(history, saved(int64(i), 1, s, "a", ran("a", s-1, s)))
		calls = append(calls, called(int64(i), 1, "a.1", "done", "w1", s, s+0.5))
	}
	r := openRun(b, func(f *viewstest.Backend) {
		d := f.Details[viewstest.Ref("order-7")]
		d.History, f.CallLog[viewstest.Ref("order-7")] = history, calls
		f.Details[viewstest.Ref("order-7")] = d
	})
	r.SetSize(140, 38)
	r.press("2")
	for i := 0; b.Loop(); i++ {
		r.press([]string{"h", "l"}[i%2])
		_ = r.View()
	}
}
