package storetest

import (
	"github.com/flowtui/flowtui/stores"
)

var graphCases = []testCase{
	{"stored once", graphOnce},
	{"outlives its run", graphOutlives},
}

func graphOnce(s *suite) {
	_, err := s.Graph(s.ctx, "digest")
	s.fails(err, stores.ErrNotFound)
	for i, run := range []string{"a", "b"} {
		w := Step(s.place(run), 0)
		w.Graph = []byte{byte(i), 0xff, 0}
		s.save(w)
	}
	s.graphIs(string([]byte{0, 0xff, 0}))
}

// graphOutlives: the runs of one flow share its graph.
func graphOutlives(s *suite) {
	w := Step(s.place("a"), 0)
	w.Graph = []byte("graph")
	s.save(w)
	s.save(Step(s.place("b"), 0))
	s.ok(s.Delete(s.ctx, s.place("a").Key))
	s.graphIs("graph")
}

func (s *suite) graphIs(want string) {
	s.Helper()
	got, err := s.Graph(s.ctx, "digest")
	s.ok(err)
	if string(got) != want {
		s.Errorf("graph is %q, want %q", got, want)
	}
}
