package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
)

// The examples that the README promises to be short. Counted is all that one
// has to write, blank lines and comments too: from the package clause to the
// end of the function, without the comment that holds the expected output.
var shortExamples = []struct {
	file, name string
	under      int
}{
	{"engine/example_test.go", "Example", 40},
	{"views/example_operator_test.go", "Example_operator", 30},
}

func TestExamplesAreShort(t *testing.T) {
	for _, e := range shortExamples {
		text, err := os.ReadFile(filepath.Join("..", "..", e.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := exampleLines(t, string(text), e.name); n >= e.under {
			t.Errorf("%s of %s has %d lines, it should be under %d", e.name, e.file, n, e.under)
		}
	}
}

// exampleLines fails when the file has anything else that the example may need.
func exampleLines(t *testing.T, text, name string) int {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	line := func(p token.Pos) int { return fset.Position(p).Line }
	lines := 0
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				t.Fatalf("beside %s there is another declaration", name)
			}
		case *ast.FuncDecl:
			if d.Name.Name != name || lines > 0 {
				t.Fatalf("beside %s there is %s", name, d.Name.Name)
			}
			lines = line(d.End()) - line(f.Package) + 1
			for _, c := range f.Comments {
				if c.Pos() > d.Pos() && c.End() < d.End() && len(c.Text()) > 7 && c.Text()[:7] == "Output:" {
					lines -= line(c.End()) - line(c.Pos()) + 1
				}
			}
		}
	}
	if lines == 0 {
		t.Fatalf("there is no %s", name)
	}
	return lines
}

func TestExampleLinesAreCounted(t *testing.T) {
	text := "package p\n\nimport \"fmt\"\n\n// Doc.\nfunc Example() {\n\tfmt.Println()\n\t// Output:\n\t// x\n}\n"
	if n := exampleLines(t, text, "Example"); n != 8 {
		t.Errorf("%d lines, want 8: ten without the two of the output", n)
	}
}
