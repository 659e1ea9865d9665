package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ParseArgs gives the arguments of a tool call from the text that a model wrote.
// They are that text, with every digit as it was, when it is one JSON value that
// everyone reads alike. Else (broken JSON, a key twice, lone surrogates, bytes
// that are not UTF-8) they are a JSON string that holds the text, so the result
// is always valid JSON. A model that wrote a JSON string gets the same, so a
// string always means text that is no arguments. No text is {}.
func ParseArgs(text string) json.RawMessage {
	trimmed := strings.Trim(text, " \t\r\n")
	if trimmed == "" {
		return json.RawMessage("{}")
	}
	if trimmed[0] == '"' || !unambiguous(trimmed) {
		return QuoteArgs(text)
	}
	return json.RawMessage(trimmed)
}

// QuoteArgs gives the arguments for text that cannot be used as such.
func QuoteArgs(text string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(strings.ToValidUTF8(text, "\ufffd")) // a string can always be encoded
	return bytes.TrimRight(b.Bytes(), "\n")
}

// ArgsText is the text that the model wrote as arguments: what it is shown of
// its own call. It is the inverse of [ParseArgs].
func (c ToolCall) ArgsText() string {
	if text, ok := c.UnusableArgs(); ok {
		return text
	}
	if len(c.Args) == 0 {
		return "{}"
	}
	return string(c.Args)
}

// UnusableArgs reports whether the arguments are only text (see [ParseArgs]),
// and gives it.
func (c ToolCall) UnusableArgs() (string, bool) {
	var text *string
	if err := json.Unmarshal(c.Args, &text); err != nil || text == nil {
		return "", false
	}
	return *text, true
}

// NumberCalls gives each call without an id one by its place, call_1 for the
// first, and so each call whose id an earlier one has. A taken id is passed over.
func NumberCalls(calls []ToolCall) {
	taken := map[string]bool{}
	var nameless []int
	for i, c := range calls {
		if c.ID == "" || taken[c.ID] {
			nameless = append(nameless, i)
		}
		taken[c.ID] = true
	}
	for _, i := range nameless {
		n := i + 1
		for taken["call_"+strconv.Itoa(n)] {
			n++
		}
		calls[i].ID = "call_" + strconv.Itoa(n)
		taken[calls[i].ID] = true
	}
}

// unambiguous reports whether text is one JSON value without anything that
// decoders read differently or change without a word.
func unambiguous(text string) bool {
	return utf8.ValidString(text) && json.Valid([]byte(text)) && !HasLoneSurrogate(text) && uniqueKeys(text) == nil
}

// HasLoneSurrogate reports whether JSON text escapes half a surrogate pair,
// which Go's decoder replaces by U+FFFD without a word.
func HasLoneSurrogate(text string) bool {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		r, ok := escaped(text[i:])
		switch {
		case !ok:
			i++ // the escaped character, perhaps another backslash
		case !utf16.IsSurrogate(r):
			i += 5
		default:
			low, ok := escaped(text[i+6:])
			if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
				return true
			}
			i += 11
		}
	}
	return false
}

func escaped(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(n), err == nil
}

var errKeyTwice = errors.New("a key comes twice")

// uniqueKeys refuses text with an object that has a key twice: who approves the
// call and the tool that runs it could read different values.
func uniqueKeys(text string) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	return walk(dec)
}

// walk reads one value. Its depth is limited, since json.Valid has read it before.
func walk(dec *json.Decoder) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	d, nested := t.(json.Delim)
	if !nested {
		return nil
	}
	keys := map[string]bool{}
	for dec.More() {
		if d == '{' {
			t, err := dec.Token()
			if err != nil {
				return err
			}
			key, _ := t.(string)
			if keys[key] {
				return errKeyTwice
			}
			keys[key] = true
		}
		if err := walk(dec); err != nil {
			return err
		}
	}
	_, err = dec.Token() // the closing bracket
	return err
}
