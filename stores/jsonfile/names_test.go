package jsonfile

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// hostile are ids that mean something to a file system.
var hostile = []string{
	"a", "A", "order-7", "Order/7", "..", ".", "...", "../../x", "/etc/x", `C:\x`, `a\b`, "a/b", "CON", "con", "con.txt", "nul", "aux.", "prn",
	"com1", "com1.x", "lpt9", "com", "com10", "a.", "a ", " a", ".a", "-rf", "a-b", "%41", "%", "~", "a~b", "é", "e\u0301", "ß", "ẞ", "K", "\u212a",
	"a\nb", "a\x01", "\u202e", "🙂", "owner.json", "a.jsonl", "a.head", "a.head.json", "a.lease.json", "a.jsonl.tmp", "a*?<>|\":",
	strings.Repeat("x", 120), strings.Repeat("x", 121), strings.Repeat("x", 300), strings.Repeat("x", 299) + "y", strings.Repeat("É", 512),
	strings.Repeat("a", 38) + strings.Repeat("É", 100), strings.Repeat("a", 39) + strings.Repeat("É", 100), strings.Repeat("a", 37) + strings.Repeat("É", 100),
}

var (
	safe   = regexp.MustCompile(`^[a-z0-9_%][a-z0-9_.%-]*(~[0-9a-f]{64})?$`)
	device = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)
)

// checkName holds one name to everything that a file system may ask for.
func checkName(t *testing.T, id string) string {
	t.Helper()
	name := fileName(id)
	if !safe.MatchString(name) || device.MatchString(name) || strings.HasSuffix(name, ".") || len(name) > 120 {
		t.Errorf("%q has the name %q", id, name)
	}
	if name != strings.ToLower(name) || name != norm.NFC.String(name) || name != norm.NFD.String(name) {
		t.Errorf("%q has the name %q, which a disk may fold", id, name)
	}
	got, ok := idOf(name)
	if _, digest, cut := strings.Cut(name, "~"); cut {
		sum := sha256.Sum256([]byte(id))
		if got != "" || !ok || digest != hex.EncodeToString(sum[:]) || regexp.MustCompile(`%.?~`).MatchString(name) {
			t.Errorf("%q has the name %q", id, name)
		}
	} else if got != id || !ok {
		t.Errorf("%q has the name %q, which is that of %q, %v", id, name, got, ok)
	}
	for _, ext := range []string{journalExt, headExt} {
		if run, ok := runOf(name + ext); run != name || !ok {
			t.Errorf("%q is a file of %q, %v", name+ext, run, ok)
		}
	}
	for _, ext := range []string{leaseExt, journalExt + tempExt, headExt + tempExt} {
		if run, ok := runOf(name + ext); ok {
			t.Errorf("%q is a file that makes the run %q", name+ext, run)
		}
	}
	return name
}

func TestNames(t *testing.T) {
	names := map[string]string{}
	for _, id := range hostile {
		name := checkName(t, id)
		if other, taken := names[name]; taken {
			t.Errorf("%q and %q meet in %q", id, other, name)
		}
		names[name] = id
	}
	// As docs/store-format.md says.
	for id, want := range map[string]string{
		"order-7": "order-7", "Order/7": "%4frder%2f7", "con.txt": "%63on.txt", "-a.": "%2da%2e", "a.b": "a.b", "é": "%c3%a9", "": "%",
		strings.Repeat("x", 121): strings.Repeat("x", 40) + "~" + "79072a47bfaa54e6057a9ee21e0dea64b9edbfd160c4ccadbb657e64b6d22ee4",
	} {
		if got := fileName(id); got != want {
			t.Errorf("%q has the name %q, want %q", id, got, want)
		}
	}
}

func TestNoNames(t *testing.T) {
	for _, name := range []string{"", "A", "a b", "%41x%", "%4", "%4F", "%61", "con", "a.", ".a", "-a", "é", "~", "a~b", "a~" + strings.Repeat("A", 64)} {
		if id, ok := idOf(name); ok {
			t.Errorf("%q is the name of %q", name, id)
		}
	}
}

func FuzzNames(f *testing.F) {
	for _, id := range hostile {
		f.Add(id, id+"x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == "" || b == "" || len(a) > 2000 || len(b) > 2000 {
			return
		}
		if checkName(t, a) == checkName(t, b) && a != b {
			t.Errorf("%q and %q meet", a, b)
		}
	})
}
