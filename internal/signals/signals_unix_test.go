//go:build unix

package signals_test

import (
	"context"
	"os"
	"syscall"
	"testing"

	"github.com/flowtui/flowtui/internal/signals"
)

func TestContextEndsWithASignalAndOutlivesHangups(t *testing.T) {
	for name, first := range map[string]syscall.Signal{"hangup": syscall.SIGHUP, "terminated": syscall.SIGTERM} {
		ctx, release := signals.Context(t.Context())
		kill := func(s syscall.Signal) {
			if err := syscall.Kill(os.Getpid(), s); err != nil {
				t.Fatal(err)
			}
		}
		kill(first)
		<-ctx.Done()
		if got := context.Cause(ctx).Error(); got != name+" signal received" {
			t.Errorf("the cause is %q", got)
		}
		for range 3 {
			kill(syscall.SIGHUP) // without the rule, the test ends here
		}
		release()
	}
}
