package flowfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// template is a text with placeholders, as Python's str.format_map fills them
// from a state whose values were made strings first.
type template struct {
	parts []part
}

// part is literal text or, with a key, a placeholder.
type part struct {
	literal     string
	placeholder bool
	key         string
	index       []int     // {key[0]}: one letter
	conversion  rune      // 's', 'r' or 'a'; 0: none
	spec        *template // {key:>10}; it may have placeholders itself
}

// parseTemplate reads a template. A text without "{" has no placeholders and
// no escapes either.
func parseTemplate(text string) (*template, error) {
	switch {
	case text == "":
		return &template{}, nil
	case !strings.Contains(text, "{"):
		return &template{[]part{{literal: text}}}, nil
	}
	return parseFields(text, 2)
}

// parseFields reads text in which "{" has a meaning; levels is how deep
// placeholders may nest.
func parseFields(text string, levels int) (*template, error) {
	t := &template{}
	for text != "" {
		i := strings.IndexAny(text, "{}")
		if i < 0 {
			t.parts = append(t.parts, part{literal: text})
			break
		}
		rest := text[i+1:]
		switch {
		case rest != "" && rest[0] == text[i]: // {{ or }}
			t.parts = append(t.parts, part{literal: text[:i+1]})
			text = rest[1:]
			continue
		case text[i] == '}':
			return nil, errors.New("single '}' in a template; write '}}' for a brace")
		case rest == "":
			return nil, errors.New("single '{' in a template; write '{{' for a brace")
		}
		if i > 0 {
			t.parts = append(t.parts, part{literal: text[:i]})
		}
		p, after, err := parsePlaceholder(rest, levels)
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, p)
		text = after
	}
	return t, nil
}

// parsePlaceholder reads what follows a "{" up to its "}".
func parsePlaceholder(text string, levels int) (part, string, error) {
	p := part{placeholder: true}
	if levels == 0 {
		return p, "", errors.New("placeholders nest too deep")
	}
	end := nameEnd(text)
	if end == len(text) {
		return p, "", errors.New("a '{' has no '}'")
	}
	if text[end] == '{' {
		return p, "", errors.New("unexpected '{' in a placeholder's name")
	}
	if err := p.name(text[:end]); err != nil {
		return p, "", err
	}
	rest := text[end:]
	if rest[0] == '!' {
		r, size := utf8.DecodeRuneInString(rest[1:])
		if !strings.ContainsRune("sra", r) {
			return p, "", fmt.Errorf("unknown conversion after '!' in placeholder %q; known: s, r, a", text[:end])
		}
		p.conversion = r
		rest = rest[1+size:]
	}
	switch {
	case strings.HasPrefix(rest, "}"):
		return p, rest[1:], nil
	case strings.HasPrefix(rest, ":"):
		return p.withSpec(rest[1:], levels)
	}
	return p, "", fmt.Errorf("placeholder %q: expected ':' or '}' after the conversion", text[:end])
}

// nameEnd finds the byte that ends a placeholder's name. Inside "[…]" anything goes.
func nameEnd(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '}', ':', '!':
			return i
		case '[':
			n := strings.IndexByte(text[i:], ']')
			if n < 0 {
				return len(text)
			}
			i += n
		}
	}
	return len(text)
}

// name splits `key[0][1]`.
func (p *part) name(text string) error {
	i := strings.IndexAny(text, ".[")
	if i < 0 {
		i = len(text)
	}
	p.key = text[:i]
	if strings.TrimFunc(p.key, unicode.IsDigit) == "" { // {} or {0}
		return fmt.Errorf("placeholder {%s} has no key of the state", text)
	}
	for rest := text[i:]; rest != ""; {
		if rest[0] == '.' {
			return fmt.Errorf("placeholder {%s}: a template cannot look inside a value; take it out with transform json_get first", text)
		}
		end := strings.IndexByte(rest, ']')
		if rest[0] != '[' || end < 0 {
			return fmt.Errorf("placeholder {%s}: only '[' may follow ']'", text)
		}
		n, err := strconv.ParseUint(rest[1:end], 10, 31)
		if err != nil {
			return fmt.Errorf("placeholder {%s}: %q is not the number of a letter; take a field out with transform json_get first", text, rest[1:end])
		}
		p.index = append(p.index, int(n))
		rest = rest[end+1:]
	}
	return nil
}

// withSpec reads a format spec up to the "}" that ends the placeholder.
func (p part) withSpec(text string, levels int) (part, string, error) {
	open := 1
	for i := range len(text) {
		switch text[i] {
		case '{':
			open++
		case '}':
			open--
		}
		if open > 0 {
			continue
		}
		spec, err := parseFields(text[:i], levels-1)
		if err != nil {
			return p, "", fmt.Errorf("format of placeholder {%s}: %w", p.key, err)
		}
		p.spec = spec
		if fixed, ok := spec.fixed(); ok {
			if _, err := parseFormat(fixed); err != nil {
				return p, "", fmt.Errorf("placeholder {%s}: %w", p.key, err)
			}
		}
		return p, text[i+1:], nil
	}
	return p, "", fmt.Errorf("a '{' in the format of placeholder {%s} has no '}'", p.key)
}

// fixed returns the text of a template without placeholders.
func (t *template) fixed() (string, bool) {
	var b strings.Builder
	for _, p := range t.parts {
		if p.placeholder {
			return "", false
		}
		b.WriteString(p.literal)
	}
	return b.String(), true
}

// whole returns the key of a template that is one plain placeholder.
func (t *template) whole() (string, bool) {
	if len(t.parts) != 1 {
		return "", false
	}
	p := t.parts[0]
	return p.key, p.placeholder && p.index == nil && p.conversion == 0 && p.spec == nil
}

// render fills the template.
func (t *template) render(s engine.State) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		if !p.placeholder {
			b.WriteString(p.literal)
			continue
		}
		text, err := p.fill(s)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (p part) fill(s engine.State) (string, error) {
	v, err := lookup(s, p.key)
	if err != nil {
		return "", err
	}
	text := str(v)
	for _, n := range p.index {
		letters := []rune(text)
		if n >= len(letters) {
			return "", fmt.Errorf("placeholder {%s[%d]}: the text has only %d letters", p.key, n, len(letters))
		}
		text = string(letters[n])
	}
	switch p.conversion {
	case 'r':
		text = py.Repr(text)
	case 'a':
		text = ascii(text)
	}
	if p.spec == nil {
		return text, nil
	}
	spec, err := p.spec.render(s)
	if err != nil {
		return "", err
	}
	f, err := parseFormat(spec)
	if err != nil {
		return "", fmt.Errorf("placeholder {%s}: %w", p.key, err)
	}
	return f.apply(text), nil
}

func lookup(s engine.State, key string) (any, error) {
	v, ok := s[key]
	if !ok {
		return nil, fmt.Errorf("template references unknown state key %q", key)
	}
	return v, nil
}
