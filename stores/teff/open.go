package teff

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowtui/flowtui/internal/pyjson"
	"github.com/flowtui/flowtui/stores"
)

// isRow reports whether a JSON object has the keys of a row, so that other
// people's JSON files are not taken for teff's.
func isRow(text []byte) bool {
	members, err := pyjson.Object(text)
	if err != nil {
		return false
	}
	for _, key := range []string{"state", "next_node_id", "iteration"} {
		if _, ok := pyjson.Last(members, key); !ok {
			return false
		}
	}
	return true
}

// Named reports whether a location says itself that it is a store of teff's,
// with format=teff or table= among the parameters of a URL.
func Named(location string) bool {
	_, query, ok := strings.Cut(location, "?")
	if !ok || !isPostgres(location) && !strings.HasPrefix(location, "file:") {
		return false
	}
	q, err := url.ParseQuery(query)
	return err == nil && (q.Get("format") == "teff" || q.Has("table"))
}

func isPostgres(location string) bool {
	return strings.HasPrefix(location, "postgres://") || strings.HasPrefix(location, "postgresql://")
}

// Sniff tells whether there is a store of teff's at a location, a path or a
// PostgreSQL URL, and what there is instead. It changes nothing. err is set when
// it could not look.
func Sniff(ctx context.Context, location string) (ok bool, found string, err error) {
	if Named(location) {
		return true, "", nil // opening says what is wrong with it
	}
	if isPostgres(location) {
		return sniffPostgres(ctx, location)
	}
	info, err := os.Stat(location)
	switch {
	case err != nil:
		return false, "", err
	case info.IsDir():
		return sniffFiles(ctx, location)
	case !info.Mode().IsRegular():
		return false, "no ordinary file", nil
	}
	return sniffSQLite(ctx, location)
}

// Open attaches to the store of teff's at a location: a folder of files, a
// SQLite file, or a postgres:// URL, of which format and table are parameters of
// ours. It changes nothing. A store with a history table is a [HistoryStore].
func Open(ctx context.Context, location string, o Options) (stores.Store, error) {
	b, err := open(ctx, location)
	if err != nil {
		if _, told := errors.AsType[*stores.OpError](err); told {
			return nil, err
		}
		return nil, &stores.OpError{Op: "open", Store: shown(location), Err: err}
	}
	return newStore(b, o), nil
}

// shown is a location without what may be secret in it.
func shown(location string) string {
	if isPostgres(location) {
		return "the PostgreSQL store"
	}
	return location
}

func open(ctx context.Context, location string) (backend, error) {
	if isPostgres(location) {
		return openPostgres(ctx, location)
	}
	path := location
	if strings.HasPrefix(location, "file:") {
		var err error
		if path, err = filePath(location); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: there is nothing at %s: %w", stores.ErrNotFound, path, fs.ErrNotExist)
	case err != nil:
		return nil, err
	case info.IsDir():
		f, err := openFiles(path)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
	return openSQLite(ctx, path)
}

// filePath is the path of a file: URL.
func filePath(location string) (string, error) {
	u, err := url.Parse(location)
	if err != nil {
		return "", fmt.Errorf("%w: %w", stores.ErrInvalid, err)
	}
	path := u.Path
	if u.Opaque != "" {
		if path, err = url.PathUnescape(u.Opaque); err != nil {
			return "", fmt.Errorf("%w: %w", stores.ErrInvalid, err)
		}
	}
	return filepath.FromSlash(path), nil
}
