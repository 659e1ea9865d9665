package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

const maxSeen = 10_000

// seen remembers in the user's cache how far each run was seen, so that a store
// that was set back shows. It is a help, not a record: when the file cannot be
// read or written, nobody is told and less is known.
type seen struct {
	path string // "" when the system has no cache
	now  func() time.Time

	mu      sync.Mutex
	where   map[string]string // label of a store to its location: a backup elsewhere is another store
	runs    map[seenRun]sighting
	changed bool
}

type seenRun struct{ Store, Owner, Run string }

type sighting struct {
	Incarnation string
	Step        int64
	At          int64 // seconds since 1970
}

// seenEntry is one line of the file.
type seenEntry struct {
	Store       string `json:"store"`
	Owner       string `json:"owner"`
	Run         string `json:"run"`
	Incarnation string `json:"incarnation"`
	Step        int64  `json:"step"`
	At          int64  `json:"at"`
}

func newSeen(now func() time.Time) *seen {
	s := &seen{now: now}
	if dir, err := os.UserCacheDir(); err == nil {
		s.path = filepath.Join(dir, "flowtui", "seen.json")
	}
	s.runs = s.read()
	return s
}

// Seen implements viewer.Memory.
func (s *seen) Seen(store, owner, run string) (string, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x, ok := s.runs[s.key(store, owner, run)]; ok {
		return x.Incarnation, x.Step
	}
	return "", -1
}

// See implements viewer.Memory. A run is not seen less far than before.
func (s *seen) See(store, owner, run, incarnation string, step int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.key(store, owner, run)
	old, ok := s.runs[k]
	if ok && old.Incarnation == incarnation && old.Step >= step {
		return
	}
	s.runs[k] = sighting{incarnation, step, s.now().Unix()}
	s.changed = true
}

// forget drops what was seen of a store's runs, of one when it is named, and
// writes that down at once, so that merging with the file does not bring it back.
func (s *seen) forget(location, owner, run string) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, theirs := range s.read() {
		if _, ok := s.runs[k]; !ok {
			s.runs[k] = theirs
		}
	}
	maps.DeleteFunc(s.runs, func(k seenRun, _ sighting) bool {
		gone := k.Store == location && (owner == stores.AnyOwner || k.Owner == owner) && (run == "" || k.Run == run)
		if gone {
			n++
		}
		return gone
	})
	if n == 0 || s.path == "" {
		return n, nil
	}
	return n, s.write()
}

func (s *seen) key(label, owner, run string) seenRun {
	return seenRun{cmp.Or(s.where[label], label), owner, run}
}

// locate tells where the stores are that the viewer knows by their labels.
func (s *seen) locate(infos []viewer.StoreInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.where = map[string]string{}
	for _, i := range infos {
		s.where[i.Label] = i.Location
	}
}

func (s *seen) read() map[seenRun]sighting {
	runs := map[seenRun]sighting{}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return runs
	}
	var entries []seenEntry
	if json.Unmarshal(data, &entries) != nil {
		return runs
	}
	for _, e := range entries {
		runs[seenRun{e.Store, e.Owner, e.Run}] = sighting{e.Incarnation, e.Step, e.At}
	}
	return runs
}

// save writes what is new into the file, together with what other processes
// have seen meanwhile.
func (s *seen) save() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.changed || s.path == "" {
		return
	}
	for k, theirs := range s.read() {
		ours, ok := s.runs[k]
		if !ok || theirs.Incarnation == ours.Incarnation && theirs.Step > ours.Step || theirs.Incarnation != ours.Incarnation && theirs.At > ours.At {
			s.runs[k] = theirs
		}
	}
	s.changed = s.write() != nil
}

func (s *seen) write() error {
	entries := make([]seenEntry, 0, len(s.runs))
	for k, x := range s.runs {
		entries = append(entries, seenEntry{k.Store, k.Owner, k.Run, x.Incarnation, x.Step, x.At})
	}
	slices.SortFunc(entries, func(a, b seenEntry) int {
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.Store, b.Store), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Run, b.Run))
	})
	data, err := json.Marshal(entries[:min(len(entries), maxSeen)])
	if err != nil {
		return err
	}
	return replaceFile(s.path, data)
}

// replaceFile writes a file that only the user can read; others see the old one
// or the new one.
func replaceFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // no longer there when all went well
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
