package views_test

import (
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

func TestRunsGolden(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"runs_80x24": {80, 24}, "runs_140x40": {140, 40}, "runs_40x10": {40, 10}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start(t, size[0], size[1]).golden(name)
		})
	}
}

// That nothing is there of one owner is not told as if nothing were there.
func TestRunsOfOtherOwnersAreTold(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Rows, b.Others = nil, viewer.Counts{viewer.TabAll: 300, viewer.TabPaused: 170}
	})
	x.sees("no runs of this owner here, and 300 of other owners.", "--owner '*'")
	x.seesNot("Nothing needs you")
	x.keys("7")
	x.sees("300 of other owners.")
	x.backend.Rows = viewstest.Rows()
	x.changed()
	x.wait(5 * time.Second) // counts come at their own pace
	x.seesNot("other owners")
	x.backend.Rows = nil
	x.backend.Others = nil
	x.changed()
	x.wait(5 * time.Second)
	x.sees("There are no runs in this store.")
	x.seesNot("other owners")
}
