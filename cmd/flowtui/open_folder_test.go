package main

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
)

// A folder is opened as a store of JSON files by its path or a file: URL, and
// made only where the path ends in a slash.
func TestFolderOfJSONFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "my runs")
	s, err := jsonfile.Open(t.Context(), path, jsonfile.Options{Create: true})
	if err == nil {
		err = s.Prepare(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	slash := string(filepath.Separator)
	escaped := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	for _, c := range []struct {
		location string
		create   bool
		want     string
	}{
		{path, false, "json"}, {path + slash, false, "json"}, {path, true, "json"}, {escaped, false, "json"},
		{"sqlite:" + path, false, ""}, {empty, false, ""}, {empty, true, ""}, {empty + slash, false, ""}, {empty + slash, true, "json"},
		{filepath.Join(dir, "new") + slash, true, "json"}, {filepath.Join(dir, "new.db"), true, "sqlite"}, {dir + slash, true, ""},
		{"redis://localhost/0", true, "redis"},
	} {
		got := ""
		for _, f := range formats(map[string]string{"spec": c.location}, c.create) {
			if ok, _, err := f.Sniff(t.Context(), "spec"); ok && err == nil {
				got = f.Name
				break
			}
		}
		if got != c.want {
			t.Errorf("%s, create %v, is %q, want %q", c.location, c.create, got, c.want)
		}
	}
	for location, ok := range map[string]bool{filepath.Join(dir, "new") + slash: true, filepath.Join(dir, "new"): false, path: true} {
		if err := creatable(location); (err == nil) != ok {
			t.Errorf("%s may be made: %v", location, err)
		}
	}
	for _, f := range formats(map[string]string{"spec": escaped}, false) {
		if f.Name == "json" {
			opened(t, f.Open, path)
		}
	}
}

func opened(t *testing.T, open func(context.Context, string, bool) (stores.Store, error), path string) {
	t.Helper()
	s, err := open(t.Context(), "spec", true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if info, err := s.Info(t.Context()); err != nil || info.Location != path || !info.ReadOnly || info.ID == "" {
		t.Errorf("%+v, %v", info, err)
	}
}
