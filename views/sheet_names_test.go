package views_test

import (
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// A sheet names its run by both ends where the whole name has no room: runs of one
// batch differ in the last characters.
func TestSheetTellsLongRunNamesApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("payments-of-the-northern-region-", 4)
	for _, size := range [][2]int{{60, 16}, {80, 24}} {
		x := start(t, size[0], size[1], func(b *viewstest.Backend) {
			p := b.Plans[viewstest.Ref("order-9")]
			for i := range b.Rows {
				if b.Rows[i].Run == "order-9" {
					b.Rows[i].Run, b.Rows[i].Verdict = long+"0042", viewer.NoKeyGiven
				}
			}
			p.Run = long + "0042"
			b.Plans[viewstest.Ref("order-9")] = p
		})
		x.keys("j", "a", pause)
		l := x.line("│ payments-of")
		if !strings.Contains(l, "0042, ") || !strings.Contains(l, "no key") {
			t.Errorf("%q", l)
		}
		x.exact(size[0], size[1])
	}
}
