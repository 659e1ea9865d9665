package redis

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// DefaultPrefix is the prefix of a URL that names none.
const DefaultPrefix = "flowtui"

// prefixes have no braces, no pattern characters and nothing to escape.
var prefixes = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$`)

// keys names the keys of a store: "{prefix}" is in front of each.
type keys struct{ prefix string }

func newKeys(prefix string) keys { return keys{"{" + prefix + "}"} }

func (k keys) meta() string     { return k.prefix + ":meta" }
func (k keys) index() string    { return k.prefix + ":index" }
func (k keys) leases() string   { return k.prefix + ":leases" }
func (k keys) expiring() string { return k.prefix + ":expiring" }
func (k keys) owners() string   { return k.prefix + ":owners" }
func (k keys) open() string     { return k.prefix + ":open" }
func (k keys) graphs() string   { return k.prefix + ":graphs" }
func (k keys) changes() string  { return k.prefix + ":changes" } // a channel

func (k keys) run(key stores.Key) string { return k.prefix + ":run:" + id(key) }

// runs is a pattern that every run's key matches.
func (k keys) runs() string { return k.prefix + ":run:*" }

// The sorted sets of lists. A name from data has its length in front of it, so
// that nothing in it can be taken for another part of the key.

func (k keys) status(s stores.Status) string { return k.prefix + ":status:" + string(s) }

func (k keys) owner(owner string, s stores.Status) string {
	return fmt.Sprintf("%s:owner:%d:%s:%s", k.prefix, len(owner), owner, s)
}

func (k keys) flow(flow string, s stores.Status) string {
	return fmt.Sprintf("%s:flow:%d:%s:%s", k.prefix, len(flow), flow, s)
}

// id names a run in the store's hashes.
func id(k stores.Key) string { return strconv.Itoa(len(k.Owner)) + ":" + k.Owner + ":" + k.Run }

func parseID(s string) (stores.Key, bool) {
	size, rest, ok := strings.Cut(s, ":")
	n, err := strconv.Atoi(size)
	if !ok || err != nil || n <= 0 || n+1 >= len(rest) || rest[n] != ':' || strconv.Itoa(n) != size {
		return stores.Key{}, false
	}
	return stores.Key{Owner: rest[:n], Run: rest[n+1:]}, true
}

// A member of a sorted set is the run's time in 16 hex digits, newest first,
// then the owner, a NUL and the run. All scores are 0: the order of bytes is the
// order of lists, and a time keeps every digit.
type member string

const orderDigits = 16

// order is the sortable form of a time: greater times come first.
func order(t time.Time) string {
	return fmt.Sprintf("%0*x", orderDigits, uint64(math.MaxInt64)-uint64(t.UnixMicro()))
}

func parseMember(s string) (m member, k stores.Key, ok bool) {
	if len(s) < orderDigits {
		return "", k, false
	}
	if _, err := strconv.ParseUint(s[:orderDigits], 16, 64); err != nil {
		return "", k, false
	}
	k.Owner, k.Run, ok = strings.Cut(s[orderDigits:], "\x00")
	return member(s), k, ok && k.Owner != "" && k.Run != ""
}

// updated is the time that the member is sorted by.
func (m member) updated() time.Time {
	n, _ := strconv.ParseUint(string(m[:orderDigits]), 16, 64) // parseMember has tried it
	return time.UnixMicro(int64(uint64(math.MaxInt64) - n)).UTC()
}

// record is an index record: in which sorted sets a run is, and until when.
type record struct {
	order   string
	status  stores.Status
	open    bool
	expires int64 // milliseconds since 1970, 0 for never
	flow    string
}

var recordForm = regexp.MustCompile(`(?s)^([0-9a-f]{16}) ([a-z]+) ([01]) ([0-9]+) (.*)$`)

func parseRecord(s string) (r record, ok bool) {
	m := recordForm.FindStringSubmatch(s)
	if m == nil {
		return r, false
	}
	expires, err := strconv.ParseInt(m[4], 10, 64)
	return record{order: m[1], status: stores.Status(m[2]), open: m[3] == "1", expires: expires, flow: m[5]}, err == nil
}

// expired reports whether the run was to be gone at a time of the store's clock.
func (r record) expired(now time.Time) bool { return r.expires > 0 && now.UnixMilli() >= r.expires }
