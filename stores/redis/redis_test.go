package redis_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/storetest"
)

func open(t testing.TB, rawURL string, opts redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.Open(t.Context(), rawURL, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// with adds parameters to a URL.
func with(t testing.TB, rawURL string, pairs ...string) string {
	t.Helper()
	u, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// raw is a plain client of the server, for what the store does not do.
func raw(t testing.TB, rawURL string) *client.Client {
	t.Helper()
	o, err := client.ParseURL(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	c := client.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// must runs a command of a plain client.
func must(t testing.TB, c client.Cmdable, args ...any) any {
	t.Helper()
	doer := c.(interface {
		Do(ctx context.Context, args ...any) *client.Cmd
	})
	v, err := doer.Do(context.Background(), args...).Result()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return v
}

func TestConformance(t *testing.T) {
	server := testservers.Redis(t)
	c := raw(t, server.URL)
	prefix := ""
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) stores.Store {
			prefix = rand.Text()
			return open(t, with(t, server.URL, "prefix", prefix), redis.Options{Create: true})
		},
		Reopen: func(t *testing.T, s stores.Store) stores.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, with(t, server.URL, "prefix", prefix), redis.Options{})
		},
		// The server's clock cannot be moved: its leases are, the other way.
		Advance: func(d time.Duration) {
			key := "{" + prefix + "}:leases"
			leases, err := c.HGetAll(context.Background(), key).Result()
			if err != nil {
				t.Fatal(err)
			}
			for run, lease := range leases {
				micros, holder, _ := strings.Cut(lease, " ")
				n, err := strconv.ParseInt(micros, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				must(t, c, "HSET", key, run, fmt.Sprintf("%d %s", n-d.Microseconds(), holder))
			}
		},
	})
}
