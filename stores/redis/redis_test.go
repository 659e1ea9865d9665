package redis_test

import (
	"context"
	"net/url"
	"testing"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores/redis"
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
