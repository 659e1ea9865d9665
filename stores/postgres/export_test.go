package postgres

import "testing"

// newStore makes a store on the shared server; the other test package sets it.
var newStore func(t *testing.T) *Store

func internalStore(t *testing.T) *Store {
	t.Helper()
	return newStore(t)
}

// SetNewStore lends this package the shared server.
func SetNewStore(f func(t *testing.T) *Store) { newStore = f }
