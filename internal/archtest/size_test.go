package archtest

import (
	"fmt"
	"strings"
	"testing"
)

const (
	maxFileLines = 400
	maxTestLines = 500
	maxFuncLines = 60
)

// longer are the files ("path") and functions ("path:name") that may be longer,
// with the reason.
var longer = map[string]string{}

// oversize lists what is too long. The functions of tests may be long: a table
// of cases is read from top to bottom.
func oversize(files []source) map[string]string {
	found := map[string]string{}
	for _, f := range files {
		limit := maxFileLines
		if f.isTest() {
			limit = maxTestLines
		}
		if f.lines > limit {
			found[f.path] = fmt.Sprintf("%d lines, at most %d", f.lines, limit)
		}
		if f.isTest() || fits("stores/storetest/...", f.dir()) {
			continue
		}
		for _, fn := range f.funcs {
			if fn.lines > maxFuncLines {
				found[f.path+":"+fn.name] = fmt.Sprintf("%d lines, at most %d", fn.lines, maxFuncLines)
			}
		}
	}
	return found
}

func TestFilesAndFunctionsAreShort(t *testing.T) {
	found := oversize(tree(t))
	for what, how := range found {
		if longer[what] == "" {
			t.Errorf("%s has %s", what, how)
		}
	}
	for what := range longer {
		if found[what] == "" {
			t.Errorf("%s is short again: take it off the list", what)
		}
	}
}

func TestPlantedSizesAreFound(t *testing.T) {
	body := strings.Repeat("\t_ = 1\n", maxFuncLines)
	planted := parse(t, "x.go", "package p\n\nfunc long() {\n"+body+"}\n"+strings.Repeat("\n", maxFileLines))
	if found := oversize([]source{planted}); found["x.go"] == "" || found["x.go:long"] == "" {
		t.Errorf("found %v", found)
	}
}
