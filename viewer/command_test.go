package viewer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

func TestCommand(t *testing.T) {
	b := newBench(t)
	s := b.service(func(o *Options) { o.KeyFlags = []string{"--key-file", "my key"} })
	ref := func(owner, run string) Ref { return Ref{"mem", owner, run} }
	for _, tt := range []struct {
		r    Request
		want string
	}{
		{Request{Ref: ref("default", "order-9"), Action: Approve, Target: "pay.1"}, `flowtui approve mem order-9 --key-file 'my key' --approval pay.1`},
		{Request{Ref: ref("a b", "x'y"), Action: Deny, Note: "no; rm -rf $HOME", Version: "ab12"}, `flowtui deny mem 'x'\''y' --key-file 'my key' --owner 'a b' --if-version ab12 --note 'no; rm -rf $HOME'`},
		{Request{Ref: ref("default", "-x"), Action: Recover, Takeover: true, RerunInDoubt: true}, `flowtui recover --key-file 'my key' --rerun-in-doubt --takeover -- mem -x`},
		{Request{Ref: ref("default", "r"), Action: Answer, Target: "ask.1", Value: json.RawMessage(`"yes"`), NoRun: true}, `flowtui answer mem r --key-file 'my key' --interrupt ask.1 --value yes --no-run`},
		{Request{Ref: ref("default", "r"), Action: Answer, Value: json.RawMessage(`{"a":1.0}`)}, `flowtui answer mem r --key-file 'my key' --json-value '{"a":1.0}'`},
		{Request{Ref: ref("default", "r"), Action: Resolve, Target: "send.1", NotRun: true}, `flowtui resolve mem r send.1 --key-file 'my key' --not-run`},
		{Request{Ref: ref("default", "e\x1b[2J\u202e"), Action: Recover}, `flowtui recover mem $'e\x1b[2J\U0000202e' --key-file 'my key'`},
	} {
		if got := s.Command(tt.r); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func FuzzShellQuote(f *testing.F) {
	f.Add("it's $HOME `x` \\ \"q\"\n\x1b\u202e")
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Skip("no bash")
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsRune(s, 0) || len(s) > 1000 {
			return
		}
		q := shellQuote(s)
		if Scrub(q) != q {
			t.Fatalf("%q is hostile", q)
		}
		cmd := exec.Command(bash, "-c", "printf %s "+q)
		cmd.Env = []string{"LC_ALL=C.UTF-8"}
		if got, err := cmd.Output(); err != nil || string(got) != s {
			t.Fatalf("%q quoted as %s gives %q, %v", s, q, got, err)
		}
	})
}

func TestExplain(t *testing.T) {
	s := newService(Options{})
	k := stores.Key{Owner: "default", Run: "r"}
	for _, tt := range []struct {
		err  error
		code string
		exit int
		hint string
	}{
		{&engine.Error{Class: engine.ErrCheckpointNotFound, Key: k}, "not-found", 3, ""},
		{&engine.Error{Class: engine.ErrCheckpointConflict, Key: k, Hint: "look", Err: stores.ErrConflict}, "conflict", 4, "look"},
		{&engine.Error{Class: engine.ErrRecoveryNeedsDecision, Key: k}, "needs-decision", 5, ""},
		{&engine.Error{Class: engine.ErrCheckpointStoreCorrupt, Key: k}, "corrupt", 6, ""},
		{&engine.Error{Class: engine.ErrRefused, Key: k}, "refused", 7, ""},
		{&engine.Error{Class: engine.ErrFlow, Key: k}, "refused", 7, ""},
		{&engine.Error{Class: engine.ErrFlow}, "usage", 2, ""},
		{&engine.Error{Class: engine.ErrInvalid, Key: k}, "usage", 2, ""},
		{&stores.OpError{Op: "save", Key: k, Class: stores.ErrFull}, "failed", 1, "nothing was saved"},
		{&stores.OpError{Op: "save", Key: k, Class: stores.ErrBusy}, "failed", 1, "nothing was saved"},
		{&stores.OpError{Op: "save", Key: k, Class: stores.ErrUnknown}, "failed", 1, "may or may not have been saved"},
		{&stores.OpError{Op: "save", Key: k, Class: stores.ErrReadOnly}, "refused", 7, ""},
		{&stores.OpError{Op: "save", Key: k, Class: stores.ErrInvalid}, "usage", 2, ""},
		{context.Canceled, "failed", 1, "recovered"},
		{errors.New("x"), "failed", 1, ""},
		{fmt.Errorf("wrapped: %w", Problem{Code: "usage", Message: "m"}), "usage", 2, ""},
	} {
		p := s.Explain(tt.err)
		if p.Code != tt.code || p.Exit() != tt.exit || !strings.Contains(p.Hint, tt.hint) {
			t.Errorf("%v: %+v", tt.err, p)
		}
	}
	p := s.Explain(errors.New("dial postgres://app:CANARY@db: \x1b[2J"))
	if strings.Contains(p.Message, "CANARY") || strings.Contains(p.Message, "\x1b") {
		t.Errorf("%q", p.Message)
	}
}

// Scenario 49: what cannot be attached is an error that says why, never a new store.
func TestScenario49Attach(t *testing.T) {
	no := Format{Name: "other", Sniff: func(context.Context, string) (bool, string, error) { return false, `a file that starts with "PK"`, nil }}
	gone := Format{Name: "file", Sniff: func(context.Context, string) (bool, string, error) {
		return false, "", fmt.Errorf("open: %w", fs.ErrNotExist)
	}}
	b := newBench(t)
	for _, tt := range []struct {
		formats Registry
		code    string
		text    []string
	}{
		{Registry{no, memoryFormat(nil)}, "failed", []string{"looked for other, memory", `starts with "PK"`}},
		{Registry{no, gone}, "not-found", []string{"nothing at x.db"}},
	} {
		o := b.options()
		o.Formats = tt.formats
		_, err := Attach(t.Context(), []string{"x.db"}, o)
		p := explain(err)
		if p.Code != tt.code {
			t.Errorf("%v: %s", err, p.Code)
		}
		for _, part := range tt.text {
			if !strings.Contains(p.Message, part) {
				t.Errorf("%q lacks %q", p.Message, part)
			}
		}
	}
	s := b.service(func(o *Options) { o.ReadOnly = true })
	b.start("tickets", "order-9")
	_, err := s.Act(t.Context(), Request{Ref: s.Find("order-9", ""), Action: Approve}, nil)
	if p := s.Explain(err); p.Exit() != 7 || !strings.Contains(p.Message, "--read-only") {
		t.Errorf("%+v", p)
	}
	if i := s.Stores()[0]; !i.ReadOnly || i.Why != "flowtui was started with --read-only" {
		t.Errorf("%+v", i)
	}
}

// Where a context may have an owner of its own, the default owner is named too:
// without it the command would mean another owner's run.
func TestCommandSaysTheOwnerWhereItMustBe(t *testing.T) {
	b := newBench(t)
	r := Request{Ref: Ref{Store: "mem", Owner: "default", Run: "r"}, Action: Recover}
	if got := b.service().Command(r); strings.Contains(got, "--owner") {
		t.Errorf("%s", got)
	}
	if got := b.service(func(o *Options) { o.SayOwner = true }).Command(r); !strings.Contains(got, "--owner default") {
		t.Errorf("%s", got)
	}
}

// What a raw Service gives is scrubbed for people: a text cannot forge a line
// of the plan that they are asked to agree to.
func TestForPeopleScrubsRawValues(t *testing.T) {
	p := ForPeople(Plan{Claims: "x\n  blocked nothing\x1b[2J", Row: Row{Ref: Ref{Run: "a\nb"}, Run: "a\nb"}})
	if strings.ContainsAny(p.Claims+p.Row.Run, "\n\x1b") || p.Row.Ref.Run != "a\nb" {
		t.Errorf("%q %q %q", p.Claims, p.Row.Run, p.Row.Ref.Run)
	}
}
