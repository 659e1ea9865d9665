package testproxy

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Mood is how a proxy treats everybody, now and then.
type Mood string

// The moods.
const (
	LosesRequests Mood = "loses requests" // see LoseRequest
	LosesReplies  Mood = "loses replies"  // see LoseReply
	Cuts          Mood = "cuts"           // breaks all connections, in the middle of whatever they do
	Delays        Mood = "delays replies" // each by another time, up to LongestDelay
)

// LongestDelay is how long a reply waits at most in the mood Delays.
const LongestDelay = time.Millisecond

// Moods lists them.
func Moods() []Mood { return []Mood{LosesRequests, LosesReplies, Cuts, Delays} }

// Moody puts the proxy into a mood in which one piece of a request in so many
// meets a fault, and every reply a delay. The seed decides which ones in the
// order in which they come. It returns how many have met one so far.
func (p *Proxy) Moody(m Mood, seed uint64, oneIn int) func() int64 {
	var mu sync.Mutex
	var met atomic.Int64
	random := rand.New(rand.NewPCG(seed, seed))
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
	if m == Delays {
		p.delayBy(func() time.Duration {
			met.Add(1)
			return time.Duration(draw(int(LongestDelay)))
		})
		return met.Load
	}
	p.Fault(func([]byte) Fault {
		if draw(oneIn) > 0 {
			return None
		}
		met.Add(1)
		switch m {
		case LosesRequests:
			return LoseRequest
		case LosesReplies:
			return LoseReply
		}
		p.Cut()
		return None
	})
	return met.Load
}
