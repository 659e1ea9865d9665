//go:build !unix

package testservers

import "testing"

const noServers = "skipped: private servers need Linux or macOS"

// Server does not exist on this system.
type Server struct{ URL string }

// Redis skips the test.
func Redis(t testing.TB) *Server {
	t.Helper()
	t.Skip(noServers)
	return nil
}

// RedisWith skips the test.
func RedisWith(t testing.TB, _ ...string) *Server { return Redis(t) }

// RedisSentinel skips the test.
func RedisSentinel(t testing.TB, _ ...string) *Server { return Redis(t) }

// Postgres skips the test.
func Postgres(t testing.TB) *Server {
	t.Helper()
	t.Skip(noServers)
	return nil
}

// PgBouncer skips the test.
func PgBouncer(t testing.TB, _ *Server) *Server {
	t.Helper()
	t.Skip(noServers)
	return nil
}

// Stop does nothing.
func (*Server) Stop() {}

// Kill does nothing.
func (*Server) Kill() {}

// Restart does nothing.
func (*Server) Restart(testing.TB) {}

// Pause does nothing.
func (*Server) Pause() {}

// Resume does nothing.
func (*Server) Resume() {}
