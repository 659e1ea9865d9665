package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/bundle"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/sqlite"
	"github.com/flowtui/flowtui/stores/teff"
	"github.com/flowtui/flowtui/viewer"
)

// formats are the kinds of stores that the program opens, in the order in which
// they are tried; locations says where each STORE is. With create, a store that
// is not there yet is one as well; nothing is made before the first write.
func formats(locations map[string]string, create bool) viewer.Registry {
	return viewer.Registry{{
		Name: "sqlite",
		Sniff: func(_ context.Context, spec string) (bool, string, error) {
			path, err := sqlitePath(locations[spec])
			switch {
			case err != nil:
				return false, err.Error(), nil
			case create && !exists(path):
				return !namesFolder(path), "", nil
			}
			return sqlite.Sniff(path)
		},
		Open: func(ctx context.Context, spec string, readOnly bool) (stores.Store, error) {
			path, err := sqlitePath(locations[spec])
			if err != nil {
				return nil, err
			}
			return sqlite.Open(ctx, path, sqlite.Options{ReadOnly: readOnly, Create: create && !readOnly})
		},
	}, {
		Name: "redis",
		Sniff: func(_ context.Context, spec string) (bool, string, error) {
			return redis.IsURL(locations[spec]), "", nil // what is there, opening tells
		},
		Open: func(ctx context.Context, spec string, readOnly bool) (stores.Store, error) {
			redis.Quiet() // the terminal is not the client library's to write to
			return redis.Open(ctx, locations[spec], redis.Options{ReadOnly: readOnly, Create: create && !readOnly})
		},
	}, {
		Name: "postgres",
		Sniff: func(_ context.Context, spec string) (bool, string, error) {
			return postgres.IsURL(locations[spec]) && !teff.Named(locations[spec]), "", nil
		},
		Open: func(ctx context.Context, spec string, readOnly bool) (stores.Store, error) {
			return openPostgres(ctx, locations[spec], readOnly, create && !readOnly)
		},
	}, bundleFormat(locations), {
		Name: "json",
		Sniff: func(ctx context.Context, spec string) (bool, string, error) {
			path, err := sqlitePath(locations[spec])
			if err != nil || strings.HasPrefix(locations[spec], "sqlite:") {
				return false, "", nil // said above
			}
			return sniffFolder(ctx, path, create)
		},
		Open: func(ctx context.Context, spec string, readOnly bool) (stores.Store, error) {
			path, err := sqlitePath(locations[spec])
			if err != nil {
				return nil, err
			}
			return jsonfile.Open(ctx, path, jsonfile.Options{ReadOnly: readOnly, Create: create && !readOnly && namesFolder(path)})
		},
	}, foreign(locations)}
}

// openPostgres opens a store of a server, which with create need not be there
// yet. None is made beside the runs of teff's.
func openPostgres(ctx context.Context, url string, readOnly, create bool) (stores.Store, error) {
	s, err := postgres.Open(ctx, url, postgres.Options{ReadOnly: readOnly})
	if !create || err == nil || !isNoStore(err) {
		return s, err
	}
	foreign, _, looked := teff.Sniff(ctx, url)
	switch {
	case looked != nil:
		return nil, looked
	case foreign:
		return nil, err
	}
	return postgres.Open(ctx, url, postgres.Options{Create: true})
}

// isNoStore reports that there is no store of the format that was looked for.
func isNoStore(err error) bool {
	return errors.Is(err, stores.ErrNotFound) || errors.Is(err, stores.ErrNotStore)
}

// foreign are the stores of teff, which come last: ours win by their own marks.
func foreign(locations map[string]string) viewer.Format {
	where := func(spec string) (string, error) {
		if location := locations[spec]; isServer(location) || teff.Named(location) {
			return location, nil
		}
		return sqlitePath(locations[spec])
	}
	return viewer.Format{
		Name:     "teff",
		Unsigned: true,
		Sniff: func(ctx context.Context, spec string) (bool, string, error) {
			location, err := where(spec)
			if err != nil {
				return false, "", nil // said above
			}
			return teff.Sniff(ctx, location)
		},
		Open: func(ctx context.Context, spec string, readOnly bool) (stores.Store, error) {
			location, err := where(spec)
			if err != nil {
				return nil, err
			}
			return teff.Open(ctx, location, teff.Options{ReadOnly: readOnly})
		},
	}
}

// bundleFormat is that of files that can only be read.
func bundleFormat(locations map[string]string) viewer.Format {
	return viewer.Format{
		Name: "bundle",
		Sniff: func(_ context.Context, spec string) (bool, string, error) {
			path, err := sqlitePath(locations[spec])
			if err != nil || !exists(path) {
				return false, "", nil // said by the others
			}
			return bundle.Sniff(path)
		},
		Open: func(ctx context.Context, spec string, _ bool) (stores.Store, error) {
			path, err := sqlitePath(locations[spec])
			if err != nil {
				return nil, err
			}
			return bundle.Open(ctx, path)
		},
	}
}

// createBundle begins a bundle file.
func createBundle(path, store string, created time.Time, by, note string) (*bundle.Writer, error) {
	return bundle.Create(path, bundle.About{Store: store, Created: created, By: by, Note: note})
}

// isServer reports whether a location names a server.
func isServer(location string) bool { return redis.IsURL(location) || postgres.IsURL(location) }

// shown is a STORE as it may be printed: the URL of a server can hold a password.
func (s *session) shown(spec string) string {
	if isServer(spec) {
		return s.Stores()[0].Location
	}
	return spec
}

// sniffFolder also takes a folder that is missing or empty for a store when one
// may be made there.
func sniffFolder(ctx context.Context, path string, create bool) (bool, string, error) {
	if create && namesFolder(path) {
		if s, err := jsonfile.Open(ctx, path, jsonfile.Options{Create: true}); err == nil {
			return true, "", s.Close()
		}
	}
	return jsonfile.Sniff(path)
}

// namesFolder reports whether a path is written as that of a folder.
func namesFolder(path string) bool {
	return path != "" && os.IsPathSeparator(path[len(path)-1])
}

// createStore opens a store of any kind that need not be there yet.
func createStore(ctx context.Context, spec string) (stores.Store, error) {
	for _, f := range formats(map[string]string{spec: spec}, true) {
		if ok, _, err := f.Sniff(ctx, spec); err != nil {
			return nil, err
		} else if ok {
			return f.Open(ctx, spec, false)
		}
	}
	return nil, problem("failed", "give the path or the URL of a store", "%s is something else than a store", maskedURL(spec))
}

// maskedURL is a URL as it may be printed: without a password.
func maskedURL(spec string) string {
	if u, err := url.Parse(spec); err == nil && isURL(spec) {
		return u.Redacted()
	}
	return spec
}

// sqlitePath is the file or folder that a STORE names. Of a sqlite: URL everything after
// the colon is the path, as it is; a file: URL is escaped as usual.
func sqlitePath(spec string) (string, error) {
	if path, ok := strings.CutPrefix(spec, "sqlite:"); ok {
		return strings.TrimPrefix(path, "//"), nil
	}
	if strings.HasPrefix(spec, "file:") {
		return filePath(spec)
	}
	if isURL(spec) && !exists(spec) {
		scheme, _, _ := strings.Cut(spec, ":")
		return "", fmt.Errorf("%s: stores cannot be opened", scheme)
	}
	return spec, nil
}

func filePath(spec string) (string, error) {
	u, err := url.Parse(spec)
	if err != nil {
		return "", err
	}
	path := u.Path
	if u.Opaque != "" {
		if path, err = url.PathUnescape(u.Opaque); err != nil {
			return "", err
		}
	}
	switch {
	case u.Host != "" && u.Host != "localhost":
		return "", fmt.Errorf("a file: URL has three slashes or none, %q names the host %q", spec, u.Host)
	case u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%q has a ? or #; in a path they are written %%3F and %%23", spec)
	}
	if len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:] // /C:/x
	}
	return filepath.FromSlash(path), nil
}

// storeExists reports whether there is something at a location. Of a server and
// of a store that is named as one of teff's, opening tells.
func storeExists(location string) bool {
	if isServer(location) || teff.Named(location) {
		return true
	}
	path, err := sqlitePath(location)
	if err != nil {
		return false
	}
	_, err = os.Stat(path)
	return err == nil || errors.Is(err, fs.ErrPermission) // in a folder that may not be looked into
}

// creatable refuses to make a store where a slip of the hand is more likely: a
// new file is named by its ending or by a URL, a new folder by a slash.
func creatable(spec string) error {
	if isServer(spec) || teff.Named(spec) { // which is never made here
		return nil
	}
	path, err := sqlitePath(spec)
	if err != nil || exists(path) || namesFolder(path) || strings.HasPrefix(spec, "sqlite:") {
		return err
	}
	switch filepath.Ext(path) {
	case ".db", ".sqlite", ".sqlite3":
		return nil
	}
	return problem("not-found", "a new store is named by its ending (.db, .sqlite, .sqlite3), as sqlite:PATH, or as PATH/ for a folder of JSON files", "there is no store %s", path)
}
