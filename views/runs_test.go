package views_test

import "testing"

func TestRunsGolden(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"runs_80x24": {80, 24}, "runs_140x40": {140, 40}, "runs_40x10": {40, 10}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start(t, size[0], size[1]).golden(name)
		})
	}
}
