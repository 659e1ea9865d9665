package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer/draw"
)

func newGraphCommand(a *app) *cobra.Command {
	var dialect, format string
	cmd := &cobra.Command{
		Use:   "graph FLOW",
		Short: "Draw a flow file: as text, as a Mermaid flowchart or as an SVG picture",
		Long: `Draw the steps of a flow file, one of our own or a workflow document of teff, and what
leads from one to another. A workflow that cannot be run here is drawn as well.`,
		Args: arguments("FLOW"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.graph(cmd.Context(), args[0], dialect, format) },
	}
	addDialect(cmd, &dialect)
	cmd.Flags().StringVar(&format, "format", "text", "`FORMAT` of the drawing: text, mermaid or svg")
	return cmd
}

// drawings are the formats.
var drawings = map[string]func(draw.Graph) string{"text": draw.Text, "mermaid": draw.Mermaid, "svg": draw.SVG}

// drawing is the JSON of `flowtui graph`.
type drawing struct {
	File    string `json:"file"`
	Dialect string `json:"dialect"`
	Format  string `json:"format"`
	Text    string `json:"text"`
}

func (a *app) graph(ctx context.Context, file, dialect, format string) error {
	render := drawings[format]
	if render == nil {
		return usagef("--format is text, mermaid or svg, not %q", format)
	}
	r, err := a.readFlow(ctx, file, dialect)
	if err != nil {
		return err
	}
	if r.graph == nil {
		return problem("failed", "flowtui lint "+quote(file)+" lists everything that is wrong", "the flow cannot be drawn: %s", r.Problems[0])
	}
	if !r.OK {
		a.warnf("the workflow cannot be run here: flowtui lint %s says why", quote(file))
	}
	if r.graph.Title == "" {
		r.graph.Title = file
	}
	text := render(*r.graph)
	return a.result(drawing{file, r.Dialect, format, text}, func(w io.Writer) { _, _ = io.WriteString(w, text) })
}
