package storetest

import (
	"bytes"
	"time"

	"github.com/flowtui/flowtui/stores"
)

var valueCases = []testCase{
	{"payloads", payloads},
	{"times", times},
}

// payloads come back bit for bit, everywhere.
func payloads(s *suite) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for name, payload := range map[string][]byte{
		"every byte": every,
		"nil":        nil,
		"empty":      {},
		"NUL":        {0},
		"not UTF-8":  {0xff, 0xfe, 0x80},
		"spaces":     []byte(" {\"b\" : 1.0,\n \"a\": 1e2, \"a\": 9007199254740993 } \n"),
		"1 MB":       bytes.Repeat(every, 1<<12),
	} {
		p := s.place(name)
		w := Step(p, 0, func(c *stores.Checkpoint) { c.Payload = payload })
		w.Head.Payload = payload
		e, c := Event(p, 1), Record(p, 1, 1)
		e.Payload, c.Payload = payload, payload
		w.Events = []stores.Event{e}
		s.save(w)
		s.record(c)
		r := s.whole(p.Key)
		for what, got := range map[string][]byte{
			"latest": r.last.Payload, "head": r.head.Payload, "history": r.history[0].Payload,
			"call": r.calls[0].Payload, "event": r.events[0].Payload,
		} {
			if !bytes.Equal(got, payload) {
				s.Errorf("%s of %s came back as %.100q", what, name, got)
			}
		}
		if r.last.Size != int64(len(payload)) || r.history[0].Size != r.last.Size {
			s.Errorf("%s: size is %d and %d", name, r.last.Size, r.history[0].Size)
		}
	}
}

// times are UTC and precise to the microsecond.
func times(s *suite) {
	zone := time.FixedZone("elsewhere", -9000)
	for name, in := range map[string]time.Time{
		"nanoseconds are cut": time.Date(2026, 5, 6, 7, 8, 9, 123456789, time.UTC),
		"another zone":        time.Date(2026, 5, 6, 7, 8, 9, 999999999, zone),
		"before 1970":         time.Date(1903, 1, 2, 3, 4, 5, 1999, time.UTC),
		"far away":            time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		"zero":                {},
		"now":                 time.Now(),
	} {
		p := s.place(name)
		w := Step(p, 0, func(c *stores.Checkpoint) { c.Time = in })
		w.Head.Created = in
		e, c := Event(p, 1), Record(p, 1, 1)
		e.Time, c.Time = in, in
		w.Events = []stores.Event{e}
		s.save(w)
		s.record(c)
		r := s.whole(p.Key)
		for what, got := range map[string]time.Time{
			"checkpoint": r.last.Time, "created": r.head.Created, "updated": r.head.Updated, "call": r.calls[0].Time, "event": r.events[0].Time,
		} {
			if want := stores.Micro(in); !got.Equal(want) || got.Location() != time.UTC {
				s.Errorf("%s of %s is %v, want %v", what, name, got, want)
			}
		}
	}
}
