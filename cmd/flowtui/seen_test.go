package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSeenOutlivesTheProcess(t *testing.T) {
	clock := time.Unix(1000, 0)
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	path := filepath.Join(t.TempDir(), "deep", "seen.json")
	open := func() *seen {
		s := &seen{path: path, now: now}
		s.runs = s.read()
		return s
	}
	a, b := open(), open()
	a.See("s", "o", "r", "inc", 7)
	a.See("s", "o", "r", "inc", 3) // not less than before
	a.save()
	b.See("s", "o", "r", "inc", 5)
	b.See("s", "o", "x", "inc", 1)
	b.save()
	c := open()
	if inc, step := c.Seen("s", "o", "r"); inc != "inc" || step != 7 {
		t.Errorf("r: %s, %d", inc, step)
	}
	if _, step := c.Seen("s", "o", "x"); step != 1 {
		t.Errorf("x: %d", step)
	}
	if inc, step := c.Seen("s", "other", "r"); inc != "" || step != -1 {
		t.Errorf("never seen: %s, %d", inc, step)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	c.See("s", "o", "r", "new", 0) // deleted, and started anew
	c.save()
	if inc, step := open().Seen("s", "o", "r"); inc != "new" || step != 0 {
		t.Errorf("anew: %s, %d", inc, step)
	}
}

func TestSeenIsBoundedAndBestEffort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen.json")
	if err := os.WriteFile(path, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &seen{path: path, now: time.Now}
	s.runs = s.read()
	for i := range maxSeen + 50 {
		s.See("s", "o", fmt.Sprint(i), "inc", 1)
	}
	s.save()
	if n := len(s.read()); n != maxSeen {
		t.Errorf("%d runs are kept", n)
	}
	lost := &seen{path: filepath.Join(path, "not", "a", "folder"), now: time.Now, runs: map[seenRun]sighting{}}
	lost.See("s", "o", "r", "inc", 1)
	lost.save() // nothing happens
	none := &seen{now: time.Now, runs: map[seenRun]sighting{}}
	none.See("s", "o", "r", "inc", 1)
	none.save()
}

// What was forgotten does not come back from the file, and the rest stays.
func TestSeenIsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen.json")
	open := func() *seen {
		s := &seen{path: path, now: time.Now}
		s.runs = s.read()
		return s
	}
	a, late := open(), open()
	for _, r := range []seenRun{{"s", "o", "r"}, {"s", "o", "x"}, {"s", "p", "r"}, {"else", "o", "r"}} {
		a.See(r.Store, r.Owner, r.Run, "inc", 7)
	}
	a.save()
	if n, err := late.forget("s", "o", "r"); n != 1 || err != nil { // what another process saw, too
		t.Errorf("%d, %v", n, err)
	}
	late.See("s", "o", "new", "inc", 1)
	late.save()
	if b := open(); len(b.runs) != 4 {
		t.Errorf("%v", b.runs)
	}
	if n, err := open().forget("s", "*", ""); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if b := open(); len(b.runs) != 1 {
		t.Errorf("%v", b.runs)
	}
}
