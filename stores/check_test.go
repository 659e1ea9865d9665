package stores_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
)

func TestKeyValidate(t *testing.T) {
	for name, c := range map[string]struct {
		owner, run string
		sound      bool
	}{
		"plain":           {"default", "run", true},
		"any characters":  {"../x", "a/b\\c:*?\x1b \u202e", true},
		"as long as may":  {"o", strings.Repeat("x", stores.MaxIDBytes), true},
		"too long":        {"o", strings.Repeat("x", stores.MaxIDBytes+1), false},
		"owner too long":  {strings.Repeat("é", stores.MaxIDBytes/2+1), "r", false},
		"no owner":        {"", "r", false},
		"no run":          {"o", "", false},
		"every owner":     {stores.AnyOwner, "r", false},
		"star as a run":   {"o", "*", true},
		"not UTF-8":       {"o", "\xff", false},
		"NUL":             {"o", "a\x00", false},
		"NUL in an owner": {"\x00", "r", false},
	} {
		err := stores.Key{Owner: c.owner, Run: c.run}.Validate()
		if sound := err == nil; sound != c.sound || !sound && !errors.Is(err, stores.ErrInvalid) {
			t.Errorf("%s: got %v, want sound %v", name, err, c.sound)
		}
	}
}

var (
	place = stores.Place{Key: stores.Key{Owner: "o", Run: "r"}, Store: "s", Incarnation: "first"}
	other = stores.Place{Key: stores.Key{Owner: "o", Run: "other"}, Store: "s", Incarnation: "first"}
)

// checkpoint is a sound one at a step of segment 2.
func checkpoint(step int64) stores.Checkpoint {
	return stores.Checkpoint{Place: place, Step: step, Base: step, Segment: 2, Status: stores.StatusRunning}
}

func TestSaveCheck(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*stores.Save)
		want error
	}{
		"sound": {func(*stores.Save) {}, nil},
		"with parts": {func(s *stores.Save) {
			s.Calls, s.Events = []stores.Call{{Place: place}}, []stores.Event{{Place: place}}
		}, nil},
		"other head":          {func(s *stores.Save) { s.Head.Place = other }, stores.ErrInvalid},
		"head step":           {func(s *stores.Save) { s.Head.Step++ }, stores.ErrInvalid},
		"head segment":        {func(s *stores.Save) { s.Head.Segment++ }, stores.ErrInvalid},
		"head base":           {func(s *stores.Save) { s.Head.Base-- }, stores.ErrInvalid},
		"head status":         {func(s *stores.Save) { s.Head.Status = stores.StatusDone }, stores.ErrInvalid},
		"call of another":     {func(s *stores.Save) { s.Calls = []stores.Call{{Place: other}} }, stores.ErrInvalid},
		"event of another":    {func(s *stores.Save) { s.Events = []stores.Event{{Place: other}} }, stores.ErrInvalid},
		"no incarnation":      {func(s *stores.Save) { s.Checkpoint.Incarnation, s.Head.Incarnation = "", "" }, stores.ErrInvalid},
		"bad key":             {func(s *stores.Save) { s.Checkpoint.Run, s.Head.Run = "", "" }, stores.ErrInvalid},
		"unknown status":      {func(s *stores.Save) { s.Checkpoint.Status, s.Head.Status = "x", "x" }, stores.ErrInvalid},
		"base after the step": {func(s *stores.Save) { s.Checkpoint.Base, s.Head.Base = 9, 9 }, stores.ErrInvalid},
		"segment 0":           {func(s *stores.Save) { s.Checkpoint.Segment, s.Head.Segment = 0, 0 }, stores.ErrInvalid},
	} {
		cp := checkpoint(3)
		s := stores.Save{
			Checkpoint: cp,
			Head:       stores.Head{Place: place, Step: cp.Step, Base: cp.Base, Segment: cp.Segment, Status: cp.Status},
		}
		c.edit(&s)
		if err := s.Check(); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestCallWriteCheck(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*stores.CallWrite)
		want error
	}{
		"sound":            {func(*stores.CallWrite) {}, nil},
		"with an event":    {func(w *stores.CallWrite) { w.Events = []stores.Event{{Place: place}} }, nil},
		"event of another": {func(w *stores.CallWrite) { w.Events = []stores.Event{{Place: other}} }, stores.ErrInvalid},
		"number 0":         {func(w *stores.CallWrite) { w.Call.N = 0 }, stores.ErrInvalid},
		"segment 0":        {func(w *stores.CallWrite) { w.Call.Segment = 0 }, stores.ErrInvalid},
		"negative step":    {func(w *stores.CallWrite) { w.Call.Step = -1 }, stores.ErrInvalid},
		"no incarnation":   {func(w *stores.CallWrite) { w.Call.Incarnation = "" }, stores.ErrInvalid},
		"bad key":          {func(w *stores.CallWrite) { w.Call.Owner = stores.AnyOwner }, stores.ErrInvalid},
	} {
		w := stores.CallWrite{Call: stores.Call{Place: place, Segment: 1, N: 1}}
		c.edit(&w)
		if err := w.Check(); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestFollows(t *testing.T) {
	at := func(step, segment int64, status stores.Status) *stores.Checkpoint {
		c := checkpoint(step)
		c.Segment, c.Status = segment, status
		return &c
	}
	reborn := at(4, 2, stores.StatusRunning)
	reborn.Incarnation = "second"
	running := at(3, 2, stores.StatusRunning)
	for name, c := range map[string]struct {
		last, next *stores.Checkpoint
		want       error
	}{
		"first":              {nil, at(0, 1, stores.StatusRunning), nil},
		"first is step 1":    {nil, at(1, 1, stores.StatusRunning), stores.ErrConflict},
		"first in segment 2": {nil, at(0, 2, stores.StatusRunning), stores.ErrConflict},
		"first again":        {running, at(0, 1, stores.StatusRunning), stores.ErrConflict},
		"next":               {running, at(4, 2, stores.StatusDone), nil},
		"claim":              {running, at(4, 3, stores.StatusRunning), nil},
		"claim of a pause":   {at(3, 2, stores.StatusPaused), at(4, 3, stores.StatusRunning), nil},
		"same step":          {running, at(3, 2, stores.StatusRunning), stores.ErrConflict},
		"one too far":        {running, at(5, 2, stores.StatusRunning), stores.ErrConflict},
		"older segment":      {running, at(4, 1, stores.StatusRunning), stores.ErrConflict},
		"segment skipped":    {running, at(4, 4, stores.StatusRunning), stores.ErrConflict},
		"other incarnation":  {running, reborn, stores.ErrConflict},
		"after done":         {at(3, 2, stores.StatusDone), at(4, 2, stores.StatusRunning), stores.ErrConflict},
		"after failed":       {at(3, 2, stores.StatusFailed), at(4, 3, stores.StatusRunning), stores.ErrConflict},
	} {
		if err := c.next.Follows(c.last); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestMayRecord(t *testing.T) {
	last := func(status stores.Status) *stores.Checkpoint {
		c := checkpoint(3)
		c.Status = status
		return &c
	}
	running, paused, done := last(stores.StatusRunning), last(stores.StatusPaused), last(stores.StatusDone)
	reborn := last(stores.StatusRunning)
	reborn.Incarnation = "second"
	for name, c := range map[string]struct {
		last    *stores.Checkpoint
		segment int64
		status  stores.CallStatus
		want    error
	}{
		"started":                    {running, 2, stores.CallStarted, nil},
		"started, cut off":           {running, 1, stores.CallStarted, stores.ErrConflict},
		"started, to come":           {running, 3, stores.CallStarted, stores.ErrConflict},
		"started, paused":            {paused, 2, stores.CallStarted, nil},
		"started, ended":             {done, 2, stores.CallStarted, stores.ErrConflict},
		"started, no run":            {nil, 1, stores.CallStarted, stores.ErrNotFound},
		"done":                       {running, 2, stores.CallDone, nil},
		"done, cut off":              {running, 1, stores.CallDone, nil},
		"done, to come":              {running, 3, stores.CallDone, stores.ErrConflict},
		"done, ended":                {done, 1, stores.CallDone, nil},
		"done, another life":         {reborn, 2, stores.CallDone, stores.ErrConflict},
		"unrecordable, cut off":      {running, 1, stores.CallUnrecordable, nil},
		"resolved, paused":           {paused, 2, stores.CallResolved, nil},
		"pending, an older segment":  {paused, 1, stores.CallPending, nil},
		"resolved, an unknown place": {nil, 2, stores.CallResolved, stores.ErrNotFound},
	} {
		r := stores.Call{Place: place, Segment: c.segment, N: 1, Status: c.status}
		if err := r.MayRecord(c.last); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestMayDelete(t *testing.T) {
	last := checkpoint(3)
	for name, c := range map[string]struct {
		last        *stores.Checkpoint
		incarnation string
		step        int64
		want        error
	}{
		"as it was seen":  {&last, "first", 3, nil},
		"it moved on":     {&last, "first", 2, stores.ErrConflict},
		"it was set back": {&last, "first", 4, stores.ErrConflict},
		"another life":    {&last, "second", 3, stores.ErrConflict},
		"no life":         {&last, "", 3, stores.ErrConflict},
		"no run":          {nil, "first", 3, stores.ErrNotFound},
	} {
		if err := stores.MayDelete(c.incarnation, c.step, c.last); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestCheckLease(t *testing.T) {
	if err := stores.CheckLease(place.Key, "worker", time.Second); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"no holder": stores.CheckLease(place.Key, "", time.Second),
		"no time":   stores.CheckLease(place.Key, "worker", 0),
		"no run":    stores.CheckLease(stores.Key{}, "worker", time.Second),
	} {
		if !errors.Is(err, stores.ErrInvalid) {
			t.Errorf("%s: got %v, want %v", name, err, stores.ErrInvalid)
		}
	}
}
