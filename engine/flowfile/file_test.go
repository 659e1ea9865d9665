package flowfile_test

import (
	"testing"

	"github.com/flowtui/flowtui/engine/flowfile"
)

func TestLoad(t *testing.T) {
	f, err := flowfile.Load("testdata/tickets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != "tickets" || f.Flow.Name() != "tickets" || len(f.Tools.Names()) != 3 {
		t.Errorf("got %+v", f)
	}
}
