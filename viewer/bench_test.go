package viewer

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/internal/teststores"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
	"github.com/flowtui/flowtui/stores/storetest"
)

// states are shapes of large values.
var states = map[string]func(size int) []byte{
	"image": func(n int) []byte {
		data := make([]byte, n*3/4)
		r := rand.NewChaCha8([32]byte{})
		r.Read(data)
		return []byte(`{"messages":[{"image":"` + base64.StdEncoding.EncodeToString(data) + `"}]}`)
	},
	"records": func(n int) []byte {
		return []byte("[" + strings.Repeat(`{"id":12345,"name":"Zoe","note":"held A4, A5 at 10:30","tags":["a","b"]},`, n/76) + "1]")
	},
	"numbers": func(n int) []byte { return []byte("[" + strings.Repeat("1.25,", n/5) + "1]") },
}

func BenchmarkState(b *testing.B) {
	for name, of := range states {
		raw := of(50 << 20)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				m := maskValid(raw)
				linesOf(m, browsing)
				boundary{mask: true, scrub: true}.json(m.JSON, true)
			}
		})
	}
}

func BenchmarkListPage(b *testing.B) {
	t := newBench(&testing.T{})
	for i := range 100 {
		if _, err := t.runner("w").Run(b.Context(), t.flows.flows["plain"], engine.Start{Key: stores.Key{Run: fmt.Sprint(i)}}); err != nil {
			b.Fatal(err)
		}
	}
	s, err := Attach(b.Context(), []string{"mem"}, t.options())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if p, err := s.List(b.Context(), Query{}); err != nil || len(p.Rows) != 100 {
			b.Fatal(err)
		}
	}
}

// verified are the sizes of what is verified: runs of so many steps with a
// state of so many bytes.
var verified = []struct{ runs, steps, state int }{{40, 25, 1 << 10}, {16, 12, 64 << 10}, {4, 12, 2 << 20}}

// BenchmarkVerify prints the bytes that a verification of a whole store signs
// anew per second, and its rate as a share of two floors': the bare HMAC over as
// many bytes in as many rows, and the same with reading each row once from the
// store. Both have as many goroutines as a verification.
func BenchmarkVerify(b *testing.B) {
	for _, kind := range append([]string{"memory"}, teststores.Kinds()...) {
		b.Run(kind, func(b *testing.B) {
			var host *teststores.Host
			if kind != "memory" {
				host = teststores.NewHost(b, kind)
			}
			for _, size := range verified {
				t := newBench(&testing.T{})
				store := teststores.Store(memory.New(memory.Options{}))
				if host != nil {
					var err error
					if store, err = host.Fresh().Open(b.Context(), teststores.Kill); err != nil {
						b.Fatal(err)
					}
				}
				defer store.Close()
				keys := chains(b, t, store, size.runs, size.steps, size.state)
				b.Run(fmt.Sprintf("state=%d", size.state), func(b *testing.B) { benchVerify(b, t, store, keys) })
			}
		})
	}
}

// chains makes runs of so many supersteps.
func chains(b *testing.B, t *bench, store stores.Store, runs, steps, state int) (keys []stores.Key) {
	r, err := engine.New(engine.Config{Store: store, Keys: t.keys, Worker: "w"})
	if err != nil {
		b.Fatal(err)
	}
	f := engine.NewFlow("chain")
	for i := range steps {
		f.Node(fmt.Sprint("n", i), engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, nil }))
		if i > 0 {
			f.Edge(fmt.Sprint("n", i-1), fmt.Sprint("n", i))
		}
	}
	for i := range runs {
		k := stores.Key{Owner: stores.DefaultOwner, Run: fmt.Sprint("run-", i)}
		if _, err := r.Run(b.Context(), f, engine.Start{Key: k, State: engine.State{"text": strings.Repeat("0123456789abcdef", state/16)}}); err != nil {
			b.Fatal(err)
		}
		keys = append(keys, k)
	}
	return keys
}

func benchVerify(b *testing.B, t *bench, store teststores.Store, keys []stores.Key) {
	o := t.options()
	o.Formats = Registry{memoryFormat(map[string]stores.Store{"store": store})}
	s, err := Attach(b.Context(), []string{"store"}, o)
	if err != nil {
		b.Fatal(err)
	}
	rows, bytes := 0, 0
	messages := make([][][]byte, len(keys))
	for i, k := range keys {
		if messages[i], err = signedBytes(b.Context(), store, k); err != nil {
			b.Fatal(err)
		}
		rows += len(messages[i]) / 2
		for _, m := range messages[i] {
			bytes += len(m)
		}
	}
	took := storetest.BenchAgainst(b, "row", rows, func() error {
		report, err := s.Verify(b.Context(), VerifyRequest{})
		if err == nil && report.Verified != len(keys) {
			err = fmt.Errorf("%d of %d runs verified: %v", report.Verified, len(keys), report.Findings)
		}
		return err
	}, storetest.Floor{Name: "hmac", Do: func() error {
		return bareHMAC(len(keys), func(i int) ([][]byte, error) { return messages[i], nil })
	}}, storetest.Floor{Name: "reading", Do: func() error {
		return bareHMAC(len(keys), func(i int) ([][]byte, error) { return signedBytes(b.Context(), store, keys[i]) })
	}})
	b.ReportMetric(float64(bytes)/took.Seconds()/1e6, "MB/s")
}

// signedBytes are what the signatures of a run's rows cover: each payload, and
// as large a header as the test vector of docs/signing.md has.
func signedBytes(ctx context.Context, store teststores.Store, k stores.Key) (messages [][]byte, err error) {
	const header = 327
	steps, err1 := store.History(ctx, k, stores.HistoryQuery{Payload: true})
	calls, err2 := store.Calls(ctx, k, 0)
	events, err3 := store.Events(ctx, k, 0, 0)
	head, err4 := store.Head(ctx, k)
	add := func(payload []byte) { messages = append(messages, make([]byte, header), payload) }
	for _, c := range steps {
		add(c.Payload)
	}
	for _, c := range calls {
		add(c.Payload)
	}
	for _, e := range events {
		add(e.Payload)
	}
	add(head.Payload)
	return messages, errors.Join(err1, err2, err3, err4)
}

// bareHMAC signs the messages of so many runs, each in two parts.
func bareHMAC(runs int, messages func(i int) ([][]byte, error)) error {
	errs := make([]error, verifiers)
	var wg sync.WaitGroup
	for worker := range verifiers {
		wg.Go(func() {
			h := hmac.New(sha256.New, make([]byte, 32))
			var sum [sha256.Size]byte
			for i := worker; i < runs; i += verifiers {
				parts, err := messages(i)
				if err != nil {
					errs[worker] = err
					return
				}
				for p := 0; p < len(parts); p += 2 {
					h.Reset()
					h.Write(parts[p])
					h.Write(parts[p+1])
					h.Sum(sum[:0])
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
