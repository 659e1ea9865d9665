package engine

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// fabricate signs a finished run of six steps, of which step 3 is a claim. The
// payloads are those given, by step, and sound ones where none is.
func fabricate(t *testing.T, payloads map[int64]string) (stores.Run, *seal.Keyring) {
	t.Helper()
	k, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	keys := seal.NewKeyring(k)
	p := stores.Place{Key: stores.Key{Owner: "default", Run: "a"}, Store: "store", Incarnation: "life"}
	var run stores.Run
	var prev []byte
	for n := range int64(6) {
		c := stores.Checkpoint{Place: p, Step: n, Base: n, Segment: 1, Status: stores.StatusRunning, Payload: []byte(`{"state":{}}`)}
		switch {
		case n == 3:
			c.Base, c.Segment = 2, 2
		case n > 3:
			c.Segment = 2
		}
		if payload, ok := payloads[n]; ok {
			c.Payload = []byte(payload)
		}
		c.Prev = prev
		if c.Seal, err = sign(keys, checkpointHeader(c), c.Payload); err != nil {
			t.Fatal(err)
		}
		prev, run.Checkpoints = c.MAC, append(run.Checkpoints, c)
	}
	h := stores.Head{Place: p, Step: 5, Base: 5, Segment: 2, Status: stores.StatusRunning, Payload: []byte(`{}`)}
	h.Prev = prev
	if h.Seal, err = sign(keys, headHeader(h), h.Payload); err != nil {
		t.Fatal(err)
	}
	run.Head = h
	return run, keys
}

// TestPayloadsThatSpeakAreRead: the payload of a claim says where the call log
// was cut, and the newest one is what a run goes on with. What cannot be read of
// them is told, though it is signed.
func TestPayloadsThatSpeakAreRead(t *testing.T) {
	cut := `{"log":[{"segment":1,"calls":1,"mac":"00"}]}`
	for name, c := range map[string]struct {
		payloads map[int64]string
		want     []string
	}{
		"sound":                    {nil, nil},
		"a claim speaks":           {map[int64]string{3: cut}, []string{"call step=0 n=1 gap"}},
		"a claim cannot be read":   {map[int64]string{3: `{"log":`}, []string{"checkpoint step=3 n=0 unreadable"}},
		"the newest cannot":        {map[int64]string{5: `{"frontier":7}`}, []string{"checkpoint step=5 n=0 unreadable"}},
		"another has nothing else": {map[int64]string{2: cut, 4: cut}, nil},
	} {
		run, keys := fabricate(t, c.payloads)
		report := VerifyRun(keys, "store", run)
		var got []string
		for _, f := range report.Findings {
			got = append(got, fmt.Sprintf("%s step=%d n=%d %s", f.Record, f.Step, f.N, f.Verdict))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// counting counts what is read of a store.
type counting struct {
	*memory.Store
	payloads map[int64]int // by step
}

func (c *counting) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) ([]stores.Checkpoint, error) {
	rows, err := c.Store.History(ctx, k, q)
	for _, r := range rows {
		if q.Payload {
			c.payloads[r.Step]++
		}
	}
	return rows, err
}

func (c *counting) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	row, err := c.Store.Latest(ctx, k)
	c.payloads[row.Step]++
	return row, err
}

func (c *counting) At(ctx context.Context, k stores.Key, step int64) (stores.Checkpoint, error) {
	c.payloads[step]++
	return c.Store.At(ctx, k, step)
}

// TestSoundRunIsReadOnce: each state is read once, however large it is.
func TestSoundRunIsReadOnce(t *testing.T) {
	_, keys := fabricate(t, nil)
	s := memory.New(memory.Options{})
	r, err := New(Config{Store: s, Keys: keys, Worker: "w"})
	if err != nil {
		t.Fatal(err)
	}
	nothing := NodeFunc(func(context.Context, State) (State, error) { return nil, nil })
	f := NewFlow("f").Node("a", nothing).Node("b", nothing).Edge("a", "b")
	k := stores.Key{Owner: "default", Run: "a"}
	if _, err := r.Run(t.Context(), f, Start{Key: k}); err != nil {
		t.Fatal(err)
	}
	c := &counting{s, map[int64]int{}}
	report, err := Verify(t.Context(), c, keys, k)
	if err != nil || report.Verdict != Verified {
		t.Fatal(report, err)
	}
	if want := map[int64]int{0: 1, 1: 1, 2: 1}; !maps.Equal(c.payloads, want) {
		t.Errorf("payloads were read %v times, want %v", c.payloads, want)
	}
}
