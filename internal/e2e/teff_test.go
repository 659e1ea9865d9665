package e2e

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/fixtures/teff"
)

// TestDemoHasAStoreOfTeff: it lists every run that was recorded in it, and one
// of them is answered and run on with the workflow that lies beside it.
func TestDemoHasAStoreOfTeff(t *testing.T) {
	d := newDemo(t)
	store, workflows := filepath.Join(d.dir, "teff.db"), filepath.Join(d.dir, "teff-flows")
	type run struct {
		Owner, Run, Verdict, Kind, Native string
	}
	record, err := teff.Recorded()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, r := range record.Runs {
		if r.Store == "sqlite_history" {
			want[r.Owner+"\x00"+r.ID] = r.Saved.Status
		}
	}
	got := map[string]string{}
	for _, r := range decode[[]run](t, d.flowtui(t, "ls", store, "--owner", "*", "--limit", "500", "--json").stdout) {
		if r.Kind != "teff" || r.Verdict != "unsigned" {
			t.Errorf("%+v", r)
		}
		if _, is := want[r.Owner+"\x00"+r.Run]; is { // nested runs are listed too
			got[r.Owner+"\x00"+r.Run] = r.Native
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("recorded (-) and listed (+):\n%s", diff)
	}

	answer := []string{"answer", store, "cart:8811", "--flow", filepath.Join(workflows, "discount.graph.yaml"), "--yes", "--json", "--value"}
	if r := d.flowtui(t, append(answer, "AB-1234")...); r.code != 0 || decode[row](t, r.stdout).Status != "done" {
		t.Errorf("answer: %d %s %s", r.code, r.stdout, r.stderr)
	}
}
