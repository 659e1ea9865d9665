package views_test

import (
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

func inProduction(b *viewstest.Backend) { b.Infos[0].Production = true }

func TestProductionIsSaidEverywhere(t *testing.T) {
	t.Parallel()
	for _, w := range []int{60, 80, 140} {
		x := start(t, w, 40, inProduction)
		x.exact(w, 40)
		if l := x.line("flowtui"); !strings.Contains(strings.ToLower(l), "prod") {
			t.Errorf("%d: %q", w, l)
		}
		x.keys("j", "a")
		x.sees("PRODUCTION")
		x.keys("esc", "enter")
		x.sees("PRODUCTION")
		x.exact(w, 40)
	}
	x := start(t, 80, 24)
	if strings.Contains(strings.ToLower(x.view()), "prod") {
		t.Error(x.view())
	}
}

// Every action on a production store asks for the run id.
func TestProductionAsksForTheRunID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run  string
		open []string
	}{
		"approve": {"order-9", []string{"j", "a", pause}},
		"deny":    {"order-9", []string{"j", "a", pause, "ctrl+d", pause}},
		"answer":  {"trip-2", []string{"j", "j", "i", pause}},
		"resolve": {"order-7", []string{"e", pause, "j", pause}},
		"recover": {"sync-2", []string{"G", "R", pause}},
		"rerun":   {"order-7", []string{"R", pause, "j", "enter", pause}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24, inProduction)
			x.keys(c.open...)
			x.sees("run id PRODUCTION", "enter type the run id")
			if name == "approve" {
				x.golden("production_80x24")
			}
			x.keys("enter")
			for _, r := range c.run[1:] {
				x.keys(string(r))
			}
			x.keys("enter")
			x.sees("that is not "+c.run, "enter type the run id")
			x.keys(pause, "enter", "home", c.run[:1], "enter", "enter")
			same(t, len(x.backend.Acted), 0)
			x.seesNot("that is not")
			x.keys(pause, "enter")
			same(t, len(x.backend.Acted), 1)
			same(t, x.backend.Acted[0].Ref.Run, c.run)
		})
	}
}

func TestProductionOfAnotherStoreAsksNothing(t *testing.T) {
	t.Parallel()
	x := start(t, 100, 24, func(b *viewstest.Backend) {
		b.Infos = append(b.Infos, viewer.StoreInfo{Label: "live", Production: true})
	})
	x.sees("PRODUCTION")
	x.keys("j", "a", pause)
	x.seesNot("type the run id")
	x.keys("enter")
	same(t, len(x.backend.Acted), 1)
}
