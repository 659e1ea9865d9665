package signals

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Context ends with SIGINT, SIGTERM or SIGHUP, and its cause names the signal.
// One that the process was started to ignore, as by nohup, stays ignored. A
// further SIGINT or SIGTERM ends the process at once. A further SIGHUP does
// nothing: when a terminal closes, both the shell and the system may send one,
// and the user has asked for an end only once.
func Context(parent context.Context) (context.Context, func()) {
	asked, forget := notify(parent, os.Interrupt, syscall.SIGTERM)
	ctx, release := notify(asked, syscall.SIGHUP)
	context.AfterFunc(ctx, forget)
	return ctx, func() { release(); forget() }
}

func notify(ctx context.Context, stops ...os.Signal) (context.Context, context.CancelFunc) {
	stops = slices.DeleteFunc(stops, signal.Ignored)
	if len(stops) == 0 { // none would mean all
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, stops...)
}
