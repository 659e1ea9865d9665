package py

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/fixtures/teff"
)

// fixture reads a file of the recorded data.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "fixtures", "teff", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// section is one section of the recorded answers, with the stand-ins for NaN
// and the infinities replaced.
func section(t *testing.T, name string) []*Dict {
	t.Helper()
	v, err := Loads(fixture(t, "engine_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	sections, _ := v.(*Dict).Get("sections")
	cases, ok := sections.(*Dict).Get(name)
	if !ok {
		t.Fatalf("there is no section %s", name)
	}
	var list []*Dict
	for _, c := range floats(cases).(*List).Items {
		list = append(list, c.(*Dict))
	}
	return list
}

func floats(v Value) Value {
	switch v := v.(type) {
	case *List:
		for i, e := range v.Items {
			v.Items[i] = floats(e)
		}
	case *Dict:
		if f, ok := v.Get("$float"); ok {
			f, _ := ParseFloat(f.(string))
			return f
		}
		for i, e := range v.values {
			v.values[i] = floats(e)
		}
	}
	return v
}

func load(t testing.TB, text string) Value {
	t.Helper()
	v, err := Loads([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// failure is the class of a Python error.
func failure(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Type
	}
	return ""
}

func TestJSONKeepsWhatPythonWrites(t *testing.T) {
	for _, text := range []string{
		`{"state": {"a": 1, "b": 1.0}, "next_node_id": null, "iteration": 3}`,
		`[NaN, Infinity, -Infinity, -0.0, 0, 5e-324, 1e+22, 1e-05, 0.0001, 1e+16, 1000000000000000.0]`,
		`[9223372036854775807, 9223372036854775808, -9223372036854775809, 100000000000000000000000000]`,
		`["日本 🍵", "\u0000\u001b\n\t\"\\\b\f\r", "` + "\x7f\u2028" + `", ""]`,
		`[[], {}, {"": null}, {"z": 1, "a": [true, false]}]`,
	} {
		got, err := Dumps(load(t, text))
		if err != nil || string(got) != text {
			t.Errorf("%s became %s %v", text, got, err)
		}
	}
}

func TestJSONReadsWhatPythonReads(t *testing.T) {
	for text, want := range map[string]string{
		"\n\t{ \"a\" :1 ,\r \"a\":[ ] } ":          `{"a": []}`,
		`{"a":1,"b":2,"a":3}`:                      `{"a": 3, "b": 2}`,
		`[-0, 1E2, 1e400, "\u00e9\ud83c\udf75\/"]`: `[0, 100.0, Infinity, "é🍵/"]`,
	} {
		got, err := Dumps(load(t, text))
		if err != nil || string(got) != want {
			t.Errorf("%s became %s, want %s (%v)", text, got, want, err)
		}
	}
}

// The messages are those of Python 3.11's json.
func TestJSONRefusesWhatPythonRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":              "JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
		"\ufeff1":       "JSONDecodeError: Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)",
		"{\"a\": 1}\n}": "JSONDecodeError: Extra data: line 2 column 1 (char 9)",
		`["é", nul]`:    "JSONDecodeError: Expecting value: line 1 column 7 (char 6)",
		`{"a" 1}`:       "JSONDecodeError: Expecting ':' delimiter: line 1 column 6 (char 5)",
		`{a: 1}`:        "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
		`[1 2]`:         "JSONDecodeError: Expecting ',' delimiter: line 1 column 4 (char 3)",
		`"abc`:          "JSONDecodeError: Unterminated string starting at: line 1 column 1 (char 0)",
		"\"a\nb\"":      "JSONDecodeError: Invalid control character at: line 1 column 3 (char 2)",
		`"\x"`:          "JSONDecodeError: Invalid \\escape: line 1 column 2 (char 1)",
		`"\u12g4"`:      "JSONDecodeError: Invalid \\uXXXX escape: line 1 column 3 (char 2)",
		"01":            "JSONDecodeError: Extra data: line 1 column 2 (char 1)",
		"\"\xff\"":      "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 1",
	} {
		_, err := Loads([]byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestJSONLimits(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	v, err := Loads(nested(900))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Dumps(v); err != nil {
		t.Error(err)
	}
	if _, err := Loads(nested(1000)); failure(err) != "RecursionError" {
		t.Errorf("1000 levels: %v", err)
	}
	for range 200 {
		v = NewList(v)
	}
	if _, err := Dumps(v); failure(err) != "RecursionError" {
		t.Errorf("1100 levels: %v", err)
	}
	long := strings.Repeat("7", 4300)
	if got, err := Dumps(load(t, "-"+long)); err != nil || string(got) != "-"+long {
		t.Errorf("4300 digits: %v", err)
	}
	if _, err := Loads([]byte(long + "7")); failure(err) != "ValueError" {
		t.Errorf("4301 digits: %v", err)
	}
	for text, where := range map[string]string{`["é", "a\ud800"]`: "character '\\ud800' in position 8", `{"\udc00\udc01": 1}`: "characters in position 2-3"} {
		want := "UnicodeEncodeError: 'utf-8' codec can't encode " + where + ": surrogates not allowed"
		if _, err := Dumps(load(t, text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := Dumps(Opaque{Type: "date"}); failure(err) != "TypeError" {
		t.Errorf("a date: %v", err)
	}
	if _, err := Dumps(int(1)); err == nil {
		t.Error("what is no Python value was written")
	}
}

func TestDictsKeepTheOrderOfTheirKeys(t *testing.T) {
	d := new(Dict)
	for _, k := range strings.Split("j i h g f e d c b a", " ") {
		d.Set(k, k)
	}
	if !d.Delete("g") || d.Delete("g") || d.Has("g") {
		t.Error("deleting")
	}
	d.Set("g", "last")
	d.Set("i", "same place")
	c := d.Copy()
	c.Set("new", nil)
	c.Set("j", "other")
	if diff := cmp.Diff(strings.Split("j i h f e d c b a g", " "), d.Keys()); diff != "" {
		t.Error(diff)
	}
	for k, want := range map[string]Value{"g": "last", "i": "same place", "j": "j", "a": "a"} {
		if v, ok := d.Get(k); !ok || v != want {
			t.Errorf("%s: %v", k, v)
		}
	}
	if d.GetOr("new", 5) != 5 || c.Len() != 11 {
		t.Error("the copy is not its own dict")
	}
}

func TestDeepCopyKeepsSharedLists(t *testing.T) {
	shared := NewList("a")
	v := NewDict(Entry{"x", shared}, Entry{"y", shared}, Entry{"z", NewDict(Entry{"l", shared})})
	copied, err := DeepCopy(v)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := copied.(*Dict).Get("x")
	x.(*List).Items = append(x.(*List).Items, "b")
	if got, want := Repr(copied), "{'x': ['a', 'b'], 'y': ['a', 'b'], 'z': {'l': ['a', 'b']}}"; got != want {
		t.Error(got)
	}
	if len(shared.Items) != 1 {
		t.Error("the original changed")
	}
	flat := ShallowCopy(v).(*Dict)
	flat.Set("w", nil)
	if l, _ := flat.Get("x"); l != shared || v.Has("w") {
		t.Error("a shallow copy shares elements and nothing else")
	}
	deep := Value(nil)
	for range 500 {
		deep = NewList(deep)
	}
	if _, err := DeepCopy(deep); failure(err) != "RecursionError" {
		t.Errorf("500 levels: %v", err)
	}
}

func TestEqualityAndOrder(t *testing.T) {
	equal := [][2]string{
		{"1", "1.0"}, {"1", "true"}, {"0.0", "false"}, {"-0.0", "0"}, {"1e22", "10000000000000000000000"},
		{`{"a": 1, "b": [1]}`, `{"b": [true], "a": 1.0}`}, {"null", "null"}, {`"a"`, `"a"`},
	}
	for _, c := range equal {
		if !Equal(load(t, c[0]), load(t, c[1])) {
			t.Errorf("%s and %s are equal", c[0], c[1])
		}
	}
	different := [][2]string{
		{"NaN", "NaN"}, {"9007199254740993", "9007199254740992.0"}, {`"1"`, "1"}, {"[]", "{}"}, {"[1]", "[1, 1]"},
		{`{"a": 1}`, `{"b": 1}`}, {"null", "false"}, {"Infinity", "100000000000000000000000"}, {"[NaN]", "[NaN]"},
	}
	for _, c := range different {
		if Equal(load(t, c[0]), load(t, c[1])) {
			t.Errorf("%s and %s differ", c[0], c[1])
		}
	}
	ordered := [][2]string{
		{"9007199254740992.0", "9007199254740993"}, {"-Infinity", "-10000000000000000000000"}, {"false", "0.5"},
		{`"Z"`, `"a"`}, {`"\uffff"`, `"🍵"`}, {"[1, 2]", "[1, 3]"}, {"[1]", "[1, 0]"}, {`"\ud800"`, `"\ue000"`},
	}
	for _, c := range ordered {
		a, b := load(t, c[0]), load(t, c[1])
		less, err := Compare("<", a, b)
		greater, err2 := Compare(">=", a, b)
		if !less || greater || err != nil || err2 != nil {
			t.Errorf("%s is less than %s (%v %v)", c[0], c[1], err, err2)
		}
	}
	if less, err := Compare("<=", math.NaN(), int64(1)); less || err != nil {
		t.Error("nan has no order")
	}
	_, err := Compare("<", "a", int64(1))
	if err == nil || err.Error() != "TypeError: '<' not supported between instances of 'str' and 'int'" {
		t.Error(err)
	}
}

func TestTruth(t *testing.T) {
	for _, text := range []string{"null", "false", "0", "0.0", "-0.0", `""`, "[]", "{}"} {
		if Truth(load(t, text)) {
			t.Errorf("%s is false", text)
		}
	}
	for _, text := range []string{"true", "-1", "NaN", `" "`, "[null]", `{"": null}`, "100000000000000000000"} {
		if !Truth(load(t, text)) {
			t.Errorf("%s is true", text)
		}
	}
}

func TestRecordedStr(t *testing.T) {
	for _, c := range section(t, "python_str") {
		v, _ := c.Get("value")
		if want, _ := c.Get("str"); Str(v) != want {
			t.Errorf("%s, want %s", Str(v), want)
		}
	}
}

func FuzzLoads(f *testing.F) {
	for _, s := range []string{`{"a": [1, 1.0, NaN, "\ud800\u0000"]}`, `[-Infinity, 1e5, 99999999999999999999]`, "\ufeff", `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Loads(text)
		if err != nil {
			if failure(err) == "" {
				t.Fatalf("not Python's error: %v", err)
			}
			return
		}
		once, err := Dumps(v)
		if failure(err) == "UnicodeEncodeError" {
			return
		}
		again, err2 := Loads(once)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		twice, err := Dumps(again)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("%s became %s (%v)", once, twice, err)
		}
	})
}

func TestEveryRecordedRowIsWrittenAsItWasRead(t *testing.T) {
	dir := t.TempDir()
	if err := teff.WriteFiles("main", dir); err != nil {
		t.Fatal(err)
	}
	rows := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		v, err := Loads(text)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if got, err := Dumps(v); err != nil || string(got) != string(text) {
			t.Errorf("%s: %v", path, err)
		}
		rows++
		return nil
	})
	if err != nil || rows < 60 {
		t.Error(rows, err)
	}
}
