package viewer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

func (b *bench) refs(s *Service, runs ...string) (refs []Ref) {
	for _, r := range runs {
		refs = append(refs, s.Find(r, ""))
	}
	return refs
}

func (b *bench) there(run string) bool {
	_, err := b.store.Latest(b.t.Context(), stores.Key{Owner: "default", Run: run})
	return err == nil
}

// What has not ended stays unless it is forced, and the plan says why, or what is lost.
func TestRemovalKeepsWhatHasNotEnded(t *testing.T) {
	b := newBench(t)
	b.start("plain", "done")
	b.start("nightly", "failed")
	b.start("tickets", "paused")
	b.abandon("running")
	b.crash("mail", "doubt")
	s := b.service()
	refs := b.refs(s, "done", "failed", "paused", "running", "doubt", "missing")
	said := func(plan []Removal) string {
		var lines []string
		for _, r := range plan {
			lines = append(lines, fmt.Sprintf("%s|%s|%s|%s", r.Run, r.Status, r.Kept, r.Loses))
		}
		return strings.Join(lines, "\n")
	}
	plan := get[[]Removal](t)(s.PlanRemoval(t.Context(), refs, false))
	for i, want := range []string{"", "", "it has not ended, it is paused", "it has not ended, it is running", "it has not ended, it is running", "nothing is stored"} {
		if (want == "") != plan[i].Goes() || !strings.Contains(plan[i].Kept, want) {
			t.Errorf("%s: %q, want %q", plan[i].Run, plan[i].Kept, want)
		}
	}
	forced := get[[]Removal](t)(s.PlanRemoval(t.Context(), refs, true))
	for i, want := range []string{"", "", "never be answered", "brought to its end", "email_tickets", ""} {
		if forced[i].Goes() != (i < 5) || !strings.Contains(forced[i].Loses, want) {
			t.Errorf("forced: %s", said(forced[i:i+1]))
		}
	}
	done := get[[]Removed](t)(s.Remove(t.Context(), plan, nil))
	if len(done) != 2 || done[0].Error != nil || done[1].Error != nil {
		t.Errorf("removed %+v", done)
	}
	for run, want := range map[string]bool{"done": false, "failed": false, "paused": true, "running": true, "doubt": true} {
		if b.there(run) != want {
			t.Errorf("%s is there: %v", run, !want)
		}
	}
	if got := get[[]Removed](t)(s.Remove(t.Context(), forced, nil)); len(got) != 5 || got[0].Error == nil || got[4].Error != nil || b.there("doubt") {
		t.Errorf("removed %+v", got)
	}
}

// A run that moved on, or lives anew, since the plan was made is left alone.
func TestRemovalOfWhatChangedSince(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	b.start("plain", "reborn")
	s := b.service()
	plan := get[[]Removal](t)(s.PlanRemoval(t.Context(), b.refs(s, "order-9", "reborn"), true))
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("order-9", ""), Action: Approve}, nil))
	if err := b.store.Delete(t.Context(), stores.Key{Owner: "default", Run: "reborn"}); err != nil {
		t.Fatal(err)
	}
	b.start("plain", "reborn")
	for _, d := range get[[]Removed](t)(s.Remove(t.Context(), plan, nil)) {
		if d.Error == nil || d.Error.Code != codeConflict || !b.there(d.Run) {
			t.Errorf("%+v", d)
		}
	}
}

// Nothing is deleted blindly where the store cannot compare, or may not write.
func TestRemovalIsRefused(t *testing.T) {
	b := newBench(t)
	b.start("plain", "done")
	s := b.service(func(o *Options) { o.ReadOnly = true })
	plan := get[[]Removal](t)(s.PlanRemoval(t.Context(), b.refs(s, "done"), false))
	if !plan[0].Goes() {
		t.Fatalf("read-only: %+v", plan)
	}
	done := get[[]Removed](t)(s.Remove(t.Context(), plan, nil))
	if len(done) != 1 || done[0].Error == nil || done[0].Error.Code != codeRefused || !b.there("done") {
		t.Errorf("read-only: %+v", done)
	}
	blind := b.service(func(o *Options) { o.Formats[0].Open = opens(bare{b.store}) })
	if plan := get[[]Removal](t)(blind.PlanRemoval(t.Context(), b.refs(blind, "done"), true)); plan[0].Goes() || plan[0].Code != codeRefused {
		t.Errorf("without comparison: %+v", plan)
	}
	noKey := b.service(func(o *Options) { o.Keys = nil })
	if plan := get[[]Removal](t)(noKey.PlanRemoval(t.Context(), b.refs(noKey, "done"), false)); plan[0].Goes() {
		t.Error("a run that cannot be verified goes without being forced")
	}
}

func opens(s stores.Store) func(context.Context, string, bool) (stores.Store, error) {
	return func(context.Context, string, bool) (stores.Store, error) { return s, nil }
}

// unsound is a store that cannot compare a run that was tampered with.
type unsound struct{ *memory.Store }

func (unsound) DeleteAt(_ context.Context, k stores.Key, _ string, _ int64) error {
	return fmt.Errorf("%w: the head does not belong to it", stores.ErrUnreadable)
}

// By force a run goes also when there is nothing left to compare it with, but
// never one that was sound when it was looked at.
func TestRemovalOfWhatCannotBeCompared(t *testing.T) {
	b := newBench(t)
	b.start("plain", "sound")
	b.start("plain", "forged")
	r := get[stores.Run](t)(stores.ReadRun(t.Context(), b.store, stores.Key{Owner: "default", Run: "forged"}))
	r.Head.Payload = []byte("{}")
	if err := errors.Join(b.store.Delete(t.Context(), r.Key()), b.store.Import(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	s := b.service(func(o *Options) { o.Formats[0].Open = opens(unsound{b.store}) })
	plan := get[[]Removal](t)(s.PlanRemoval(t.Context(), b.refs(s, "sound", "forged"), true))
	done := get[[]Removed](t)(s.Remove(t.Context(), plan, nil))
	if len(done) != 2 || done[0].Error == nil || !b.there("sound") || done[1].Error != nil || b.there("forged") {
		t.Errorf("%+v", done)
	}
}

// A run that a worker is on says whom a deletion would cut off.
func TestRemovalNamesTheWorker(t *testing.T) {
	b := newBench(t)
	b.abandon("running")
	k := stores.Key{Owner: "default", Run: "running"}
	if _, err := b.store.Acquire(t.Context(), k, "worker-9", time.Hour, true); err != nil {
		t.Fatal(err)
	}
	s := b.service()
	plan := get[[]Removal](t)(s.PlanRemoval(t.Context(), b.refs(s, "running"), true))
	if !strings.Contains(plan[0].Loses, "worker-9 works on it") {
		t.Errorf("%+v", plan)
	}
}
