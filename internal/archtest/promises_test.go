package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// promises are the documents that say, sentence by sentence, which test holds it.
var promises = []string{"docs/durable-runs.md", "docs/durable-execution.md", "docs/stores.md"}

// A promise without a test, or with one that does not exist, is no promise.
func TestPromisesHaveTests(t *testing.T) {
	root := "../.."
	for _, doc := range promises {
		data, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		rows, bad := unkept(root, string(data))
		for _, b := range bad {
			t.Errorf("%s: %s", doc, b)
		}
		if rows < 20 {
			t.Errorf("%s: only %d rows were understood", doc, rows)
		}
	}
}

func TestUnkeptPromisesAreFound(t *testing.T) {
	for row, want := range map[string]string{
		"| a | `x` | `internal/archtest/TestPromisesHaveTests` |":              "",
		"| a | `x` | `internal/archtest/TestPromisesHaveTests`, `engine/No` |": "engine/No",
		"| a | `x` | `internal/archtest/TestThatIsNotThere` |":                 "TestThatIsNotThere",
		"| a | `x` |  |":      "no test",
		"| a | `x` | later |": "no test",
		"| a | `internal/archtest/TestPromisesHaveTests` | |": "no test",
	} {
		_, bad := unkept("../..", "| the reference says | lives in | held by |\n|---|---|---|\n"+row)
		if got := strings.Join(bad, "; "); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", row, got, want)
		}
	}
}

var inCode = regexp.MustCompile("`([^`]+)`")

// unkept returns how many rows a document's tables have, and what is wrong with them.
func unkept(root, doc string) (rows int, bad []string) {
	lines := strings.Split(doc, "\n")
	for i, line := range lines {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---") {
			continue
		}
		rows++
		tests := inCode.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) < 3 || len(tests) == 0 {
			bad = append(bad, "no test holds: "+line)
			continue
		}
		for _, m := range tests {
			if !isTest(root, m[1]) {
				bad = append(bad, m[1]+" is no test, in: "+cells[0])
			}
		}
	}
	return rows, bad
}

// isTest reports whether folder/Name is a test or an example of that folder,
// or a group of cases of the stores' suite.
func isTest(root, name string) bool {
	dir, fn := filepath.Split(name)
	files, _ := filepath.Glob(filepath.Join(root, dir, "*.go"))
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return false
		}
		if strings.HasSuffix(f, "_test.go") && strings.Contains(string(data), "\nfunc "+fn+"(") {
			return strings.HasPrefix(fn, "Test") || strings.HasPrefix(fn, "Example")
		}
		if dir == "stores/storetest/" && strings.Contains(string(data), `{"`+fn+`", `) {
			return true
		}
	}
	return false
}
