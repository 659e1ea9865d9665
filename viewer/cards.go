package viewer

import "strings"

// isCard reports whether digits is the number of a payment card: 13 to 19
// digits, a first digit that cards have, and the Luhn check. Times in
// milli-, micro- and nanoseconds begin with 1, so they are none.
func isCard(digits string) bool {
	if len(digits) < 13 || len(digits) > 19 || digits[0] < '2' || digits[0] > '6' {
		return false
	}
	sum := 0
	for i := range len(digits) {
		c := digits[len(digits)-1-i]
		if !isDigit(c) {
			return false
		}
		n := int(c - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

// cards finds card numbers, also when they are written in groups.
func cards(s string) (spans []span) {
	for i := 0; i < len(s); {
		if !isDigit(s[i]) {
			i++
			continue
		}
		groups, end := digitGroups(s, i)
		if touches(s, i, end) {
			groups = nil
		}
		spans = append(spans, cardsIn(s, groups)...)
		i = end
	}
	return spans
}

// touches reports whether a letter or a fraction is glued to s[start:end], so
// that it is a part of something else.
func touches(s string, start, end int) bool {
	before := start > 0 && (isAlnum(s[start-1]) || s[start-1] == '.' || s[start-1] == '_')
	after := end < len(s) && (isAlnum(s[end]) || s[end] == '_' || s[end] == '.' && end+1 < len(s) && isDigit(s[end+1]))
	return before || after
}

// digitGroups reads groups of digits that single spaces or dashes part.
func digitGroups(s string, start int) (groups []span, end int) {
	for i := start; ; {
		end = run(s, i, len(s), isDigit)
		groups = append(groups, span{i, end, ""})
		if end+1 >= len(s) || s[end] != ' ' && s[end] != '-' || !isDigit(s[end+1]) || len(groups) == 64 {
			return groups, end
		}
		i = end + 1
	}
}

// cardsIn finds the longest card numbers that whole groups make.
func cardsIn(s string, groups []span) (spans []span) {
	for i := 0; i < len(groups); i++ {
		var digits strings.Builder
		var best span
		last := i
		for j := i; j < len(groups) && digits.Len() < 19; j++ {
			g := groups[j]
			if j > i && g.end-g.start < 3 {
				break
			}
			digits.WriteString(s[g.start:min(g.end, g.start+20)])
			if isCard(digits.String()) {
				d := digits.String()
				best, last = span{groups[i].start, g.end, hidden + d[len(d)-4:]}, j
			}
		}
		if best.end > 0 {
			spans = append(spans, best)
			i = last
		}
	}
	return spans
}
