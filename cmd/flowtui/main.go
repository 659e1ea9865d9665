// Command flowtui shows durable runs in a terminal and acts on them. Every
// screen and action also has a command; docs/cli.md is their contract.
//
// The package parses, opens what the flags name, calls the viewer and prints.
// What a run is and what may be done to it is decided below. Only open.go
// names store drivers.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	stops := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	stops = slices.DeleteFunc(stops, signal.Ignored) // as under nohup
	ctx, stop := signal.NotifyContext(context.Background(), stops...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
