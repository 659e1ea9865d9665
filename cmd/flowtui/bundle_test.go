package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// bundleParts are the lines on top of a bundle and the parts of its runs.
func bundleParts(ts *testscript.TestScript, file string) (manifest map[string]any, top []byte, runs [][]byte) {
	b, err := os.ReadFile(file)
	ts.Check(err)
	first := bytes.IndexByte(b, '\n') + 1
	ts.Check(json.Unmarshal(b[:first], &manifest))
	at := first + bytes.IndexByte(b[first:], '\n') + 1
	part := func(p any) int { return int(p.(map[string]any)["size"].(float64)) }
	for _, g := range manifest["graphs"].([]any) {
		at += part(g)
	}
	top = b[:at]
	for _, r := range manifest["runs"].([]any) {
		runs = append(runs, b[at:at+part(r)])
		at += part(r)
	}
	return manifest, top, runs
}

func indexOfRun(ts *testscript.TestScript, manifest map[string]any, run string) int {
	for i, r := range manifest["runs"].([]any) {
		if r.(map[string]any)["run"] == run {
			return i
		}
	}
	ts.Fatalf("there is no run %s", run)
	return -1
}

// flip changes one bit in the part of a run: flip BUNDLE RUN
func flip(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	manifest, top, runs := bundleParts(ts, file)
	part := runs[indexOfRun(ts, manifest, args[1])]
	part[len(part)/2] ^= 1
	ts.Check(os.WriteFile(file, append(top, bytes.Join(runs, nil)...), 0o600))
}

// drop takes a run out of a bundle, with all checksums made right: drop BUNDLE RUN
func drop(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	manifest, top, runs := bundleParts(ts, file)
	i := indexOfRun(ts, manifest, args[1])
	list := manifest["runs"].([]any)
	manifest["runs"] = append(list[:i:i], list[i+1:]...)
	delete(manifest, "sum")
	rest, err := json.Marshal(manifest)
	ts.Check(err)
	// The format must come first, as in every bundle.
	format, err := json.Marshal(map[string]any{"format": manifest["format"]})
	ts.Check(err)
	rest = append(append(format[:len(format)-1], ','), rest[1:]...)
	sum := sha256.Sum256(rest[1:])
	line := append([]byte(`{"sum":"`+hex.EncodeToString(sum[:16])+`",`), rest[1:]...)
	first := bytes.IndexByte(top, '\n') + 1
	out := append(append(line, '\n'), top[first:]...)
	out = append(out, bytes.Join(append(runs[:i:i], runs[i+1:]...), nil)...)
	ts.Check(os.WriteFile(file, out, 0o600))
}
