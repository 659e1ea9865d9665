package redis_test

import (
	"context"
	"os"
	"testing"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/storetest"
)

func TestMain(m *testing.M) {
	redis.Quiet()
	storetest.Rival(rival)
	os.Exit(m.Run())
}

func rival(ctx context.Context, at string) (stores.Store, error) {
	return redis.Open(ctx, at, redis.Options{Create: true})
}

func TestProcesses(t *testing.T) { storetest.Processes(t, testservers.Redis(t).URL, rival) }
