package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/flowtui/flowtui/viewer"
)

func jsonText(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	if err := writeJSON(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestJSONIsSafeOnATerminalAndMeansTheSame(t *testing.T) {
	hostile := "esc\x1b]52;c;x\x07 del\x7f c1\u009b bidi\u202e\u2066 sep\u2028\u2029 zero\u200b\ufeff tag\U000e0041 <&> é 漢 \\u0041"
	quoted, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{
		"string":      map[string]string{hostile: hostile},
		"raw":         map[string]json.RawMessage{"x": quoted},
		"raw unquote": json.RawMessage("{\"\x7f\u009b\":\"\u202e\U000e0041\"}"),
	} {
		t.Run(name, func(t *testing.T) {
			text := jsonText(t, v)
			for _, r := range strings.TrimSuffix(text, "\n") {
				if r < ' ' || r >= 0x7f && r < 0xa0 || strings.ContainsRune("\u202e\u2066\u2028\u2029\u200b\ufeff\U000e0041", r) {
					t.Errorf("%q is printed as it is: %q", r, text)
				}
			}
			var got, want any
			plain, _ := json.Marshal(v)
			if json.Unmarshal([]byte(text), &got) != nil || json.Unmarshal(plain, &want) != nil {
				t.Fatalf("not JSON: %q", text)
			}
			if a, b := jsonText(t, got), jsonText(t, want); a != b {
				t.Errorf("value changed: %q, want %q", a, b)
			}
		})
	}
	if got := jsonText(t, json.RawMessage("\"\x9b\xff\"")); strings.IndexByte(got, 0x9b) >= 0 || strings.IndexByte(got, 0xff) >= 0 {
		t.Errorf("bytes that are no UTF-8 are printed: %q", got)
	}
}

func TestNumbersAndLettersStayAsStored(t *testing.T) {
	const raw = `{"a":1.0,"b":9007199254740993,"c":1E+400,"d":-0.0,"e":"<&>","a":2}`
	if got := jsonText(t, json.RawMessage(raw)); got != raw+"\n" {
		t.Errorf("got %s", got)
	}
}

func TestEmptyListsAreBrackets(t *testing.T) {
	plan := viewer.Plan{Run: "r", Rerun: []viewer.Call{{}}}
	got := jsonText(t, plan)
	for _, want := range []string{`"replay":[]`, `"in_doubt":[]`, `"decision":null`, `"lease":null`, `"blocked":null`, `"args":null`, `"started":null`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if plan.Replay != nil {
		t.Error("the value itself was changed")
	}
	if got := jsonText(t, []viewer.Row(nil)); got != "[]\n" {
		t.Errorf("no rows: %s", got)
	}
	if got := jsonText(t, []viewer.Row{{}}); !strings.Contains(got, `"badges":[]`) || !strings.Contains(got, `"waiting":[]`) || !strings.Contains(got, `"at":[]`) {
		t.Errorf("a row: %s", got)
	}
}

func TestTextsDoNotSteerTheTerminal(t *testing.T) {
	var b bytes.Buffer
	a := &app{stderr: &b}
	a.report(viewer.Problem{Message: "bad \x1b[2J \u202e name", Hint: "line\rforged"})
	if strings.ContainsAny(b.String(), "\x1b\r\u202e") || strings.Count(b.String(), "\n") != 2 {
		t.Errorf("printed %q", b.String())
	}
}

func TestTableAlignsByCells(t *testing.T) {
	var b bytes.Buffer
	var tab table
	tab.add("漢字", "x")
	tab.add("abcdef", "y")
	tab.add("é", "z", "tail")
	tab.write(&b)
	if want := "漢字    x\nabcdef  y\né       z  tail\n"; b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

// What tells a run's standing stays whole; names are cut in their middle, and
// only then what a run waits for is cut at its end.
func TestListFitsTheTerminal(t *testing.T) {
	now := time.Now()
	row := func(run, flow string) viewer.Row {
		return viewer.Row{Run: run, Flow: flow, Owner: "tenant-" + strings.Repeat("0", 60) + "-eu", Status: "paused", Badges: []viewer.Badge{viewer.Paused},
			At: []string{"pay"}, Step: 7, Updated: now.Add(-90 * time.Minute), Waiting: []viewer.Waiting{{Type: viewer.WaitApproval, Tool: "charge_card"}}}
	}
	id := "order-" + strings.Repeat("9", 150) + "-a7"
	rows := []viewer.Row{row(id, "tickets"), row("order-9", strings.Repeat("漢", 60))}
	for _, width := range []int{80, 100, 200, 0} {
		var b, said bytes.Buffer
		a := &app{stderr: &said}
		a.rows(&b, rows, true, width)
		lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
		for _, l := range lines {
			if w := ansi.StringWidth(l); width > 0 && w > width {
				t.Errorf("%d: a line of %d cells: %q", width, w, l)
			}
		}
		for _, l := range lines[1:] {
			if !strings.Contains(l, " paused ") || !strings.Contains(l, " approve charge_card ") || !strings.HasSuffix(l, "  1h") {
				t.Errorf("%d: what matters is cut: %q", width, l)
			}
		}
		whole := strings.Contains(b.String(), id)
		switch {
		case whole != (width == 0):
			t.Errorf("%d: the id is whole: %v\n%s", width, whole, b.String())
		case width > 0 && (!strings.Contains(lines[1], "  orde") || !strings.Contains(lines[1], "-a7 ") || !strings.Contains(said.String(), "| cat")):
			t.Errorf("%d: %q\n%s", width, lines[1], said.String())
		case width == 0 && said.Len() > 0:
			t.Errorf("said %q", said.String())
		}
	}
}

// A long question yields before the age does; it is a few words everywhere.
func TestListCutsWhatIsAskedLast(t *testing.T) {
	question := strings.Repeat("Is the plan as it should be? ", 10) + "Really?"
	rows := []viewer.Row{{Run: "trip-2", Flow: "trip", Status: "paused", Badges: []viewer.Badge{viewer.Paused}, Updated: time.Now().Add(-time.Hour),
		Waiting: []viewer.Waiting{{Type: viewer.WaitInterrupt, Key: "ok", Prompt: question}}}}
	for width, want := range map[int]string{60: "  1h", 80: "  1h", 0: "~  1h"} {
		var b, said bytes.Buffer
		a := &app{stderr: &said}
		a.rows(&b, rows, false, width)
		l := strings.Split(b.String(), "\n")[1]
		if !strings.HasSuffix(l, want) || !strings.Contains(l, "trip-2") || width > 0 && ansi.StringWidth(l) > width || said.Len() > 0 {
			t.Errorf("%d: %q, said %q", width, l, said.String())
		}
	}
}

func TestAge(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for want, ago := range map[string]time.Duration{
		"0s": -time.Second, "59s": 59 * time.Second, "2m": 150 * time.Second, "47h": 47*time.Hour + 59*time.Minute,
		"3d": 80 * time.Hour, "clock skew": -time.Minute,
	} {
		if got := age(now, now.Add(-ago)); got != want {
			t.Errorf("%s ago: %s, want %s", ago, got, want)
		}
	}
	if got := age(now, time.Time{}); got != "-" {
		t.Errorf("no time: %s", got)
	}
}

func TestASCII(t *testing.T) {
	for _, c := range []struct {
		goos, name, value string
		want              bool
	}{
		{"linux", "LANG", "en_US.UTF-8", false}, {"linux", "LC_ALL", "C.utf8", false}, {"linux", "LANG", "C", true},
		{"linux", "X", "", true}, {"windows", "X", "", false}, {"linux", "LC_CTYPE", "UTF-8", false},
	} {
		getenv := func(name string) string {
			if name == c.name {
				return c.value
			}
			return ""
		}
		if got := ascii(c.goos, getenv); got != c.want {
			t.Errorf("%v: %v", c, got)
		}
	}
}

// The plan says with what error a call failed, and what that means for one that
// is made again.
func TestPlanTellsWhatFailed(t *testing.T) {
	failed := viewer.Call{ID: "pay.1", Tool: "charge_card", Status: "done", Args: json.RawMessage(`{"amount":249}`), Error: "HTTP 504\nfrom the bank"}
	safe := failed
	safe.ID, safe.Idempotent = "look.1", true
	taken := viewer.Call{ID: "hold.1", Tool: "hold_seats", Status: "done", Error: "sold out"}
	fine := viewer.Call{ID: "send.1", Tool: "email_tickets", Status: "resolved"}
	var b bytes.Buffer
	(&app{}).plan(&b, viewer.Plan{Run: "order-9", Action: "recover", Replay: []viewer.Call{taken}, Rerun: []viewer.Call{failed, safe, fine}})
	lines := strings.Split(b.String(), "\n")
	for i, want := range []string{
		`replays  hold.1 hold_seats `, `         failed: sold out`,
		`reruns   pay.1 charge_card {"amount":249}`, `         failed: HTTP 504 from the bank; it may have had its effect, runs again`,
		`reruns   look.1 charge_card {"amount":249}`, `         failed: HTTP 504 from the bank, runs again`,
		`reruns   send.1 email_tickets `, `version  `,
	} {
		if got := lines[2+i]; !strings.HasPrefix(got, "  "+want) {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
}

const sentence = "the call charge_card runs with these arguments, its result is recorded as order-9 of 2026-01-02, and then the run ends"

// What is broken for a terminal is broken at spaces only, keeps every word, and is
// no wider than the terminal, whatever stands before it.
func TestSentencesAreBrokenAtSpaces(t *testing.T) {
	for width := leastRoom; width < 130; width++ {
		for _, head := range []string{"", "  blocked  ", "approve order-9 (note: a good one): ", strings.Repeat("x", 79) + " ", strings.Repeat("x", 200) + " "} {
			for name, text := range map[string]string{"wrapped": wrapped(width, head, sentence), "continued": continued(width, head, sentence) + "? [y/N] "} {
				if name == "continued" && head == "" {
					continue // it has a head
				}
				body, ok := strings.CutPrefix(text, head)
				if !ok || strings.Join(strings.Fields(body), " ") != strings.TrimSpace(sentence+strings.TrimPrefix("? [y/N] ", map[string]string{"wrapped": "? [y/N] "}[name])) {
					t.Fatalf("%s at %d behind %q: %q", name, width, head, text)
				}
				lines := strings.Split(text, "\n")
				if name == "continued" {
					lines[0] = lines[0][(len(head)-1)/width*width:] // of a head of several lines the last
				} else if width-len(head) < leastRoom {
					continue // there is no room for it
				}
				for _, line := range lines {
					if ansi.StringWidth(strings.TrimSuffix(line, " ")) > width {
						t.Errorf("%s at %d behind %q: line %q", name, width, head, line)
					}
				}
			}
		}
	}
	if got := linesOf("the flag --rerun-in-doubt \ue000", 20); !slices.Equal(got, []string{"the flag", "--rerun-in-doubt", `\u{e000}`}) {
		t.Errorf("%q", got) // a character of private use is shown as what it is, and a flag stays whole
	}
	if got := wrapped(0, "  ", sentence) + continued(0, "x ", sentence); got != "  "+sentence+"x "+sentence {
		t.Errorf("%q", got)
	}
}

func TestTheLastColumnIsBrokenAtSpaces(t *testing.T) {
	var one table
	one.add("", "RUN", "WHY")
	one.add("stays", "order-9", sentence)
	one.wrapLast(60)
	var b strings.Builder
	one.write(&b)
	want := `       RUN      WHY
stays  order-9  the call charge_card runs with these
                arguments, its result is recorded as order-9
                of 2026-01-02, and then the run ends
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
