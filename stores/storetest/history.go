package storetest

import (
	"github.com/flowtui/flowtui/stores"
)

var historyCases = []testCase{
	{"pages", historyPages},
	{"without payload", historyWithoutPayload},
	{"one step", oneStep},
}

func historyPages(s *suite) {
	p := s.steps("r", 11)
	for _, c := range []struct {
		q           stores.HistoryQuery
		first, size int64
	}{
		{stores.HistoryQuery{}, 0, 12},
		{stores.HistoryQuery{From: 9}, 9, 3},
		{stores.HistoryQuery{Limit: 5}, 0, 5},
		{stores.HistoryQuery{From: 2, Limit: 3}, 2, 3},
		{stores.HistoryQuery{From: 10, Limit: 100}, 10, 2},
		{stores.HistoryQuery{From: 12}, 12, 0},
	} {
		steps, err := s.History(s.ctx, p.Key, c.q)
		s.ok(err)
		if int64(len(steps)) != c.size {
			s.Errorf("%+v gives %d steps, want %d", c.q, len(steps), c.size)
		}
		for i, step := range steps {
			if step.Step != c.first+int64(i) {
				s.Errorf("%+v gives step %d in place %d", c.q, step.Step, i)
			}
		}
	}
}

func historyWithoutPayload(s *suite) {
	p := s.steps("r", 1)
	for _, payload := range []bool{false, true} {
		steps, err := s.History(s.ctx, p.Key, stores.HistoryQuery{Payload: payload})
		s.ok(err)
		for n, got := range steps {
			want := Step(p, int64(n)).Checkpoint
			if !payload {
				if got.Payload != nil {
					s.Errorf("a payload that was not asked for: %q", got.Payload)
				}
				want.Payload = nil
			}
			if !sameCheckpoint(got, want) {
				s.Errorf("payload %v:\ngot  %+v\nwant %+v", payload, got, want)
			}
		}
	}
}

func oneStep(s *suite) {
	p := s.steps("r", 3)
	got, err := s.At(s.ctx, p.Key, 2)
	s.ok(err)
	if want := Step(p, 2).Checkpoint; !sameCheckpoint(got, want) {
		s.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, n := range []int64{-1, 4} {
		_, err = s.At(s.ctx, p.Key, n)
		s.fails(err, stores.ErrNotFound)
	}
}
