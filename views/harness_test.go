package views_test

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

// updating reports that -update was given, a flag that teatest brings along.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// harness drives the program without a terminal: commands run when the test
// says so, and the clock moves when the test says so.
type harness struct {
	*testing.T
	app     *views.App
	backend *viewstest.Backend
	now     time.Time
	pending []tea.Cmd
	copied  []string
	quit    bool

	suspended bool
	w, h      int
}

func start(t *testing.T, w, h int, change ...func(*viewstest.Backend)) *harness {
	t.Helper()
	x := opened(t, w, h, false, change...)
	x.run()
	return x
}

// opened is a program whose first reads are still under way.
func opened(t *testing.T, w, h int, ascii bool, change ...func(*viewstest.Backend)) *harness {
	t.Helper()
	x := &harness{T: t, backend: viewstest.New(), now: viewstest.Now, w: w, h: h}
	for _, f := range change {
		f(x.backend)
	}
	x.app = views.New(views.Deps{
		Backend: x.backend, Clock: func() time.Time { return x.now }, Context: t.Context(), ASCII: ascii,
		Clipboard: func(s string) { x.copied = append(x.copied, s) },
	})
	x.pending = append(x.pending, x.app.Init())
	x.send(tea.WindowSizeMsg{Width: w, Height: h})
	return x
}

// send gives the program a message and keeps what it wants done.
func (x *harness) send(msg tea.Msg) {
	_, cmd := x.app.Update(msg)
	x.pending = append(x.pending, cmd)
}

// run does all that is pending, and what follows from it. Commands that wait
// (ticks, notices, held actions) are left behind.
func (x *harness) run() {
	x.Helper()
	for rounds := 0; len(x.pending) > 0; rounds++ {
		if rounds > 1000 {
			x.Fatal("the program never comes to rest")
		}
		cmd := x.pending[0]
		x.pending = x.pending[1:]
		if msg, ok := result(cmd); ok {
			x.handle(msg)
		}
	}
}

func (x *harness) handle(msg tea.Msg) {
	x.Helper()
	switch msg := msg.(type) {
	case nil:
	case tea.Cmd:
		x.Fatal("a command returned a command, which would be dropped")
	case tea.QuitMsg:
		x.quit = true
	case tea.SuspendMsg:
		x.suspended = true
	case tea.BatchMsg:
		x.pending = append(x.pending, msg...)
	default:
		x.send(msg)
	}
}

// prompt are the commands that always end: they are waited for, however busy
// the machine is.
var prompt = regexp.MustCompile(`\.(ask\[|Batch\.|send\.|copyText\.|watch\.)`)

// result runs a command. One that may wait by its nature gets a moment.
func result(cmd tea.Cmd) (tea.Msg, bool) {
	if cmd == nil {
		return nil, false
	}
	moment := 30 * time.Millisecond
	if prompt.MatchString(runtime.FuncForPC(reflect.ValueOf(cmd).Pointer()).Name()) {
		moment = time.Minute
	}
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	select {
	case m := <-done:
		return m, true
	case <-time.After(moment):
		return nil, false
	}
}

// keys types keys, by name, one after the other, and does what follows from each.
func (x *harness) keys(names ...string) {
	x.Helper()
	for _, n := range names {
		if n == pause {
			x.settle()
			continue
		}
		x.now = x.now.Add(typing / 2)
		x.press(n)
		x.run()
		x.rest()
		x.run()
	}
}

// rest lets half of the time to the next key pass.
func (x *harness) rest() {
	x.now = x.now.Add(typing / 2)
	x.send(views.Rested(x.app))
}

// burst types keys without any time between them.
func (x *harness) burst(names ...string) {
	x.Helper()
	for _, n := range names {
		x.press(n)
		x.run()
	}
}

const (
	// typing is the time from key to key of somebody who types fast.
	typing = 200 * time.Millisecond
	// pause among keys is the moment that a person needs to look.
	pause = "pause"
)

// press types a key and leaves pending what follows.
func (x *harness) press(name string) { x.send(keyMsg(name)) }

func (x *harness) paste(text string) {
	x.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
	x.run()
}

var named = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "up": tea.KeyUp, "down": tea.KeyDown, "tab": tea.KeyTab,
	"ctrl+c": tea.KeyCtrlC, "ctrl+z": tea.KeyCtrlZ, "ctrl+d": tea.KeyCtrlD, "ctrl+u": tea.KeyCtrlU, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp,
	"end": tea.KeyEnd, "home": tea.KeyHome, "backspace": tea.KeyBackspace, "left": tea.KeyLeft, "ctrl+j": tea.KeyCtrlJ,
}

func keyMsg(name string) tea.KeyMsg {
	if k, ok := named[name]; ok {
		return tea.KeyMsg{Type: k}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// wait moves the clock and lets the program notice.
func (x *harness) wait(d time.Duration) {
	x.now = x.now.Add(d)
	x.send(views.Tick(x.now))
	x.run()
}

// changed tells the program that the store changed.
func (x *harness) changed() {
	x.send(views.Changed())
	x.run()
}

func (x *harness) view() string { return x.app.View() }

func (x *harness) sees(want ...string) {
	x.Helper()
	for _, w := range want {
		if !strings.Contains(x.view(), w) {
			x.Fatalf("no %q in\n%s", w, x.view())
		}
	}
}

func (x *harness) seesNot(unwanted ...string) {
	x.Helper()
	for _, w := range unwanted {
		if strings.Contains(x.view(), w) {
			x.Fatalf("%q in\n%s", w, x.view())
		}
	}
}

// line is the first line of the screen that contains s.
func (x *harness) line(s string) string {
	x.Helper()
	for _, l := range strings.Split(x.view(), "\n") {
		if strings.Contains(l, s) {
			return l
		}
	}
	x.Fatalf("no line with %q in\n%s", s, x.view())
	return ""
}

// exact checks that the screen has the size of the window.
func (x *harness) exact(w, h int) {
	x.Helper()
	lines := strings.Split(x.view(), "\n")
	if len(lines) > h {
		x.Fatalf("%dx%d: %d lines", w, h, len(lines))
	}
	for i, l := range lines {
		if got := ansi.StringWidth(l); got > w {
			x.Fatalf("%dx%d: line %d is %d cells: %q", w, h, i, got, l)
		}
	}
}

// golden compares the screen with testdata.
func (x *harness) golden(name string) {
	x.Helper()
	x.exact(x.w, x.h)
	lines := strings.Split(x.view(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got := strings.Join(lines, "\n") + "\n"
	if strings.ContainsRune(got, '\x1b') {
		x.Fatalf("escape in a plain screen: %q", got)
	}
	path := filepath.Join("testdata", name+".golden")
	if updating() {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			x.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		x.Fatal(err)
	}
	if got != string(want) {
		x.Errorf("%s differs (go test -update writes it)\ngot\n%s\nwant\n%s", path, got, want)
	}
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %#v\nwant %#v", got, want)
	}
}

// unbatch gives the commands that were returned together.
func unbatch(cmds []tea.Cmd) []tea.Cmd {
	var all []tea.Cmd
	for _, c := range cmds {
		if c == nil {
			continue
		}
		m := c()
		if b, ok := m.(tea.BatchMsg); ok {
			all = append(all, unbatch(b)...)
			continue
		}
		all = append(all, func() tea.Msg { return m })
	}
	return all
}
