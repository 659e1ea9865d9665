// Package testuser runs tests as a user without rights. It owns how a test that
// runs as root, whom no permission stops, gets a process that it does stop.
package testuser
