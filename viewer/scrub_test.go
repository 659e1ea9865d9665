package viewer

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestScrub(t *testing.T) {
	for in, want := range map[string]string{
		"plain":            "plain",
		"\x1b]52;c;x\x07":  "␛]52;c;x␇",
		"a\nb\tc\r\x7f\b":  "a⏎b→c␍␡␈",
		"\u009b2J\u009d":   `\u{9b}2J\u{9d}`,
		"\x9b2J\xff":       `\x9b2J\xff`,
		"abc\u202edef":     `abc\u{202e}def`,
		"\u200bzero\u2060": `\u{200b}zero\u{2060}`,
		"x\u2028y\u2029":   `x\u{2028}y\u{2029}`,
		"\ufeffbom":        `\u{feff}bom`,
		"\U000e0041tag":    `\u{e0041}tag`,
		"\u0378":           `\u{378}`,
		"\ue000":           `\u{e000}`,
		"\xed\xa0\x80":     `\xed\xa0\x80`,
		"👩\u200d💻 ok":      "👩\u200d💻 ok",
		"❤\ufe0f\u200d🔥":   "❤\ufe0f\u200d🔥",
		"a\u200db":         `a\u{200d}b`,
		"a\ufe0fb":         `a\u{fe0f}b`,
		"Zoë 東京 हिन्दी שלום": "Zoë 東京 हिन्दी שלום",
		"soft\u00adhyphen":   `soft\u{ad}hyphen`,
		"\u3164":             `\u{3164}`,
	} {
		if got := Scrub(in); got != want {
			t.Errorf("%q -> %q, want %q", in, got, want)
		}
	}
	if got := Scrub("e" + strings.Repeat("\u0301", 100)); len(got) < 400 {
		t.Error("marks pile up")
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("\x1b[2J\u202e👩\u200d💻")
	f.Fuzz(func(t *testing.T, s string) {
		clean := Scrub(s)
		if !utf8.ValidString(clean) {
			t.Fatalf("not UTF-8: %q", clean)
		}
		for _, r := range clean {
			if r < ' ' || r >= 0x7f && r < 0xa0 || hostile(r) && r != '\u200d' && r != '\ufe0f' && r != '\ufe0e' {
				t.Fatalf("%q has %U", clean, r)
			}
		}
		if again := Scrub(clean); again != clean {
			t.Fatalf("%q -> %q", clean, again)
		}
		raw, _ := json.Marshal(s)
		var a, b any
		if escaped := EscapeJSON(raw); json.Unmarshal(raw, &a) != nil || json.Unmarshal(escaped, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%s escaped is %s", raw, escaped)
		}
	})
}

const hostileText = "a\r\nb\x1b]0;evil\x07\u202e\u009b\x9b\u200b sk-CANARY0123456789abcdef"

// hostileValue fills a value of any type with hostile texts.
func hostileValue(t *testing.T, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(hostileText)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		hostileValue(t, v.Elem(), depth)
	case reflect.Slice:
		if v.Type() == rawMessage {
			raw, _ := json.Marshal(map[string]any{hostileText: []any{hostileText, 1.0}, "password": "CANARY"})
			v.SetBytes(raw)
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			hostileValue(t, v.Index(i), depth)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		hostileValue(t, k, depth)
		hostileValue(t, e, depth)
		v.SetMapIndex(k, e)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				hostileValue(t, v.Field(i), depth+1)
			}
		}
	case reflect.Int, reflect.Int64, reflect.Bool:
	default:
		t.Fatalf("a kind that the walk was not made for: %s", v.Kind())
	}
}

// clean checks that no text of a value is hostile or secret.
func clean(t *testing.T, path string, v reflect.Value) {
	check := func(s string) {
		if lines := path[len(path)-1] == '+'; Scrub(s) != s && (!lines || Scrub(strings.ReplaceAll(s, "\n", "")) != strings.ReplaceAll(s, "\n", "")) {
			t.Errorf("%s is not scrubbed: %q", path, s)
		}
		if strings.Contains(s, "CANARY") {
			t.Errorf("%s shows a secret: %q", path, s)
		}
	}
	switch v.Kind() {
	case reflect.String:
		check(v.String())
	case reflect.Pointer:
		clean(t, path, v.Elem())
	case reflect.Slice:
		if v.Type() == rawMessage {
			var decoded any
			if err := json.Unmarshal(v.Bytes(), &decoded); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			cleanJSON(t, path, decoded)
			return
		}
		for i := range v.Len() {
			clean(t, path, v.Index(i))
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			check(it.Key().String())
			clean(t, path, it.Value())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f, mark := v.Type().Field(i), ""
			if f.Tag.Get("scrub") == "lines" {
				mark = "+" // its line breaks stay
			}
			if f.IsExported() && f.Tag.Get("scrub") != "-" {
				clean(t, path+"."+f.Name+mark, v.Field(i))
			}
		}
	}
}

func cleanJSON(t *testing.T, path string, v any) {
	switch v := v.(type) {
	case string:
		clean(t, path, reflect.ValueOf(v))
	case []any:
		for _, e := range v {
			cleanJSON(t, path, e)
		}
	case map[string]any:
		for k, e := range v {
			cleanJSON(t, path, k)
			cleanJSON(t, path, e)
		}
	}
}

// Scenario 36: whatever a store holds, no field of any value that a Service
// returns carries it raw.
func TestScenario36NoFieldIsForgotten(t *testing.T) {
	for _, v := range []any{
		new(Row), new(Page), new(Counts), new(Detail), new([]Call), new([]Event), new(Report), new(Plan), new(Outcome),
		new(Progress), new(Problem), new([]StoreInfo), new(map[string]RecoverAllResult),
	} {
		p := reflect.ValueOf(v)
		hostileValue(t, p.Elem(), 0)
		boundary{mask: true, scrub: true}.apply(v)
		clean(t, p.Elem().Type().String(), p.Elem())
	}
	state := new(StateView) // its JSON was masked where the lines are made
	hostileValue(t, reflect.ValueOf(state).Elem(), 0)
	state.JSON = maskJSON(state.JSON).JSON
	boundary{mask: true, scrub: true}.apply(state)
	clean(t, "StateView", reflect.ValueOf(*state))
	talk := new(Conversation) // and so is its JSON
	hostileValue(t, reflect.ValueOf(talk).Elem(), 0)
	for i := range talk.Messages {
		m := &talk.Messages[i]
		m.Value = maskJSON(m.Value).JSON
		for j := range m.Calls {
			m.Calls[j].Args, m.Calls[j].Result = maskJSON(m.Calls[j].Args).JSON, maskJSON(m.Calls[j].Result).JSON
		}
	}
	boundary{mask: true, scrub: true}.apply(talk)
	clean(t, "Conversation", reflect.ValueOf(*talk))
	if want := "a\nb␛]0;evil␇"; !strings.HasPrefix(talk.Messages[0].Text, want) {
		t.Errorf("the lines are lost: %q", talk.Messages[0].Text)
	}
}

// A byte that belongs to no character may be a control character to a terminal
// that is not in UTF-8: it never gets through.
func TestEscapeJSONRepairsBytes(t *testing.T) {
	got := string(EscapeJSON([]byte("{\"a\":\"\x9b31m\xffé\u009b\"}")))
	if want := `{"a":"\ufffd31m\ufffdé\u009b"}`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
