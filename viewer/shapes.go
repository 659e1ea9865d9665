package viewer

import (
	"cmp"
	"slices"
	"strings"
)

// span is a secret within a text, and what is shown of it.
type span struct {
	start, end int
	show       string
}

// traits are what a text has of the things that secrets are recognised by.
type traits uint8

const (
	hasDash   traits = 1 << iota // - or _
	hasA                         // the start of AKIA, ASIA or AIza
	hasDot                       // .
	hasHeader                    // the end of "Bearer " or "Basic "
	hasGives                     // : or =
	hasCard                      // a run of 13 digits
)

// traitsOf reads a text once, so that most texts cost no more than that.
func traitsOf[T ~string | ~[]byte](s T) (t traits) {
	digits := 0
	for i := range len(s) {
		c := s[i]
		if isDigit(c) {
			if digits++; digits >= 13 {
				t |= hasCard
			}
			continue
		}
		switch c {
		case ' ':
			if i > 4 && (s[i-1]|0x20 == 'r' || s[i-1]|0x20 == 'c') {
				t |= hasHeader
			}
			continue
		case '-':
			t |= hasDash
			continue
		case '_':
			t |= hasDash
		case '.':
			t |= hasDot
		case ':', '=':
			t |= hasGives
		case 'A':
			if i+1 < len(s) && (s[i+1] == 'K' || s[i+1] == 'S' || s[i+1] == 'I') {
				t |= hasA
			}
		}
		digits = 0
	}
	return t
}

// shapes find secrets by what they look like, in texts that have the traits.
var shapes = []struct {
	needs traits
	find  func(string) []span
}{
	{hasDash, pemKeys}, {hasDash, prefixed(dashed)}, {hasA, prefixed(undashed)}, {hasDot, webTokens}, {hasHeader, headers},
	{hasGives, urlPasswords}, {hasCard, cards}, {hasGives, assignments},
}

// maskText masks what looks like a secret inside a text, and reports whether
// there was any.
func maskText(s string) (string, bool) {
	if len(s) < 6 {
		return s, false
	}
	has := traitsOf(s)
	if has == 0 {
		return s, false
	}
	var spans []span
	for _, shape := range shapes {
		if shape.needs&has != 0 {
			spans = append(spans, shape.find(s)...)
		}
	}
	spans = slices.DeleteFunc(spans, func(p span) bool { return isHidden(s[p.start:p.end]) })
	if len(spans) == 0 {
		return s, false
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	var b strings.Builder
	done := 0
	for _, p := range spans {
		if p.end <= done {
			continue
		}
		if p.start >= done {
			b.WriteString(s[done:p.start])
			b.WriteString(p.show)
		}
		done = p.end
	}
	b.WriteString(s[done:])
	return b.String(), true
}

// each calls f with every place where what occurs in s. f returns where to go on.
func each(s, what string, f func(at int) int) {
	for from := 0; from < len(s); {
		i := strings.Index(s[from:], what)
		if i < 0 {
			return
		}
		from = max(f(from+i), from+i+len(what))
	}
}

// run is the end of the longest run of bytes that in allows, from start on.
func run(s string, start, most int, in func(byte) bool) int {
	end := start
	for end < len(s) && end-start < most && in(s[end]) {
		end++
	}
	return end
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlnum(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' }
func isUpper(c byte) bool { return isDigit(c) || 'A' <= c && c <= 'Z' }
func isURL64(c byte) bool { return isAlnum(c) || c == '-' || c == '_' }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isBearer(c byte) bool {
	return isURL64(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '='
}

// wordStart reports whether no letter or digit is before s[i].
func wordStart(s string, i int) bool { return i == 0 || !isAlnum(s[i-1]) }

func pemKeys(s string) (spans []span) {
	each(s, "-----BEGIN ", func(at int) int {
		head := s[at:min(len(s), at+80)]
		if !strings.Contains(head, "PRIVATE KEY") {
			return at
		}
		end := len(s)
		if i := strings.Index(s[at:], "-----END "); i >= 0 {
			end = at + i + len("-----END ")
			if j := strings.Index(s[end:], "-----"); j >= 0 {
				end += j + len("-----")
			}
		}
		spans = append(spans, span{at, end, hidden})
		return end
	})
	return spans
}

// tokenPrefix is a kind of key that announces itself.
type tokenPrefix struct {
	text string
	min  int // characters after it
	in   func(byte) bool
}

var undashed = []tokenPrefix{{"AKIA", 16, isUpper}, {"ASIA", 16, isUpper}, {"AIza", 30, isURL64}}

var dashed = []tokenPrefix{
	{"ghp_", 16, isAlnum}, {"gho_", 16, isAlnum}, {"ghu_", 16, isAlnum}, {"ghs_", 16, isAlnum}, {"ghr_", 16, isAlnum},
	{"github_pat_", 16, isURL64}, {"glpat-", 16, isURL64}, {"sk-", 16, isURL64}, {"sk_live_", 8, isURL64},
	{"sk_test_", 8, isURL64}, {"rk_live_", 8, isURL64}, {"xoxa-", 8, isURL64}, {"xoxb-", 8, isURL64},
	{"xoxe-", 8, isURL64}, {"xoxo-", 8, isURL64}, {"xoxp-", 8, isURL64}, {"xoxr-", 8, isURL64}, {"xoxs-", 8, isURL64},
	{"npm_", 30, isAlnum}, {"hf_", 20, isAlnum},
}

func prefixed(list []tokenPrefix) func(string) []span {
	return func(s string) (spans []span) {
		for _, p := range list {
			each(s, p.text, func(at int) int {
				end := run(s, at+len(p.text), len(s), p.in)
				cut := s[end:] == "…" // by a list entry, which keeps the start of long texts
				if end-at-len(p.text) < p.min && !cut || !wordStart(s, at) {
					return at
				}
				spans = append(spans, span{at, end, hidden})
				return end
			})
		}
		return spans
	}
}

// maxHead bounds the first part of a web token, so that base64 data costs little.
const maxHead = 8 << 10

func webTokens(s string) (spans []span) {
	each(s, "eyJ", func(at int) int {
		head := run(s, at, maxHead, isURL64)
		if head-at < 10 || head >= len(s) || s[head] != '.' || !wordStart(s, at) {
			return at
		}
		body := run(s, head+1, len(s), isURL64)
		if body-head < 10 {
			return at
		}
		end := run(s, body, len(s), func(c byte) bool { return isURL64(c) || c == '.' })
		spans = append(spans, span{at, end, hidden})
		return end
	})
	return spans
}

// headers finds what follows "Bearer" and "Basic".
func headers(s string) (spans []span) {
	for _, tail := range []string{"earer ", "EARER ", "asic ", "ASIC "} {
		each(s, tail, func(at int) int {
			if at == 0 || s[at-1]|0x20 != 'b' || !wordStart(s, at-1) {
				return at
			}
			start := run(s, at+len(tail), 16, isBlank)
			end := run(s, start, len(s), isBearer)
			value := s[start:end]
			if len(value) < 6 || len(value) < 16 && !strings.ContainsAny(value, "0123456789._-+/=") {
				return at
			}
			spans = append(spans, span{start, end, hidden})
			return end
		})
	}
	return spans
}

// urlPasswords finds the password in scheme://user:password@host.
func urlPasswords(s string) (spans []span) {
	each(s, "://", func(at int) int {
		start := at + len("://")
		rest := s[start:min(len(s), start+2048)]
		if i := strings.IndexAny(rest, " \t\r\n\"'<>`"); i >= 0 {
			rest = rest[:i]
		}
		colon := strings.IndexByte(rest, ':')
		host := strings.LastIndexByte(rest, '@')
		if i := strings.IndexAny(rest, "/?#"); i >= 0 && colon >= 0 && colon < i {
			if sooner := strings.LastIndexByte(rest[:i], '@'); sooner >= 0 {
				host = sooner
			} else if strings.Trim(rest[colon+1:i], "0123456789") == "" {
				return at // a port, and the @ belongs to the path
			}
		} else if i >= 0 && i < host {
			return at
		}
		if colon < 0 || host <= colon+1 {
			return at
		}
		spans = append(spans, span{start + colon + 1, start + host, hidden})
		return start + host
	})
	return spans
}
