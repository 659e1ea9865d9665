//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/fixtures/teff"
	"github.com/flowtui/flowtui/internal/testuser"
)

// A flow file that may not be read says nothing of the store, and what to do.
func TestNoPermissionForAFlowFileIsNotAboutTheStore(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	here(t)
	check(t, os.Mkdir("flows", 0o700))
	check(t, os.WriteFile("flows/quick.yaml", []byte(pipedFlow), 0o000))
	check(t, os.WriteFile("flows/ticket.graph.yaml", []byte("dialect: teff"), 0o000))
	check(t, teff.WriteDatabases("."))
	for _, args := range [][]string{
		{"recover", "sqlite.db", "guard", "--flow", "flows/ticket.graph.yaml"},
		{"run", "t.db", "flows/quick.yaml"},
		{"run", "t.db", "quick", "--flows", "flows"},
		{"run", "t.db", "flows/ticket.graph.yaml"},
		{"run", "t.db", "ticket.graph", "--flows", "flows"},
		{"lint", "flows/quick.yaml"},
	} {
		file := "flows/quick.yaml"
		if strings.Contains(strings.Join(args, " "), "ticket") {
			file = "flows/ticket.graph.yaml"
		}
		code, said := told(t.Context(), append(args, "--key-file", "k", "--yes")...)
		want := "flowtui: no permission to read the flow file " + file + "\nhint: ask for the permission, or be a user who has it\n"
		if code != 7 || !strings.Contains(said, want) || strings.Contains(said, "store") {
			t.Errorf("%q: exit code %d: %s", args, code, said)
		}
	}
}

// What may not be read is not said to be missing: the exit code is 7, not 3.
func TestNoPermissionIsNotMissing(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	here(t)
	check(t, os.WriteFile("quick.yaml", []byte(pipedFlow), 0o000))
	check(t, os.WriteFile("state.json", []byte(`{}`), 0o000))
	check(t, os.Mkdir("hidden", 0o000))
	check(t, os.WriteFile("ask.yaml", []byte(pipedFlow), 0o600))
	for _, args := range [][]string{
		{"lint", "quick.yaml"},
		{"graph", "quick.yaml"},
		{"run", "t.db", "quick.yaml", "--key-file", "k", "--yes"},
		{"run", "t.db", "ask.yaml", "--state", "@state.json", "--key-file", "k", "--yes"},
		{"run", "hidden/t.db", "ask.yaml", "--key-file", "k", "--yes"},
		{"ls", "hidden/t.db"},
		{"ls", "t.db", "--flows", "hidden"},
		{"import", "t.db", "hidden/a.bundle", "--key-file", "k", "--yes"},
	} {
		code, said := told(t.Context(), args...)
		if code != 7 || !strings.Contains(said, "no permission") || strings.Contains(said, "is created") {
			t.Errorf("%q: exit code %d: %s", args, code, said)
		}
	}
}

// A key that may not be read is there: a new one would sign what the old one no
// longer proves. One that is missing may well be made.
func TestNoPermissionForAKeyIsNoReasonForANewOne(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	here(t)
	check(t, os.WriteFile("mine.key", []byte(strings.Repeat("k", 32)), 0o000))
	check(t, os.Mkdir("hidden", 0o000))
	for file, made := range map[string]bool{"mine.key": false, "hidden/mine.key": false, "none.key": true} {
		code, said := told(t.Context(), "run", "t.db", "quick", "--key-file", file, "--yes")
		if code != 7 || strings.Contains(said, "make a new key") != made || strings.Contains(said, "permission to read it, or give another file") == made {
			t.Errorf("%s: exit code %d: %s", file, code, said)
		}
	}
}
