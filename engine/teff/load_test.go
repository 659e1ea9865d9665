package teff_test

import (
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/document"
)

// loadWorkflow reads a recorded workflow in the recorded environment.
func loadWorkflow(t *testing.T, path string) *teff.Workflow {
	t.Helper()
	w, err := document.Load(data+path, func(name string) (string, bool) {
		return "north", name == "REGION"
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}
