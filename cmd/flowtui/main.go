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

	"github.com/flowtui/flowtui/internal/signals"
)

func main() {
	ctx, _ := signals.Context(context.Background()) // until the process ends
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
