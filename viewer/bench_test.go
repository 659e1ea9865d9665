package viewer

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
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
