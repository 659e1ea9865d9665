package views

import (
	"time"

	"github.com/flowtui/flowtui/viewer"
)

const (
	// heartbeat is how old what is called live may be. A worker that dies writes
	// nothing, so no notice comes: what can be seen is read again anyway.
	heartbeat = 10 * time.Second
	// readAgain is when that read begins, so that it is back in time.
	readAgain = heartbeat - slowAfter
	// retryAfter is the pause before a failed read is tried again.
	retryAfter = 5 * time.Second
	// slowAfter is how long a read may take before the header says so.
	slowAfter = 2 * time.Second
)

// outdated reports that what was asked for at asked should be read again: it is
// old, or a lease that it shows has run out since.
func outdated(now, asked time.Time, leases ...*viewer.Lease) bool {
	if now.Sub(asked) >= readAgain {
		return true
	}
	for _, l := range leases {
		if l != nil && l.Expires.After(asked) && !l.Expires.After(now) {
			return true
		}
	}
	return false
}

// freshness says how old what is shown is: "live" is said only of what was read
// within a heartbeat, while notices of changes arrive.
func (s *shared) freshness(read time.Time, asked slot, failed bool) string {
	now := s.now()
	last := "last read " + age(now, read) + " ago"
	switch {
	case failed:
		last = "not live, " + last
	case asked.slow(now), now.Sub(read) > heartbeat:
	case !s.live:
		return s.notLive
	default:
		return "live"
	}
	if asked.busy {
		last += ", reading" + s.styles.Ellipsis
	}
	return last
}
