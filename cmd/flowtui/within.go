package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowtui/flowtui/viewer"
)

const (
	maxLookedAt = 200 // files of a folder that is no store
	maxNamed    = 4   // stores in it
)

// withinFolder adds to the error of a folder that is no store which stores are in it.
func withinFolder(ctx context.Context, targets []target, err error) error {
	p, known := errors.AsType[viewer.Problem](err)
	if !known || p.Code != "failed" || down(err) {
		return err
	}
	for _, t := range targets {
		folder, bad := sqlitePath(t.location)
		if bad != nil || isServer(t.location) {
			continue
		}
		if found := storesIn(ctx, folder); len(found) > 0 {
			p.Hint = "give the path of a store in it: " + strings.Join(found, ", ")
			return p
		}
	}
	return err
}

// storesIn are the files of a folder that are stores; of what is no folder and of
// a folder that is a store there are none.
func storesIn(ctx context.Context, folder string) (found []string) {
	entries, err := os.ReadDir(folder)
	if err != nil || isStore(ctx, folder) {
		return nil
	}
	for _, e := range entries[:min(len(entries), maxLookedAt)] {
		path := filepath.Join(folder, e.Name())
		if !e.Type().IsRegular() || !isStore(ctx, path) {
			continue
		}
		if found = append(found, quote(path)); len(found) == maxNamed {
			return append(found, "…")
		}
	}
	return found
}

func isStore(ctx context.Context, path string) bool {
	for _, f := range formats(map[string]string{path: path}, false) {
		if match, _, err := f.Sniff(ctx, path); match && err == nil {
			return true
		}
	}
	return false
}
