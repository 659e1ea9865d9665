package views

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowtui/flowtui/viewer"
)

// cutPatience bounds how long leaving waits for actions that were told to stop:
// a tool that does not end by itself is killed well before that.
const cutPatience = 10 * time.Second

// CutError is what [Run] returns when the screens were left while actions were
// under way and these did not come to their end. Each run can be recovered; a
// call that was under way may be in doubt.
type CutError struct{ Runs []viewer.Ref }

// Error names the runs.
func (e *CutError) Error() string {
	names := make([]string, len(e.Runs))
	for i, r := range e.Runs {
		names[i] = r.Run
	}
	return fmt.Sprintf("left while work was under way on %s: look whether a call is in doubt, then recover", strings.Join(names, ", "))
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
	if u.left && err != nil {
		u.cut = append(u.cut, r.Ref)
	}
	if u.left && len(u.acting) == 0 {
		close(u.idle)
	}
	return o, err
}

// leave waits for the actions that are under way and returns those that were
// cut off, also those that did not end in time. No action begins any more.
func (u *underway) leave(patience time.Duration) []viewer.Ref {
	u.mu.Lock()
	u.left, u.idle = true, make(chan struct{})
	if len(u.acting) == 0 {
		close(u.idle)
	}
	u.mu.Unlock()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-u.idle:
	case <-late.C:
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Concat(u.cut, u.acting)
}
