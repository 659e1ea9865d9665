package testproxy_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/flowtui/flowtui/internal/testproxy"
)

// Some of many requests meet the fault of the mood, the same ones with the same
// seed, and the server gets a request unless the mood loses it.
func TestMoods(t *testing.T) {
	const requests, seed, oneIn = 60, 7, 10
	for _, mood := range testproxy.Moods() {
		t.Run(string(mood), func(t *testing.T) {
			var answered [2][]int
			for round := range answered {
				e := newEcho(t)
				p := testproxy.New(t, e.addr)
				faults := p.Moody(mood, seed, oneIn)
				for n := range requests {
					conn, in := dial(t, p)
					fmt.Fprintf(conn, "request %d.\n", n)
					if _, err := in.ReadString('\n'); err == nil {
						answered[round] = append(answered[round], n)
					} else if mood == testproxy.LosesReplies && !e.heard(fmt.Sprintf("request %d.", n)) {
						t.Errorf("the server did not get request %d", n)
					} else if mood == testproxy.LosesRequests && e.heard(fmt.Sprintf("request %d.", n)) {
						t.Errorf("the server got request %d", n)
					}
				}
				want := int64(requests - len(answered[round]))
				if mood == testproxy.Delays && len(answered[round]) == requests {
					want = requests
				}
				if got := faults(); got != want || got == 0 {
					t.Errorf("%d of %d requests were answered, with %d faults", len(answered[round]), requests, got)
				}
			}
			if !slices.Equal(answered[0], answered[1]) {
				t.Errorf("answered with the same seed: %d and %d", answered[0], answered[1])
			}
		})
	}
}
