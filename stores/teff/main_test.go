package teff

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/flowtui/flowtui/fixtures/teff"
	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// copyOf is a copy of the recorded runs in one kind of store.
type copyOf struct{ name, location string }

// places makes copies of the five kinds.
func places(t *testing.T) []copyOf {
	t.Helper()
	dir := t.TempDir()
	check(t, teff.WriteFiles("main", filepath.Join(dir, "main")))
	check(t, teff.WriteDatabases(dir))
	list := []copyOf{{"file", filepath.Join(dir, "main")}, {"sqlite", filepath.Join(dir, "sqlite.db")}, {"sqlite_history", filepath.Join(dir, "sqlite_history.db")}}
	server := testservers.Postgres(t)
	for _, name := range []string{"pg", "pg_history"} {
		list = append(list, copyOf{name, makeDatabase(t, server.URL, name, name)})
	}
	return list
}

// makeDatabase makes one on a server, from a dump if one is named.
func makeDatabase(t *testing.T, server, name, dump string) string {
	t.Helper()
	execute(t, server, "CREATE DATABASE "+name)
	url := strings.Replace(server, "/postgres?", "/"+name+"?", 1)
	if dump != "" {
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, url)
		check(t, err)
		defer conn.Close(ctx)
		check(t, teff.Restore(ctx, conn, dump))
	}
	return url
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	check(t, err)
	defer conn.Close(ctx)
	_, err = conn.PgConn().Exec(ctx, sql).ReadAll()
	check(t, err)
}

// foreign is what a store of teff can do.
type foreign interface {
	stores.Store
	stores.Lister
	stores.Answerer
}

func attach(t *testing.T, location string) foreign {
	t.Helper()
	s, err := Open(t.Context(), location, Options{})
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return s.(foreign)
}

func latest(t *testing.T, s stores.Store, owner, run string) stores.Checkpoint {
	t.Helper()
	c, err := s.Latest(t.Context(), stores.Key{Owner: owner, Run: run})
	check(t, err)
	return c
}

// tree is everything about the files below a folder that looking could change.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		check(t, err)
		sum := ""
		if info.Mode().IsRegular() && info.Mode().Perm()&0o400 != 0 {
			data, err := os.ReadFile(path)
			check(t, err)
			sum = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		files[path] = fmt.Sprint(info.Size(), info.Mode(), info.ModTime().UnixNano(), sum)
		return nil
	}))
	return files
}
