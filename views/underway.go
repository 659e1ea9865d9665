package views

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/widget"
)

// cutPatience bounds how long leaving waits for actions that were told to stop:
// a tool that does not end by itself is killed well before that.
const cutPatience = 10 * time.Second

// lookPatience bounds how long leaving reads which call a run is at.
const lookPatience = time.Second

// CutError is what [Run] returns when the screens were left while actions were
// under way and these did not come to their end.
type CutError struct{ Runs []Cut }

// Cut is a run whose action was cut off. It can be recovered; a call that was
// under way may be in doubt.
type Cut struct {
	viewer.Ref
	Calls []viewer.Call // without a result, as far as that could be read
	Works bool          // it was told to stop and did not in time
}

// Error names the runs, their calls and what decides those.
func (e *CutError) Error() string {
	runs := make([]string, len(e.Runs))
	for i, r := range e.Runs {
		runs[i] = r.String()
	}
	return "left while work was under way: " + strings.Join(runs, "; ")
}

// String says where the run stands and what decides its calls.
func (c Cut) String() string {
	text := c.at()
	if c.Works {
		text += ", and did not stop"
	}
	if len(c.Calls) == 0 {
		return text + ": look whether a call is in doubt, then recover it"
	}
	for _, call := range c.Calls {
		if !call.Idempotent {
			return text + ": it may or may not have its effect, so look where it should, resolve the call, then recover the run"
		}
	}
	return text + "; it may run again, so recover the run"
}

// at names the calls that the run is at.
func (c Cut) at() string {
	if len(c.Calls) == 0 {
		return c.Run + " was worked on"
	}
	names := make([]string, len(c.Calls))
	for i, call := range c.Calls {
		names[i] = fmt.Sprintf("%s (%s)", call.ID, call.Tool)
	}
	return c.Run + " is at " + strings.Join(names, ", ")
}

// underway knows the actions that are under way.
type underway struct {
	Backend

	mu     sync.Mutex
	left   bool
	acting []viewer.Ref
	cut    []viewer.Ref
	idle   chan struct{} // closed when the last action ended after the screens were left
}

// Act implements [Backend].
func (u *underway) Act(ctx context.Context, r viewer.Request, progress func(viewer.Progress)) (viewer.Outcome, error) {
	u.mu.Lock()
	if u.left {
		u.mu.Unlock()
		return viewer.Outcome{}, context.Canceled
	}
	u.acting = append(u.acting, r.Ref)
	u.mu.Unlock()
	o, err := u.Backend.Act(ctx, r, progress)
	u.mu.Lock()
	defer u.mu.Unlock()
	i := slices.Index(u.acting, r.Ref)
	u.acting = slices.Delete(u.acting, i, i+1)
	if err != nil && (u.left || ctx.Err() != nil) { // a signal tells it before the screens were left
		u.cut = append(u.cut, r.Ref)
	}
	if u.left && len(u.acting) == 0 {
		close(u.idle)
	}
	return o, err
}

// leave waits for the actions that are under way, says at once which those are,
// and returns those that were cut off, also those that did not end in time. No
// action begins any more. ctx is one that has not ended.
func (u *underway) leave(ctx context.Context, patience time.Duration, say io.Writer) []Cut {
	u.mu.Lock()
	u.left, u.idle = true, make(chan struct{})
	acting := slices.Clone(u.acting)
	if len(u.acting) == 0 {
		close(u.idle)
	}
	u.mu.Unlock()
	late := time.NewTimer(patience)
	defer late.Stop()
	for _, ref := range acting {
		fmt.Fprintf(say, "stopping, at most %s: %s\n", short(patience), widget.Plain(u.look(ctx, ref).at()))
	}
	select {
	case <-u.idle:
	case <-late.C:
	}
	u.mu.Lock()
	ended, working := slices.Clone(u.cut), slices.Clone(u.acting)
	u.mu.Unlock()
	var cut []Cut
	for i, ref := range slices.Concat(ended, working) {
		c := u.look(ctx, ref)
		c.Works = i >= len(ended)
		cut = append(cut, c)
	}
	return cut
}

// look reads which calls of the run have no result.
func (u *underway) look(ctx context.Context, ref viewer.Ref) Cut {
	ctx, done := context.WithTimeout(ctx, lookPatience)
	defer done()
	calls, _ := u.Calls(ctx, ref, false) // the run is named all the same
	return Cut{Ref: ref, Calls: slices.DeleteFunc(slices.Clone(calls), func(c viewer.Call) bool { return c.Status != "started" })}
}
