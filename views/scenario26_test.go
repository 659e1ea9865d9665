package views_test

import (
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

func TestScenario26Ages(t *testing.T) {
	t.Parallel()
	now := time.Date(2028, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		t    time.Time
		want string
	}{
		{time.Time{}, "-"},
		{now, "0s"},
		{now.Add(3 * time.Second), "0s"},
		{now.Add(10 * time.Minute), "clock skew"},
		{now.Add(-59 * time.Second), "59s"},
		{now.Add(-90 * time.Minute), "1h"},
		{now.Add(-90 * time.Minute).In(time.FixedZone("", 5*3600+1800)), "1h"},
		{time.Date(2028, 2, 28, 12, 0, 0, 0, time.UTC), "2d"},
		{now.AddDate(-70, 0, 0), "70y"},
		{time.Unix(-1<<40, 0), "292y"}, // as far as a duration goes
	} {
		if got := views.Age(now, c.t); got != c.want {
			t.Errorf("%v: %q, not %q", c.t, got, c.want)
		}
	}
}

func TestScenario26FutureTimesAreCalledSkew(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Rows[0].Updated = viewstest.Now.Add(10 * time.Minute)
		b.Rows[0].Lease = &viewer.Lease{Holder: "worker-1", Expires: viewstest.Now.Add(-time.Minute)}
	})
	x.sees("clock skew", "worker-1 lost it 1m ago")
	if strings.Contains(x.view(), "-1") && strings.Contains(x.line("order-7"), "-10m") {
		t.Fatal(x.view())
	}
}
