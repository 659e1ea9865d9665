package sim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/internal/teststores"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
	"github.com/flowtui/flowtui/stores/storetest"
)

// plantable is a store whose rows can be put back.
type plantable interface {
	backend
	stores.Importer
}

// unchecked is a driver that does not look whether its compare-and-set has
// changed a row.
type unchecked struct{ plantable }

func (u unchecked) Save(ctx context.Context, w stores.Save) error {
	err := u.plantable.Save(ctx, w)
	if errors.Is(err, stores.ErrConflict) {
		return nil
	}
	return err
}

// overwriting is a driver without a compare-and-set: who saves a step last wins.
type overwriting struct{ plantable }

func (o overwriting) Save(ctx context.Context, w stores.Save) error {
	err := o.plantable.Save(ctx, w)
	if !errors.Is(err, stores.ErrConflict) {
		return err
	}
	c := w.Checkpoint
	r, readErr := stores.ReadRun(ctx, o.plantable, c.Key)
	if readErr != nil || c.Step == 0 || c.Step >= int64(len(r.Checkpoints)) || c.Follows(&r.Checkpoints[c.Step-1]) != nil {
		return err // it would be refused without any row in its way
	}
	if err := o.cut(ctx, r, w); err != nil {
		return err
	}
	return o.plantable.Save(ctx, w)
}

// cut takes off the rows that are in the way of a save.
func (o overwriting) cut(ctx context.Context, r stores.Run, w stores.Save) error {
	r.Checkpoints = r.Checkpoints[:w.Checkpoint.Step]
	r.Head = storetest.HeadOf(*r.Last())
	r.Calls = slices.DeleteFunc(r.Calls, func(old stores.Call) bool { return old.Segment > r.Head.Segment })
	r.Events = slices.DeleteFunc(r.Events, func(old stores.Event) bool { return len(w.Events) > 0 && old.N >= w.Events[0].N })
	if err := o.Delete(ctx, r.Key()); err != nil {
		return err
	}
	return o.Import(ctx, r)
}

// TestPlantedFaultsOnStoresAreFound: the simulation finds a driver without the
// compare-and-set on every store, at the seed and in the words that it finds it
// with in memory.
func TestPlantedFaultsOnStoresAreFound(t *testing.T) {
	plants := map[string]func(plantable) backend{
		"unchecked":   func(s plantable) backend { return unchecked{s} },
		"overwriting": func(s plantable) backend { return overwriting{s} },
	}
	const words = "was saved after step" // at other seeds somebody is told first that the run does not verify
	seeds, found := map[string]uint64{}, map[string]string{}
	for name, plant := range plants {
		for seed := uint64(1); !strings.Contains(found[name], words) && seed <= 4000; seed++ {
			s := simulateOn(t, seed, func() backend { return plant(memory.New(memory.Options{})) })
			seeds[name], found[name] = seed, s.bad
		}
		if !strings.Contains(found[name], words) {
			t.Fatalf("%s: in memory it is not found", name)
		}
	}
	for _, kind := range teststores.Kinds() {
		t.Run(kind, func(t *testing.T) {
			host := teststores.NewHost(t, kind)
			for name, plant := range plants {
				s := simulateReal(t, seeds[name], plant(openOn(t, host)))
				if s.bad != found[name] {
					t.Errorf("%s: seed %d finds %q, in memory %q", name, seeds[name], s.bad, found[name])
				}
				t.Logf("%s: seed %d: %s", name, seeds[name], s.bad)
			}
		})
	}
}
