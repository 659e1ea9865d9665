package postgres_test

import (
	"context"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

func rival(ctx context.Context, at string) (stores.Store, error) {
	return postgres.Open(ctx, at, postgres.Options{Create: true})
}

func TestProcesses(t *testing.T) { storetest.Processes(t, fresh(t, server(t)), rival) }
