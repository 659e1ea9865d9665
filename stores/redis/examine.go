package redis

import (
	"context"
	"fmt"
	"strings"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores"
)

// Examine implements stores.Examiner. The user needs INFO for the facts about
// the server; without it only the clock is told.
func (s *Store) Examine(ctx context.Context) (stores.Examination, error) {
	var info *client.StringCmd
	now, err := s.read(ctx, lenient, func(p client.Pipeliner) { info = p.Info(ctx) })
	if err != nil {
		return stores.Examination{}, s.wrap("examine", stores.Key{}, err)
	}
	e := stores.Examination{Bytes: -1}
	if s.mayAskTime() {
		e.Clock = now
	}
	e.Facts = append(e.Facts, stores.Fact{Name: "prefix", Value: s.conf.prefix}, lifetimeFact(s.conf.ttl.String(), s.conf.ttl > 0))
	if info.Err() != nil {
		e.Facts = append(e.Facts, stores.Fact{Name: "server", Value: fmt.Sprintf("not told: %v", info.Err())})
		return e, nil
	}
	e.Facts = append(e.Facts, serverFacts(parseInfo(info.Val()))...)
	return e, nil
}

func lifetimeFact(ttl string, expires bool) stores.Fact {
	f := stores.Fact{Name: "ttl", Value: "none, runs stay"}
	if expires {
		f.Value = ttl + " after the last write, never while paused; as this URL says it, a worker's may differ"
	}
	return f
}

// parseInfo reads the answer to INFO: lines of name:value.
func parseInfo(text string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			values[name] = value
		}
	}
	return values
}

func serverFacts(info map[string]string) []stores.Fact {
	server := stores.Fact{Name: "server", Value: "Redis " + info["redis_version"] + ", " + info["role"]}
	if info["master_link_status"] == "down" {
		server.Problem = "its link to the primary is down, so what it shows is old"
	}
	memory := stores.Fact{Name: "memory", Value: fmt.Sprintf("%s used by the whole server", info["used_memory_human"])}
	if info["maxmemory"] != "0" && info["maxmemory"] != "" {
		memory.Value += fmt.Sprintf(" of %s, then %s", info["maxmemory_human"], info["maxmemory_policy"])
		if info["maxmemory_policy"] != "noeviction" {
			memory.Problem = "a full server drops runs: set maxmemory-policy to noeviction"
		}
	}
	disk := stores.Fact{Name: "append-only file", Value: "on"}
	switch {
	case info["aof_enabled"] != "1":
		disk.Value = "off: a crash of the server loses what was written since its last snapshot"
	case info["aof_last_write_status"] == "err":
		disk.Problem = "the server cannot write its append-only file, so a crash loses what it acknowledges now"
	}
	return []stores.Fact{server, memory, disk}
}
