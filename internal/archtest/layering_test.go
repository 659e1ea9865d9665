package archtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// mayImport says which of the module's packages a package may import: the
// entry with the longest path that fits counts. "x" is the package x alone,
// "x/..." is x and all below it.
var mayImport = map[string][]string{
	"stores/...":           {"stores", "stores/internal/...", "internal/pyjson"}, // drivers know the contract only
	"engine":               {"engine/model", "engine/seal", "engine/tool", "stores"},
	"engine/seal/...":      {},
	"engine/tool/...":      {},
	"engine/model":         {}, // so that only who opens an endpoint links its client
	"engine/model/...":     {"engine/model/..."},
	"engine/flowfile/...":  {"engine", "engine/model", "engine/teff/...", "engine/tool"},
	"engine/...":           {"engine/...", "stores", "internal/pyjson"},
	"viewer/...":           {"viewer/...", "engine/...", "stores"},
	"keymap/...":           {},
	"views/theme/...":      {"viewer"},
	"views/widget/...":     {"views/theme", "views/internal/...", "keymap"},
	"views/...":            {"internal/signals", "views/...", "viewer", "keymap"},
	"fixtures/...":         {"fixtures/...", "engine/...", "stores/...", "viewer/..."},
	"cmd/flowtui/...":      {"internal/signals", "cmd/flowtui/...", "views/...", "viewer/...", "keymap", "engine/...", "stores", "fixtures/..."},
	"internal/archtest":    {},
	"internal/pyjson":      {},
	"internal/signals":     {},
	"internal/testproxy":   {},
	"internal/testservers": {},
	"internal/teststores":  {"stores/...", "internal/testservers"},
	"internal/testterm":    {},
	"internal/testuser":    {},
	"internal/testwriter":  {"stores", "stores/storetest"},
	"stores/internal/...":  {"stores", "stores/internal/..."},
	"stores/storetest/...": {"stores"},
}

// mayNameDrivers are the files that open stores.
var mayNameDrivers = []string{"cmd/flowtui/open.go", "cmd/flowtui/demo.go"}

// ban keeps an outside package away from some of ours.
type ban struct {
	target string   // as in mayImport
	from   []string // which packages
	except []string // but not these
}

var screens = []string{"engine/...", "stores/...", "viewer/..."}

var bans = []ban{
	{target: "github.com/charmbracelet/bubbletea/...", from: screens},
	{target: "github.com/charmbracelet/lipgloss/...", from: screens},
	{target: "github.com/charmbracelet/bubbles/...", from: screens},
	{target: "github.com/spf13/...", from: append([]string{"views/...", "keymap/..."}, screens...)},
	{target: "database/sql/...", from: []string{"engine/...", "viewer/...", "views/...", "keymap/...", "cmd/..."}},
	{target: "modernc.org/...", from: []string{"engine/...", "viewer/...", "views/...", "keymap/...", "cmd/..."}},
	{target: "github.com/openai/openai-go/...", from: []string{"..."}, except: []string{"engine/model/openai"}},
	{target: "testing/...", from: []string{"..."}, except: []string{"stores/storetest/...", "internal/testproxy", "internal/testservers", "internal/teststores", "internal/testterm", "internal/testuser", "internal/testwriter"}},
	{target: "github.com/charmbracelet/x/exp/...", from: []string{"..."}},
	{target: "github.com/rogpeppe/go-internal/...", from: []string{"..."}},
	{target: "pgregory.net/rapid", from: []string{"..."}, except: []string{"stores/storetest/..."}},
}

// fits reports whether a path is meant by a pattern of mayImport.
func fits(pattern, path string) bool {
	base, deep := strings.CutSuffix(pattern, "...")
	base = strings.TrimSuffix(base, "/")
	return path == base || deep && (base == "" || strings.HasPrefix(path, base+"/"))
}

func anyFits(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return fits(p, path) })
}

// violations lists every import that breaks a rule. Tests may import anything.
func violations(files []source) []string {
	var found []string
	for _, f := range files {
		if f.isTest() {
			continue
		}
		for _, target := range f.imports {
			if why := violation(f, target); why != "" {
				found = append(found, fmt.Sprintf("%s imports %s: %s", f.path, target, why))
			}
		}
	}
	return found
}

func violation(f source, target string) string {
	if own, ok := strings.CutPrefix(target, module); ok {
		return ownViolation(f, own)
	}
	for _, b := range bans {
		if fits(b.target, target) && anyFits(b.from, f.dir()) && !anyFits(b.except, f.dir()) {
			return "this package must not know it"
		}
	}
	return ""
}

func ownViolation(f source, target string) string {
	best := ruleFor(f.dir())
	driver := strings.HasPrefix(target, "stores/") && !strings.HasPrefix(target, "stores/internal/")
	switch {
	case best == "":
		return "there is no rule for this package, add one"
	case target == "stores/storetest" && f.dir() != "internal/testwriter": // which is for tests too
		return "it is for tests"
	case driver && slices.Contains(mayNameDrivers, f.path):
		return ""
	case !anyFits(mayImport[best], target):
		return "it may import " + strings.Join(mayImport[best], ", ")
	}
	return ""
}

// ruleFor is the closest entry of mayImport: the package's own, else that of
// the longest path above it.
func ruleFor(dir string) string {
	if _, ok := mayImport[dir]; ok {
		return dir
	}
	best := ""
	for pattern := range mayImport {
		if fits(pattern, dir) && len(pattern) > len(best) {
			best = pattern
		}
	}
	return best
}

func TestImportsFollowTheLayers(t *testing.T) {
	for _, v := range violations(tree(t)) {
		t.Error(v)
	}
}

// A rule that cannot fail proves nothing: each is shown a file that breaks it.
func TestPlantedImportsAreFound(t *testing.T) {
	for _, c := range []struct{ file, target string }{
		{"stores/sqlite/bad.go", module + "engine"},
		{"stores/bad.go", module + "stores/sqlite"},
		{"stores/redis/bad.go", module + "internal/testservers"},
		{"engine/bad.go", module + "viewer"},
		{"engine/bad.go", module + "stores/memory"},
		{"engine/bad.go", module + "engine/flowfile"},
		{"engine/bad.go", "database/sql"},
		{"engine/seal/bad.go", module + "stores"},
		{"engine/model/bad.go", module + "engine/model/openai"},
		{"engine/model/openai/bad.go", module + "engine/tool"},
		{"engine/model/provider/bad.go", module + "stores"},
		{"engine/model/provider/bad.go", "github.com/openai/openai-go/v3/option"},
		{"engine/bad.go", "github.com/openai/openai-go/v3"},
		{"cmd/flowtui/ls.go", "github.com/openai/openai-go/v3"},
		{"viewer/bad.go", module + "views"},
		{"viewer/bad.go", module + "stores/sqlite"},
		{"viewer/bad.go", "github.com/charmbracelet/lipgloss"},
		{"viewer/bad.go", "github.com/charmbracelet/bubbletea"},
		{"viewer/bad.go", "testing"},
		{"views/bad.go", module + "engine"},
		{"views/bad.go", module + "stores"},
		{"views/bad.go", module + "cmd/flowtui"},
		{"views/widget/bad.go", module + "viewer"},
		{"cmd/flowtui/ls.go", module + "stores/sqlite"},
		{"cmd/flowtui/ls.go", module + "stores/storetest"},
		{"cmd/flowtui/open.go", module + "stores/storetest"},
		{"cmd/flowtui/ls.go", "github.com/charmbracelet/x/exp/teatest"},
		{"newpackage/bad.go", module + "stores"},
	} {
		planted := parse(t, c.file, fmt.Sprintf("package p\n\nimport _ %q\n", c.target))
		if len(violations([]source{planted})) != 1 {
			t.Errorf("%s may import %s", c.file, c.target)
		}
	}
	for _, c := range []struct{ file, target string }{
		{"cmd/flowtui/open.go", module + "stores/sqlite"},
		{"stores/storetest/good.go", "testing"},
		{"internal/testservers/good.go", "testing"},
		{"engine/good_test.go", module + "stores/memory"},
		{"engine/model/openai/good.go", "github.com/openai/openai-go/v3/option"},
		{"engine/model/provider/good.go", module + "engine/model/openai"},
		{"viewer/good.go", module + "engine/seal"},
	} {
		planted := parse(t, c.file, fmt.Sprintf("package p\n\nimport _ %q\n", c.target))
		if v := violations([]source{planted}); len(v) > 0 {
			t.Error(v)
		}
	}
}
