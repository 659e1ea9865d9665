package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxValueBytes is the largest result or answer that is kept.
const MaxValueBytes = 16 << 20

// Seal encodes a value for the log, or says why that would lose something: NaN
// and infinities, channels and functions, cycles, text that is not UTF-8, lone
// surrogates, maps whose keys are not strings, and values over MaxValueBytes.
// The same value gets the same verdict on every store. Raw JSON is kept as it is.
func Seal(v any) (json.RawMessage, error) {
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	if len(raw) > MaxValueBytes {
		return nil, fmt.Errorf("it has %d bytes, at most %d are kept", len(raw), MaxValueBytes)
	}
	if err := checkText(raw); err != nil {
		return nil, err
	}
	if !json.Valid(raw) { // it is nested too deep to be read again
		if _, err := DecodeValue(raw); err != nil {
			return nil, err
		}
	}
	return raw, nil
}

// encode gives the one form in which a value is digested, logged, handed to
// tools and handed back, now and after a replay: without white space.
func encode(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		if err := checkText(raw); err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		return b.Bytes(), uniqueKeys(b.Bytes())
	}
	raw, err := marshal(v)
	if err != nil {
		return nil, err
	}
	// The encoder has refused cycles by now, so the walk ends.
	if err := faithful(reflect.ValueOf(v)); err != nil {
		return nil, err
	}
	return raw, nil
}

// marshal is json.Marshal without rewriting <, > and &.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

var (
	errorType     = reflect.TypeFor[error]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
)

// uniqueKeys refuses an object that names a key twice: who approves it and the
// tool that parses it could read different values.
func uniqueKeys(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	type level struct {
		keys  map[string]bool // nil in a list
		value bool            // the next token of an object is a value
	}
	var stack []level
	for {
		t, err := dec.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		top := len(stack) - 1
		switch t {
		case json.Delim('{'), json.Delim('['):
			if top >= 0 {
				stack[top].value = false
			}
			next := level{}
			if t == json.Delim('{') {
				next.keys = map[string]bool{}
			}
			stack = append(stack, next)
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
			continue
		}
		if top < 0 || stack[top].keys == nil {
			continue
		}
		if l := &stack[top]; l.value {
			l.value = false
		} else {
			key, _ := t.(string)
			if l.keys[key] {
				return fmt.Errorf("it has the key %q twice", key)
			}
			l.keys[key], l.value = true, true
		}
	}
}

// faithful refuses what encoding/json would change without a word: text that
// is not UTF-8 and keys that are not strings.
func faithful(v reflect.Value) error {
	if v.IsValid() && v.Type().Implements(errorType) && !v.Type().Implements(marshalerType) {
		return errors.New("an error in it has no JSON form")
	}
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return errors.New("a text in it is not UTF-8")
		}
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return fmt.Errorf("a map in it has %s keys, JSON has only text keys", v.Type().Key())
		}
		for it := v.MapRange(); it.Next(); {
			if err := errors.Join(faithful(it.Key()), faithful(it.Value())); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		for i := range v.Len() {
			if err := faithful(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" {
				if err := faithful(v.Field(i)); err != nil {
					return err
				}
			}
		}
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			return faithful(v.Elem())
		}
	}
	return nil
}

// checkText refuses JSON text that Go's decoder would change without a word:
// invalid UTF-8 and escapes of lone surrogates become U+FFFD there.
func checkText(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("it is not UTF-8")
	}
	for i := 0; i+1 < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		if data[i+1] != 'u' {
			i++
			continue
		}
		r, ok := escaped(data[i:])
		if ok && utf16.IsSurrogate(r) {
			low, ok := escaped(data[i+6:])
			if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
				return fmt.Errorf("it has a lone surrogate \\u%04x", r)
			}
			i += 6
		}
		i += 5
	}
	return nil
}

func escaped(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	return rune(n), err == nil
}

// digest is the SHA-256 of bytes as stored, in hex.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
