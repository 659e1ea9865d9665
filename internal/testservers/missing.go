//go:build unix

package testservers

import (
	"os"
	"testing"
)

// missing ends a test that cannot have its server.
func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("FLOWTUI_TEST_ALL") == "1" {
		t.Fatal(why)
	}
	t.Skip("skipped: " + why)
}
