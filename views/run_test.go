package views_test

import (
	"fmt"
	"testing"

	"github.com/flowtui/flowtui/views/viewstest"
)

// tabKeys are the tabs of a run and their keys.
var tabKeys = []struct{ name, key string }{
	{"overview", "1"}, {"timeline", "2"}, {"calls", "3"}, {"state", "4"}, {"events", "5"}, {"verify", "6"},
}

func TestRunGolden(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {140, 40}, {40, 10}} {
		for _, tab := range tabKeys {
			name := fmt.Sprintf("run_%s_%dx%d", tab.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				x := start(t, size[0], size[1], viewstest.Recovered)
				x.keys("enter", tab.key)
				x.golden(name)
			})
		}
	}
}
