// Package testservers starts private Redis and PostgreSQL servers for tests:
// each call gives a new one, on a free loopback port, with its own password,
// in a temporary folder. It stops them by the process that it started, never
// by name.
//
// A test whose server is not installed is skipped, and fails when
// FLOWTUI_TEST_ALL=1 is set. scripts/test-needs.sh installs them. PgBouncer can
// stand before a PostgreSQL server.
//
// On Linux a server dies with the test process, even if that is killed; its
// folder stays behind then, and a PostgreSQL that is paused at that moment
// leaves its stopped sessions. On other systems a killed test process leaves
// its servers.
//
// Redis keeps nothing on disk: it is empty after every restart. PostgreSQL
// keeps what was committed.
package testservers
