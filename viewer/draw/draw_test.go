package draw_test

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/viewer/draw"
)

func workflow(t *testing.T, name string) draw.Graph {
	t.Helper()
	w, err := document.Load(filepath.Join("../../fixtures/teff/workflows", name), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	return draw.Workflow(w)
}

func TestText(t *testing.T) {
	want := `countdown: 4 steps, 6 edges; starts at tick

tick  tool_call calculator
  -> mark
mark  transform append
  -> jump
jump  command
  -> tick  jumps if left>0
  -> mark  jumps if left<0
  -> STOP  jumps
  -> unreached
unreached  transform value
  end
`
	if got := draw.Text(workflow(t, "countdown.graph.yaml")); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	got := draw.Text(workflow(t, "contract.graph.yaml"))
	for _, line := range []string{"negotiate  subflow", "  inside:", "    neg/legal  subflow", "      inside:", "        confirm  interrupt", "          -> keep_it  if sure=yes,y"} {
		if !strings.Contains(got, "\n"+line+"\n") {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
	if got := draw.Text(workflow(t, "pipeline.graph.yaml")); !strings.Contains(got, "  branch 2:\n    step 1  transform count_lines\n      -> step 2\n    step 2  command\n      end\n") {
		t.Error(got)
	}
	if got := draw.Text(draw.Graph{Title: "x", Entry: "a", Nodes: []draw.Node{{ID: "a"}, {ID: "lost"}}}); !strings.Contains(got, "lost    (nothing leads here)\n  end") {
		t.Error(got)
	}
}

func TestFlowsOfOurOwn(t *testing.T) {
	file, err := flowfile.Load("../../fixtures/flows/release.yaml")
	if err != nil {
		t.Fatal(err)
	}
	g, err := draw.Flow(file.Flow)
	if err != nil {
		t.Fatal(err)
	}
	got := draw.Text(g)
	for _, want := range []string{"release: 5 steps, 6 edges; starts at tag\n", "tag  call tag_version\n  -> docs\n  -> image\n  -> notes\n", "close  transform\n  end\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestWhatRunsInsideAContainerIsDrawn(t *testing.T) {
	nothing := engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, nil })
	inner := engine.NewFlow("inner").Step("a", nothing).Step("b", nothing)
	g, err := draw.Flow(engine.NewFlow("outer").Step("first", nothing).Subflow("sub", engine.Subflow{Flow: inner}))
	if err != nil {
		t.Fatal(err)
	}
	want := "first  func\n  -> sub\nsub  subflow\n  inside:\n    a  func\n      -> b\n    b  func\n      end\n  end\n"
	if got := draw.Text(g); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if _, err := draw.Flow(engine.NewFlow("empty")); err == nil {
		t.Error("a flow without nodes was drawn")
	}
}

// hostile has names that would break out of each format.
func hostile() draw.Graph {
	bad := []string{
		"</text><script>alert(1)</script>", `"]; click n1 "javascript:x"`, "a\x1b[2Jb\u202ec\n  -> forged", "end", "`md`", "x --> y", "%%{init: {}}%%",
		strings.Repeat("long", 1000), "日本🍵", "\xff\x00", "]]>&amp;", "#quot;",
	}
	g := draw.Graph{Title: bad[0], Entry: bad[1]}
	for i, id := range bad {
		g.Nodes = append(g.Nodes, draw.Node{ID: id, Type: bad[(i+1)%len(bad)], Detail: bad[2]})
		g.Edges = append(g.Edges, draw.Edge{From: id, To: bad[(i+1)%len(bad)], Label: bad[(i+2)%len(bad)], Kind: draw.Kind(i % 3)})
	}
	g.Nodes[0].Parts = []draw.Graph{{Title: bad[1], Nodes: g.Nodes[1:3], Edges: []draw.Edge{{From: bad[1], To: "gone" + bad[0]}}}}
	return g
}

func TestHostileNamesStayText(t *testing.T) {
	for format, got := range map[string]string{"text": draw.Text(hostile()), "mermaid": draw.Mermaid(hostile()), "svg": draw.SVG(hostile())} {
		for line := range strings.SplitSeq(got, "\n") {
			if viewer.Scrub(line) != line {
				t.Errorf("%s steers the terminal: %q", format, line)
			}
		}
		if strings.Contains(got, strings.Repeat("long", 100)) {
			t.Errorf("%s: a name has no end", format)
		}
		if format != "text" && strings.Contains(got, "<script") {
			t.Errorf("%s holds markup", format)
		}
	}
	if got := draw.Text(hostile()); strings.Contains(got, "\n  -> forged") {
		t.Errorf("a name makes a line:\n%s", got)
	}
}

// Every line of a flowchart is one of these; a label holds nothing but words and codes.
var flowchart = func() *regexp.Regexp {
	const label = `"(?:[\pL\pN\pM _\-.,:/=+]|#[0-9]+;|<br/>)*"`
	return regexp.MustCompile(`^(?:flowchart TD| *end| *(?:subgraph )?n[0-9]+(?:\[` + label + `\]|\(\[` + label + `\]\)|\(\(` + label + `\)\))` +
		`| *n[0-9]+ (?:-->|-\.->)(?:\|` + label + `\|)? n[0-9]+)$`)
}()

func TestMermaidLinesAreWellFormed(t *testing.T) {
	for _, g := range []draw.Graph{hostile(), workflow(t, "contract.graph.yaml"), workflow(t, "triage.flow.yaml"), workflow(t, "pipeline.graph.yaml")} {
		open := 0
		for line := range strings.SplitSeq(strings.TrimSuffix(draw.Mermaid(g), "\n"), "\n") {
			if !flowchart.MatchString(line) {
				t.Errorf("%q", line)
			}
			switch word := strings.TrimSpace(line); {
			case strings.HasPrefix(word, "subgraph "):
				open++
			case word == "end":
				open--
			}
		}
		if open != 0 {
			t.Errorf("%d subgraphs are open", open)
		}
	}
	got := draw.Mermaid(workflow(t, "countdown.graph.yaml"))
	for _, want := range []string{`  n1(["tick<br/>tool_call calculator"])`, `  n3 -.->|"jumps if left#62;0"| n1`, `  n1 --> n2`, `  n5(("STOP"))`} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestSVGIsXMLOfShapesAndText(t *testing.T) {
	allowed := map[string]bool{"svg": true, "defs": true, "marker": true, "path": true, "rect": true, "text": true}
	for _, g := range []draw.Graph{hostile(), workflow(t, "contract.graph.yaml"), workflow(t, "release_review.graph.yaml"), {}} {
		var texts []string
		d := xml.NewDecoder(strings.NewReader(draw.SVG(g)))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				if !allowed[token.Name.Local] {
					t.Errorf("an element %s", token.Name.Local)
				}
				for _, a := range token.Attr {
					if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "script") {
						t.Errorf("an attribute %s=%q", a.Name.Local, a.Value)
					}
				}
			case xml.CharData:
				texts = append(texts, string(token))
			}
		}
		for _, n := range g.Nodes {
			if len(n.ID) < 100 && !strings.Contains(strings.Join(texts, "\x00"), viewer.Scrub(n.ID)) {
				t.Errorf("%q is not drawn", n.ID)
			}
		}
	}
}

func FuzzDraw(f *testing.F) {
	f.Add("a", "b>c", "</svg>")
	f.Add("\x1b]0;x\a", "\"|", "end")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		g := draw.Graph{Title: a, Entry: b, Nodes: []draw.Node{{ID: a, Type: b}, {ID: b, Detail: c}}, Edges: []draw.Edge{
			{From: a, To: b, Label: c}, {From: b, To: c, Kind: draw.Goto}, {From: c, To: a, Kind: draw.Error, Label: b},
		}}
		for line := range strings.SplitSeq(strings.TrimSuffix(draw.Mermaid(g), "\n"), "\n") {
			if !flowchart.MatchString(line) {
				t.Fatalf("%q", line)
			}
		}
		if err := xml.Unmarshal([]byte(draw.SVG(g)), new(struct{})); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(draw.Text(g), "\n") {
			if viewer.Scrub(line) != line {
				t.Fatalf("%q", line)
			}
		}
	})
}
