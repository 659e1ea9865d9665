//go:build unix

package bundle_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowtui/flowtui/internal/testuser"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/bundle"
)

// A bundle that may not be made is a write that is refused, and names the
// folder: the temporary file in it is nobody's business.
func TestCreateWhereNothingMayBeWritten(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	_, err := bundle.Create(filepath.Join(dir, "new.bundle"), bundle.About{Store: "s"})
	var at *fs.PathError
	if !errors.Is(err, stores.ErrReadOnly) || !errors.As(err, &at) || at.Path != dir {
		t.Errorf("got %v", err)
	}
}
