package py

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// isSpace is str.isspace of one code point.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// Strip is s.strip().
func Strip(s string) string { return strings.TrimFunc(s, isSpace) }

// Upper is s.upper(), a full Unicode mapping: ß becomes SS.
func Upper(s string) string {
	caser := cases.Upper(language.Und)
	var b strings.Builder
	for r, text := range runes(s) {
		switch {
		case r < 0x80:
			b.WriteByte(byte(unicode.ToUpper(r)))
		case isSurrogate(r):
			b.WriteString(text)
		default:
			b.WriteString(caser.String(text))
		}
	}
	return b.String()
}

// Lower is s.lower(), a full Unicode mapping: İ becomes two code points, and
// Σ at the end of a word becomes ς.
func Lower(s string) string {
	var b strings.Builder
	for at := 0; at < len(s); {
		r, n := decodeRune(s[at:])
		switch {
		case r == 'İ':
			b.WriteString("i̇")
		case r == 'Σ' && finalSigma(s[:at], s[at+n:]):
			b.WriteRune('ς')
		case isSurrogate(r):
			b.WriteString(s[at : at+n])
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		at += n
	}
	return b.String()
}

// finalSigma reports whether a Σ ends a word: a cased letter before it and
// none after it, with what case ignores left out (Unicode, Final_Sigma).
func finalSigma(before, after string) bool {
	return cased(strings.TrimRightFunc(before, caseIgnorable), true) && !cased(strings.TrimLeftFunc(after, caseIgnorable), false)
}

// cased reports whether the last or first letter of s has case.
func cased(s string, last bool) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if last {
		r, _ = utf8.DecodeLastRuneInString(s)
	}
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

func caseIgnorable(r rune) bool {
	return strings.ContainsRune("'.:·\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a", r) ||
		unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

// Fields is s.split(): the words between white space.
func Fields(s string) []string { return strings.FieldsFunc(s, isSpace) }

// Split is s.split(sep): a ValueError if sep is empty.
func Split(s, sep string) ([]string, error) {
	if sep == "" {
		return nil, Errorf("ValueError", "empty separator")
	}
	return strings.Split(s, sep), nil
}

// SplitLines is s.splitlines(): at every line end that Unicode knows and at
// \v, \f and \x1c to \x1e.
func SplitLines(s string) []string {
	var lines []string
	start := 0
	for i, r := range s {
		if i < start { // the \n of a \r\n
			continue
		}
		switch r {
		case '\n', '\v', '\f', '\r', 0x1c, 0x1d, 0x1e, 0x85, 0x2028, 0x2029:
			lines = append(lines, s[start:i])
			start = i + len(string(r))
			if r == '\r' && strings.HasPrefix(s[start:], "\n") {
				start++
			}
		}
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}

// Replace is s.replace(old, new); an empty old is found before every code
// point and at the end.
func Replace(s, old, new string) string {
	if old != "" {
		return strings.ReplaceAll(s, old, new)
	}
	var b strings.Builder
	for _, text := range runes(s) {
		b.WriteString(new)
		b.WriteString(text)
	}
	b.WriteString(new)
	return b.String()
}

// Characters are the code points of s, each as a string: what a loop over a
// Python string sees.
func Characters(s string) []string {
	var list []string
	for _, text := range runes(s) {
		list = append(list, text)
	}
	return list
}
