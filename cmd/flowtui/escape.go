package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/flowtui/flowtui/viewer"
)

// escapeJSON makes JSON text safe to look at in a terminal without changing its
// value. Bytes that are not UTF-8 have no value in JSON.
func escapeJSON(text []byte) []byte {
	return viewer.EscapeJSON(bytes.ToValidUTF8(text, []byte("\ufffd")))
}

// textWriter keeps texts for people from steering the terminal, whoever wrote
// them. Line breaks stay; every Write ends with a whole character.
type textWriter struct{ io.Writer }

func (w textWriter) Write(p []byte) (int, error) {
	lines := strings.Split(string(p), "\n")
	for i, l := range lines {
		lines[i] = viewer.Scrub(l)
	}
	if _, err := io.WriteString(w.Writer, strings.Join(lines, "\n")); err != nil {
		return 0, err
	}
	return len(p), nil
}

// jsonWriter does the same for lines of JSON; every Write is whole lines.
type jsonWriter struct{ io.Writer }

func (w jsonWriter) Write(p []byte) (int, error) {
	if _, err := w.Writer.Write(escapeJSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
