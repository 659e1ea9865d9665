package jsonfile_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowtui/flowtui/internal/testwriter"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestMain makes the test binary also the other processes of tests that need some.
func TestMain(m *testing.M) {
	storetest.Rival(rival)
	testwriter.Main(rival)
	os.Exit(m.Run())
}

func rival(ctx context.Context, at string) (stores.Store, error) {
	return jsonfile.Open(ctx, at, jsonfile.Options{Create: true})
}

func TestProcesses(t *testing.T) {
	storetest.Processes(t, filepath.Join(t.TempDir(), "store"), rival)
}
