package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/fixtures/teff"
	"github.com/flowtui/flowtui/viewer"
)

// Whoever chats line by line answers what was shown: a line that was typed to a
// reply does not become the answer to what another one's turn asks meanwhile.
func TestALineAnswersOnlyWhatWasShown(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	key := filepath.Join(dir, "demo.key")
	check(t, os.WriteFile(key, []byte(secret+"\n"), 0o600))
	store := filepath.Join(dir, "demo.db")
	chat := []string{"chat", store, "support", "--flows=" + filepath.Join("testdata", "flows"), "--key-file=" + key, "--yes", "--id", "c"}
	say := func(message string) {
		t.Helper()
		var told bytes.Buffer
		if code := run(t.Context(), append(chat, "--message", message), strings.NewReader(""), &told, &told); code != 0 {
			t.Fatalf("%s: %d, %s", message, code, told.String())
		}
	}
	say("hello")
	say("AB-1234")

	lines, in := io.Pipe()
	shown, out := io.Pipe()
	var told bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- run(t.Context(), chat, lines, out, &told)
		out.Close()
	}()
	if line, err := bufio.NewReader(shown).ReadString('\n'); err != nil || line != "Your code is good.\n" {
		t.Fatalf("%q, %v", line, err)
	}
	say("hello again") // somebody else's, which asks for a code
	if _, err := io.WriteString(in, "ZZ-1111\n"); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 4 || !strings.Contains(told.String(), "turn#1") {
		t.Errorf("the line ended with %d, %s", code, told.String())
	}
	var state bytes.Buffer
	if code := run(t.Context(), []string{"state", store, "c", "--key-file=" + key, "--json"}, strings.NewReader(""), &state, &told); code != 0 || strings.Contains(state.String(), "ZZ-1111") {
		t.Errorf("the state is %s, %s", state.String(), told.String())
	}
}

// A message to a run of teff answers the run as it was shown. Its rows count
// each turn from 0, so the same question in a later turn is another one.
func TestAMessageAnswersARunOfTeffAsItWasShown(t *testing.T) {
	dir := t.TempDir()
	check(t, teff.WriteFiles("main", dir))
	s := attachWorkflow(t, dir, filepath.Join("..", "..", "fixtures", "teff", "workflows", "helpdesk.graph.yaml"))
	defer s.Close()
	turn := func(r viewer.TurnRequest) (viewer.Reply, error) {
		r.Owner, r.Run = "ana", "new-1"
		return s.Turn(t.Context(), r)
	}
	say := func(message string) viewer.Reply {
		t.Helper()
		r, err := turn(viewer.TurnRequest{Message: message})
		check(t, err)
		if now, err := s.Standing(t.Context(), viewer.Ref{Owner: "ana", Run: "new-1"}); err != nil || now.Question != r.Question || now.Prompt != r.Prompt {
			t.Errorf("it stands at %+v, %v, after %+v", now, err, r)
		}
		return r
	}
	asked := say("a refund, please")
	said := say("yes")
	again := say("a refund once more")
	if said.Reply != "Refunded 30." || again.Reply != "" { // which is not of the turn that asks
		t.Errorf("%+v, %+v", said, again)
	}
	if asked.Prompt != again.Prompt || asked.Question == again.Question {
		t.Fatalf("%+v, %+v", asked, again)
	}
	for name, r := range map[string]viewer.TurnRequest{
		"to the question of the turn before": {Message: "yes", Question: asked.Question},
		"to the reply of the turn before":    {Message: "yes", Question: said.Question},
		"that starts the session":            {Message: "yes", New: true},
	} {
		if r, err := turn(r); s.Explain(err).Code != "conflict" {
			t.Errorf("a message %s: %+v, %v", name, r, err)
		}
	}
	if r, err := turn(viewer.TurnRequest{Message: "no", Question: again.Question}); err != nil || r.Reply != "No refund (no)." {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := turn(viewer.TurnRequest{Message: "x", Question: again.Question}); s.Explain(err).Code != "conflict" {
		t.Errorf("answered twice: %+v, %v", r, err)
	}
	_, err := s.Turn(t.Context(), viewer.TurnRequest{Owner: "ana", Run: "new-2", Message: "x", Question: again.Question})
	if s.Explain(err).Code != "not-found" {
		t.Errorf("no session: %v", err)
	}
}
