package engine

import (
	"strings"
	"testing"
)

// What a model says is judged, whatever it is: only a plain true is a yes.
func FuzzVerdict(f *testing.F) {
	for _, s := range []string{`{"ok":true}`, "```json\n{\"ok\": false, \"clear\": true}\n```", `} {`, `{"ok":true,"clear":false}`, `{"ok":"true"}`, `{"ok":true} or {"ok":false}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		v := readVerdict(reply, "answer")
		if v.ok && (v.unclear || !strings.Contains(reply, "true") || v.value == nil) {
			t.Errorf("%q: %+v", reply, v)
		}
	})
}
