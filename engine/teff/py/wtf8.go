package py

import (
	"iter"
	"unicode/utf8"
)

func isSurrogate(r rune) bool { return r >= 0xd800 && r <= 0xdfff }

// decodeRune is the first code point of s, lone surrogates included, and how
// many bytes it takes.
func decodeRune(s string) (rune, int) {
	if len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2]&0xc0 == 0x80 {
		return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return utf8.DecodeRuneInString(s)
}

// AppendRune appends a code point to b, a lone surrogate as its three bytes.
func AppendRune(b []byte, r rune) []byte {
	if isSurrogate(r) {
		return append(b, 0xed, 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(b, r)
}

// runes goes through the code points of s, each with its bytes.
func runes(s string) iter.Seq2[rune, string] {
	return func(yield func(rune, string) bool) {
		for s != "" {
			r, n := decodeRune(s)
			if !yield(r, s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}

// Len is len(s): the number of code points.
func Len(s string) int {
	n := 0
	for range runes(s) {
		n++
	}
	return n
}
