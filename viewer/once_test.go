package viewer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// placedStore is a store at a place, which stays open.
type placedStore struct {
	*memory.Store
	location string
}

func (p placedStore) Info(ctx context.Context) (stores.Info, error) {
	info, err := p.Store.Info(ctx)
	info.Location = p.location
	return info, err
}

func (p placedStore) Close() error { return nil }

// A store that is given twice, by whatever path, has its runs once. A copy of it
// is another store.
func TestAStoreIsAttachedOnce(t *testing.T) {
	b := newBench(t)
	b.start("plain", "a")
	dir := t.TempDir()
	file, link, other := filepath.Join(dir, "a.db"), filepath.Join(dir, "link.db"), filepath.Join(dir, "copy.db")
	for _, f := range []string{file, other} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(file, link); err != nil {
		t.Skip(err)
	}
	all := map[string]stores.Store{}
	for spec, location := range map[string]string{"a": file, "./a": file, "link": link, "copy": other} {
		all[spec] = placedStore{b.store, location}
	}
	for _, tt := range []struct {
		specs []string
		want  int
	}{{[]string{"a", "a"}, 1}, {[]string{"a", "./a", "link"}, 1}, {[]string{"a", "copy", "a"}, 2}} {
		o := b.options()
		o.Formats = Registry{memoryFormat(all)}
		o.Production = map[string]bool{"./a": true}
		s := attach(t, o, tt.specs...)
		if n := len(get[Page](t)(s.List(t.Context(), Query{})).Rows); n != tt.want || len(s.Stores()) != tt.want {
			t.Errorf("%v: %d runs in %d stores, want %d", tt.specs, n, len(s.Stores()), tt.want)
		}
		if w := s.Warnings(t.Context()); len(w) != len(tt.specs)-tt.want || !strings.Contains(w[0], "is given twice") {
			t.Errorf("%v: %q", tt.specs, w)
		}
		if s.Stores()[0].Production != (tt.specs[1] == "./a") {
			t.Errorf("%v: production %v", tt.specs, s.Stores()[0].Production)
		}
	}
}

// That a file is damaged is told once, though every format fails on it, and with what to do.
func TestADamagedFileIsToldOnce(t *testing.T) {
	damaged := func(name string) Format {
		return Format{Name: name, Sniff: func(context.Context, string) (bool, string, error) {
			return false, "", &stores.OpError{Op: "open", Store: "x.db", Class: stores.ErrUnreadable, Err: errors.New("the disk image is malformed")}
		}}
	}
	b := newBench(t)
	o := b.options()
	o.Formats = Registry{damaged("one"), damaged("two")}
	_, err := Attach(t.Context(), []string{"x.db"}, o)
	p := new(Service).Explain(err)
	if p.Exit() != 6 || strings.Count(p.Message, "malformed") != 1 || strings.ContainsAny(p.Message, "\n⏎") || !strings.Contains(p.Hint, "backup") {
		t.Errorf("%+v", p)
	}
}
