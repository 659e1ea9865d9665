package teff

import "github.com/flowtui/flowtui/engine/teff/py"

// sharing watches the lists of a state while branches run on copies of it.
// Their order is teff's as long as no branch waits for something; where one may
// wait and the order shows in a list that several extend in place, or a
// failure may have kept one from extending it, the outcome is not known.
type sharing struct {
	lists   []*py.List
	lengths []int
	grown   []int // how many branches have extended the list
	waits   bool
	failed  error // the first failure
	differ  bool  // there are others, unlike it
}

func newSharing(state *py.Dict) *sharing {
	s := &sharing{}
	for _, v := range state.All() {
		if l, ok := v.(*py.List); ok {
			s.lists = append(s.lists, l)
			s.lengths = append(s.lengths, len(l.Items))
		}
	}
	s.grown = make([]int, len(s.lists))
	return s
}

// note is called after each branch.
func (s *sharing) note(waits bool, err error) {
	s.waits = s.waits || waits
	s.differ = s.differ || s.failed != nil && err != nil && s.failed.Error() != err.Error()
	s.failed = firstError(s.failed, err)
	for i, l := range s.lists {
		if len(l.Items) != s.lengths[i] {
			s.lengths[i] = len(l.Items)
			s.grown[i]++
		}
	}
}

// settled is the branches' first failure, unless it is not known which that is
// or what the branches have left.
func (s *sharing) settled() error {
	if !s.waits || s.failed != nil && !raised(s.failed) {
		return s.failed
	}
	if s.differ {
		return inexact("several branches fail of which one may wait for a tool or a retry, and the format does not say which is first")
	}
	for _, n := range s.grown {
		if n > 1 || n > 0 && s.failed != nil {
			return inexact("branches that may wait for a tool or a retry extend one list, and the format does not say in which order")
		}
	}
	return s.failed
}

// firstError keeps the first failure, but what ends the process comes first.
func firstError(first, next error) error {
	if first == nil || next != nil && !raised(next) && raised(first) {
		return next
	}
	return first
}

// waits reports whether teff may let others run while these steps do: in a
// tool, or before a further attempt.
func waits(steps []*Node) bool {
	for _, n := range steps {
		if n.Type == "tool_call" || n.Retry != nil && n.Retry.Enabled || waits(n.Body) || n.Graph != nil && waits(n.Graph.Nodes) {
			return true
		}
		for _, branch := range n.Branches {
			if waits(branch) {
				return true
			}
		}
	}
	return false
}
