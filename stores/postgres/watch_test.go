package postgres_test

import (
	"context"
	"testing"

	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestAnotherProcessIsNoticed, and whoever speaks the protocol.
func TestAnotherProcessIsNoticed(t *testing.T) {
	address := fresh(t, server(t))
	writer := create(t, address)
	ch, err := open(t, address, postgres.Options{}).Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Save(t.Context(), storetest.Step(place("r"), 0)); err != nil {
		t.Fatal(err)
	}
	noticed(t, ch)
	execute(t, server(t), `SELECT pg_notify('flowtui', $1)`, schemaOf(t, address)+".")
	noticed(t, ch)
}

// TestAWatcherOutlivesItsConnection and says that it may have missed something.
func TestAWatcherOutlivesItsConnection(t *testing.T) {
	p := newProxy(t, server(t))
	address := fresh(t, p.url)
	create(t, address)
	straight := open(t, with(t, server(t), "schema", schemaOf(t, address)), postgres.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ch, err := open(t, address, postgres.Options{}).Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p.cut()
	noticed(t, ch) // there may be news from the time without a connection
	if err := straight.Save(t.Context(), storetest.Step(place("r"), 0)); err != nil {
		t.Fatal(err)
	}
	noticed(t, ch)
	cancel()
	eventually(t, "the watch ends", func() bool {
		select {
		case _, ok := <-ch:
			return !ok
		default:
			return false
		}
	})
}
