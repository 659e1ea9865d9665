package views_test

import (
	"fmt"
	"testing"

	"github.com/flowtui/flowtui/views/viewstest"
)

func TestASCIIUsesNothingElse(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{}, {"e"}, {"R"}, {"j", "a"}, {"?"}, {"7"}, {"/"}} {
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			t.Parallel()
			x := opened(t, 80, 24, true, func(b *viewstest.Backend) {
				for i := range b.Rows { // the mask of a secret is data
					for j := range b.Rows[i].Waiting {
						b.Rows[i].Waiting[j].Args = nil
					}
				}
				for _, p := range b.Plans {
					for i := range p.Review {
						p.Review[i].Lines = nil
						p.Review[i].Args = nil
					}
				}
			})
			x.run()
			for _, k := range keys {
				x.keys(k)
				x.settle()
			}
			for _, r := range x.view() {
				if r > 0x7e {
					t.Fatalf("%q in\n%s", r, x.view())
				}
			}
			if len(keys) == 0 {
				x.golden("runs_ascii_80x24")
			}
		})
	}
}
