package jsonfile

import (
	"sync"

	"github.com/flowtui/flowtui/stores"
)

// What a process remembers of journals: so many lines, of which each costs about
// half a kilobyte.
const (
	maxCached  = 50_000
	perJournal = 8 // what a journal costs beside its lines
)

// cache keeps the contents of the journals that were used last.
type cache struct {
	mu    sync.Mutex
	clock uint64
	total int
	runs  map[stores.Key]*cached
}

type cached struct {
	*journal
	used uint64
	cost int
}

func (c *cache) journal(k stores.Key) *journal {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs == nil {
		c.runs = map[stores.Key]*cached{}
	}
	e := c.runs[k]
	if e == nil {
		e = &cached{journal: &journal{contents: contents{key: k}}}
		c.runs[k] = e
	}
	c.clock++
	e.used = c.clock
	return e.journal
}

// note says how long a journal has become, and whether it is worth keeping: one
// that is damaged is read anew each time, so that a repair is seen.
func (c *cache) note(k stores.Key, j *journal, lines int, keep bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.runs[k]
	if e == nil || e.journal != j {
		return
	}
	c.total += lines + perJournal - e.cost
	e.cost = lines + perJournal
	if !keep {
		c.drop(k)
	}
	for c.total > maxCached && len(c.runs) > 1 {
		var oldest stores.Key
		used := c.clock + 1
		for k, e := range c.runs {
			if e.used < used {
				oldest, used = k, e.used
			}
		}
		c.drop(oldest)
	}
}

func (c *cache) drop(k stores.Key) {
	if e := c.runs[k]; e != nil {
		c.total -= e.cost
		delete(c.runs, k)
	}
}
