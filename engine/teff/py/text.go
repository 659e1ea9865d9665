package py

import (
	"strings"
	"unicode"
)

// isSpace is str.isspace of one code point.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// Strip is s.strip().
func Strip(s string) string { return strings.TrimFunc(s, isSpace) }
