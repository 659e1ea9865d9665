package viewer

import "strings"

// assignments finds values that a text gives to a secret's name:
// password=x, "apiKey": "x", Cookie: a=b.
func assignments(s string) (spans []span) {
	for i := 0; i < len(s); {
		j := strings.IndexAny(s[i:], "=:")
		if j < 0 {
			return spans
		}
		at := i + j
		i = at + 1
		name, quoted := nameBefore(s, at)
		if len(name) < 3 || secrecyOf(name) == public {
			continue
		}
		if s[at] == ':' && !quoted && !announces(name) {
			continue // "session: started" is prose
		}
		if p, ok := valueAfter(s, at+1, strings.ToLower(name), s[at] == ':'); ok {
			spans = append(spans, p)
			i = p.end
		}
	}
	return spans
}

// nameBefore is the word before s[at], and whether it is in quotes.
func nameBefore(s string, at int) (name string, quoted bool) {
	end := at
	for end > 0 && isBlank(s[end-1]) && at-end < 4 {
		end--
	}
	if end > 0 && (s[end-1] == '"' || s[end-1] == '\'') {
		quoted = true
		end--
		for end > 0 && s[end-1] == '\\' {
			end--
		}
	}
	start := end
	for start > 0 && end-start < 64 && (isURL64(s[start-1])) {
		start--
	}
	return s[start:end], quoted
}

// announces reports names whose value follows a colon also in prose.
func announces(name string) bool {
	words := wordsOf(name)
	joined := strings.Join(words, "")
	for _, w := range []string{"password", "passwd", "passphrase", "secret", "apikey", "privatekey", "accesskey", "authorization", "cookie"} {
		if strings.HasSuffix(joined, w) {
			return true
		}
	}
	return false
}

// valueAfter is the value that begins at s[start:].
func valueAfter(s string, start int, name string, colon bool) (span, bool) {
	start = run(s, start, len(s), isBlank)
	open := start
	for open < len(s) && s[open] == '\\' && open-start < 8 {
		open++
	}
	if open < len(s) && (s[open] == '"' || s[open] == '\'') {
		end := closing(s, open+1, s[open])
		return span{open + 1, end, hidden}, end > open+1
	}
	stops := " \t\r\n,;&\"'`)}]>"
	if colon && (strings.HasSuffix(name, "cookie") || strings.HasSuffix(name, "authorization")) {
		stops = "\r\n\"" // the rest of a header line
	}
	end := len(s)
	if i := strings.IndexAny(s[start:], stops); i >= 0 {
		end = start + i
	}
	switch value := s[start:end]; value {
	case "true", "false", "null", "nil", "None":
		return span{}, false
	default:
		return span{start, end, hidden}, len(value) >= 2
	}
}

// closing is where the quoted value ends, before its quote and the quote's backslashes.
func closing(s string, start int, q byte) int {
	i := start
	for i < len(s) && s[i] != q {
		i++
	}
	end := i
	for end > start && s[end-1] == '\\' {
		end--
	}
	return end
}
