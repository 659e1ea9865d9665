package stores

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxIDBytes is the length limit of owners and run ids.
const MaxIDBytes = 1024

// Validate refuses keys that no store can hold: empty, too long, not UTF-8,
// with a NUL, or an owner that means all owners.
func (k Key) Validate() error {
	if k.Owner == AnyOwner {
		return fmt.Errorf("%w: owner %q stands for all owners", ErrInvalid, k.Owner)
	}
	if err := validID("owner", k.Owner); err != nil {
		return err
	}
	return validID("run id", k.Run)
}

func validID(what, id string) error {
	switch {
	case id == "":
		return fmt.Errorf("%w: %s is empty", ErrInvalid, what)
	case len(id) > MaxIDBytes:
		return fmt.Errorf("%w: %s has %d bytes, at most %d are allowed", ErrInvalid, what, len(id), MaxIDBytes)
	case !utf8.ValidString(id):
		return fmt.Errorf("%w: %s is not UTF-8", ErrInvalid, what)
	case strings.ContainsRune(id, 0):
		return fmt.Errorf("%w: %s has a NUL character", ErrInvalid, what)
	}
	return nil
}

// Check refuses a save whose parts do not belong together.
func (s Save) Check() error {
	c, h := s.Checkpoint, s.Head
	if err := c.Validate(); err != nil {
		return err
	}
	switch {
	case c.Place != h.Place || c.Step != h.Step || c.Segment != h.Segment || c.Base != h.Base || c.Status != h.Status:
		return fmt.Errorf("%w: head and checkpoint differ", ErrInvalid)
	case c.Step < 0 || c.Base < 0 || c.Base > c.Step || c.Segment < 1:
		return fmt.Errorf("%w: step %d, base %d, segment %d", ErrInvalid, c.Step, c.Base, c.Segment)
	case !c.Status.Valid():
		return fmt.Errorf("%w: status %q", ErrInvalid, c.Status)
	case c.Incarnation == "":
		return fmt.Errorf("%w: no incarnation", ErrInvalid)
	}
	for _, r := range s.Calls {
		if r.Place != c.Place {
			return fmt.Errorf("%w: call record of another run", ErrInvalid)
		}
	}
	for _, e := range s.Events {
		if e.Place != c.Place {
			return fmt.Errorf("%w: event of another run", ErrInvalid)
		}
	}
	return nil
}

// Check refuses a call write whose parts do not belong together.
func (w CallWrite) Check() error {
	r := w.Call
	if err := r.Validate(); err != nil {
		return err
	}
	switch {
	case r.Segment < 1 || r.N < 1 || r.Step < 0:
		return fmt.Errorf("%w: call record %d of segment %d, step %d", ErrInvalid, r.N, r.Segment, r.Step)
	case r.Incarnation == "":
		return fmt.Errorf("%w: no incarnation", ErrInvalid)
	}
	for _, e := range w.Events {
		if e.Place != r.Place {
			return fmt.Errorf("%w: event of another run", ErrInvalid)
		}
	}
	return nil
}

// Follows reports whether c may be saved when last is the run's newest
// checkpoint (nil: the run does not exist). It is the compare-and-set rule of
// the contract, in one place for every driver.
func (c Checkpoint) Follows(last *Checkpoint) error {
	if last == nil {
		if c.Step != 0 || c.Segment != 1 {
			return fmt.Errorf("%w: there is no such run, so only step 0 can be saved", ErrConflict)
		}
		return nil
	}
	switch {
	case c.Step == 0:
		return fmt.Errorf("%w: the run exists already, at step %d", ErrConflict, last.Step)
	case c.Incarnation != last.Incarnation:
		return fmt.Errorf("%w: the run was deleted and started anew", ErrConflict)
	case last.Status.Final():
		return fmt.Errorf("%w: the run has ended, it is %s", ErrConflict, last.Status)
	case c.Step != last.Step+1:
		return fmt.Errorf("%w: the run is at step %d, so step %d cannot be saved", ErrConflict, last.Step, c.Step)
	case c.Segment != last.Segment && c.Segment != last.Segment+1:
		return fmt.Errorf("%w: the run is in segment %d, this worker is in segment %d", ErrConflict, last.Segment, c.Segment)
	}
	return nil
}

// MayRecord reports whether r may be appended when last is the run's newest
// checkpoint: the fencing rule of the contract, in one place for every driver.
func (r Call) MayRecord(last *Checkpoint) error {
	switch {
	case last == nil:
		return fmt.Errorf("%w: there is no such run", ErrNotFound)
	case r.Incarnation != last.Incarnation:
		return fmt.Errorf("%w: the run was deleted and started anew", ErrConflict)
	case r.Segment > last.Segment:
		return fmt.Errorf("%w: segment %d was never claimed", ErrConflict, r.Segment)
	case r.Status == CallStarted && r.Segment != last.Segment:
		return fmt.Errorf("%w: this worker was cut off, the run is in segment %d", ErrConflict, last.Segment)
	case r.Status == CallStarted && last.Status.Final():
		return fmt.Errorf("%w: the run is %s", ErrConflict, last.Status)
	}
	return nil
}

// MayDelete reports whether a run may be deleted that was seen with its newest
// checkpoint at this step of this incarnation, when last is its newest one now.
// It is the rule of [Remover], in one place for every driver.
func MayDelete(incarnation string, step int64, last *Checkpoint) error {
	switch {
	case last == nil:
		return fmt.Errorf("%w: there is no such run", ErrNotFound)
	case incarnation != last.Incarnation:
		return fmt.Errorf("%w: the run was deleted and started anew", ErrConflict)
	case step != last.Step:
		return fmt.Errorf("%w: the run is at step %d, it was seen at step %d", ErrConflict, last.Step, step)
	}
	return nil
}

// CheckLease refuses arguments that make no lease.
func CheckLease(k Key, holder string, ttl time.Duration) error {
	if err := k.Validate(); err != nil {
		return err
	}
	if holder == "" || ttl <= 0 {
		return fmt.Errorf("%w: lease for holder %q of %s", ErrInvalid, holder, ttl)
	}
	return nil
}
