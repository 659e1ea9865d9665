package storetest

import (
	"reflect"
	"slices"
	"time"

	"github.com/flowtui/flowtui/stores"
)

var examineCases = []testCase{
	{"tells and changes nothing", examineStore},
}

// examineStore: looking at a store is no change, and what is told has a name.
func examineStore(s *suite) {
	p := s.steps("r", 1)
	before := s.whole(p.Key)
	e, err := s.Examine(s.ctx)
	s.ok(err)
	if skew := time.Since(e.Clock).Abs(); !e.Clock.IsZero() && skew > time.Hour {
		s.Errorf("the store's clock is %s, that is %s off", e.Clock, skew)
	}
	if e.Bytes < -1 || e.Bytes == 0 {
		s.Errorf("a store with a run takes %d bytes", e.Bytes)
	}
	unnamed := func(f stores.Fact) bool { return f.Name == "" || f.Value == "" || f.Problem != "" }
	if len(e.Facts) == 0 || slices.ContainsFunc(e.Facts, unnamed) {
		s.Errorf("facts of a sound store: %+v", e.Facts)
	}
	if after := s.whole(p.Key); !reflect.DeepEqual(before, after) {
		s.Errorf("before: %+v\nafter: %+v", before, after)
	}
}
