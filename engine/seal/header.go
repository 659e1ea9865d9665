package seal

import (
	"encoding/binary"
)

// Format is the version of the signing format that this package writes.
const Format = 1

// Kind is what a record is. Each kind has a key of its own, so a record of one
// kind can never pass as another.
type Kind string

// The kinds of records.
const (
	KindCheckpoint Kind = "checkpoint"
	KindCall       Kind = "call"
	KindEvent      Kind = "event"
	KindHead       Kind = "head"
	KindBundle     Kind = "bundle" // the manifest of a bundle of runs
)

var kinds = []Kind{KindCheckpoint, KindCall, KindEvent, KindHead, KindBundle}

// Header is everything beside the payload that a signature covers: what the
// record is, whose it is, and its place. A field that a kind does not have
// stays zero; it is signed as such. Times are microseconds since 1970 in UTC.
type Header struct {
	Kind        Kind
	Store       string
	Owner       string
	Run         string
	Incarnation string
	Step        int64
	Base        int64
	Segment     int64
	N           int64
	RunKind     string // flow, loop
	Flow        string
	Digest      string
	Status      string
	User        string
	Thread      string
	Principal   string
	Node        string
	Ordinal     int64
	Tool        string
	Idempotent  bool
	Type        string // of an event
	Calls       int64
	Events      int64
	Created     int64
	Time        int64
	Prev        []byte
}

const magic = "flowtui"

// appendMessage appends the bytes before the payload: the magic, the format, the key
// id and every field in the order of Header, each with a 4-byte length, then
// the payload's length in 8 bytes. All numbers are big endian.
func (h Header) appendMessage(b []byte, keyID string, payload int) []byte {
	b = append(b, magic...)
	b = append(b, Format)
	text := func(s string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	number := func(n int64) {
		b = binary.BigEndian.AppendUint32(b, 8)
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	text(keyID)
	text(string(h.Kind))
	text(h.Store)
	text(h.Owner)
	text(h.Run)
	text(h.Incarnation)
	number(h.Step)
	number(h.Base)
	number(h.Segment)
	number(h.N)
	text(h.RunKind)
	text(h.Flow)
	text(h.Digest)
	text(h.Status)
	text(h.User)
	text(h.Thread)
	text(h.Principal)
	text(h.Node)
	number(h.Ordinal)
	text(h.Tool)
	number(flag(h.Idempotent))
	text(h.Type)
	number(h.Calls)
	number(h.Events)
	number(h.Created)
	number(h.Time)
	text(string(h.Prev))
	return binary.BigEndian.AppendUint64(b, uint64(payload))
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
