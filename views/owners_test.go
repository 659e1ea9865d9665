package views_test

import (
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

// shop gives two of the runs to other owners, one with a name that would
// deceive, and lets the list be switched.
func shop(b *viewstest.Backend) {
	b.Infos[0].Owner, b.Infos[0].AnyOwner = "*", true
	for run, owner := range map[string]string{"trip-2": "alice", "sync-1": "al\u202eice", "order-1": "alice"} {
		for i := range b.Rows {
			if r := &b.Rows[i]; r.Run == run {
				r.Owner, r.Ref.Owner = viewer.Scrub(owner), owner
			}
		}
	}
}

func TestOwnersGolden(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, shop)
	x.sees("all owners", "o owner")
	x.keys("o", "j", "j")
	x.golden("owners_80x24")
}

// The list, its counts and what is looked at in the background are narrowed to
// one owner, also to one whose name may not be printed, and opened again.
func TestOwnerSwitch(t *testing.T) {
	t.Parallel()
	x := start(t, 100, 24, shop)
	x.sees("order-7", "trip-2", "1 Needs you 6", "all owners")
	x.keys("o", "j", "j", "enter") // default, alice
	x.sees("trip-2", "owner alice", "1 Needs you 1", "6 Done 1")
	x.seesNot("order-7", "sync-1", "all owners")
	x.wait(time.Minute) // it stays
	x.seesNot("order-7", "sync-1")
	x.keys("o", "j", "enter")
	last := x.backend.Listed[len(x.backend.Listed)-1]
	same(t, last.Owner, "al\u202eice")
	x.sees("sync-1", `owner al\u{202e}ice`)
	x.seesNot("trip-2", "\u202e")
	x.keys("o", "g", "enter")
	x.sees("order-7", "trip-2", "sync-1", "1 Needs you 6", "all owners")
}

func TestOwnerIsFoundByAPartOfItsName(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, shop)
	x.keys("o", "tab", "I", "C", "E")
	x.sees("│ ▸ alice", "│   al")
	x.seesNot("│   default")
	x.keys("enter", "enter")
	x.sees("owner alice")
	x.keys("o", "tab", "z", "enter")
	x.sees("no owner has that in its name")
}

// Runs without an owner, as teff has them, are not those of the owner that the
// program was started for.
func TestOwnerWithoutAName(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, shop, func(b *viewstest.Backend) {
		b.Infos[0].Owner = "default"
		b.Rows[0].Owner, b.Rows[0].Ref.Owner = "", ""
	})
	x.seesNot("order-7")
	x.keys("o", "g", "j", "enter")
	x.sees("no owner", "order-7")
	x.seesNot("order-9")
}

// What was started for one owner stays with that owner.
func TestOwnerSwitchStaysInsideTheOwner(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, shop, func(b *viewstest.Backend) { b.Infos[0].Owner, b.Infos[0].AnyOwner = "alice", false })
	x.sees("owner alice", "trip-2")
	x.seesNot("order-7", "o owner")
	x.keys("o")
	x.sees("this was started for owner alice only")
	x.keys("?")
	for _, q := range x.backend.Listed {
		same(t, q.Owner, "")
	}
}

// A count of other runs that was asked for before must not be shown as that of
// the owner that was chosen meanwhile.
func TestOwnerSwitchDropsWhatWasAskedBefore(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, shop)
	x.now = x.now.Add(time.Minute)
	x.send(views.Changed())
	held := x.pending
	x.pending = nil
	x.keys("o", "j", "j", "enter")
	x.sees("1 Needs you 1")
	x.pending = append(x.pending, held...)
	x.run()
	x.sees("1 Needs you 1", "trip-2")
	x.seesNot("order-7")
}

func TestLongOwnerKeepsBothEnds(t *testing.T) {
	t.Parallel()
	name := "tenant-" + strings.Repeat("0", 200) + "-eu"
	x := start(t, 80, 24, func(b *viewstest.Backend) { b.Infos[0].Owner = name })
	x.exact(80, 24)
	if l := x.line("flowtui"); !strings.Contains(l, "owner tenant-") || !strings.Contains(l, "0-eu") || !strings.Contains(l, "read-write  live") {
		t.Error(l)
	}
}

// Where it gets narrow, the kind of store goes before whether the key fits.
func TestHeaderKeepsTheKey(t *testing.T) {
	t.Parallel()
	foreign := func(b *viewstest.Backend) {
		b.Infos[0].Format, b.Infos[0].Key, b.Infos[0].Owner = "teff SQLite with history", "unsigned, no call log", "*"
	}
	for width, want := range map[int]string{80: "demo.db  all owners  unsigned, no call log ", 120: "teff SQLite with history, unsigned, no call log"} {
		x := start(t, width, 24, foreign)
		if l := x.line("flowtui"); !strings.Contains(l, want) || !strings.Contains(l, "read-write  live") {
			t.Errorf("%d: %q", width, l)
		}
	}
	x := start(t, 120, 24, func(b *viewstest.Backend) {
		b.Infos = append(b.Infos, viewer.StoreInfo{Label: "old.db", Owner: "default", Key: "key 3f9a does not fit", Unfit: true})
	})
	x.sees("2 stores, the key does not fit old.db")
}
