package teff

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/flowtui/flowtui/stores"
)

// defaultTable and historyTable are teff's own names. The latter cannot be
// changed in teff.
const (
	defaultTable = "checkpoints"
	historyTable = "checkpoint_history"
)

// parseTable reads the table option of teff, which is pasted into its SQL as
// it is: names are folded to lower case unless they are in double quotes, and
// there may be a schema before the table. What comes out is quoted whatever was
// given, so that no name is taken for SQL.
func parseTable(text string) (pgx.Identifier, error) {
	bad := func(why string) (pgx.Identifier, error) {
		return nil, fmt.Errorf("%w: table %q: %s; it is written as in SQL: runs, flow.runs or \"My Table\"", stores.ErrInvalid, text, why)
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return bad("it is no text that the server takes")
	}
	var id pgx.Identifier
	for rest := strings.TrimSpace(text); ; {
		part, after, err := tablePart(rest)
		if err != "" {
			return bad(err)
		}
		const maxName = 63 // the server cuts longer names off
		if len(part) > maxName {
			return bad(fmt.Sprintf("a name has at most %d bytes", maxName))
		}
		id = append(id, part)
		after = strings.TrimLeft(after, " ")
		if after == "" {
			break
		}
		if after[0] != '.' || len(id) == 2 {
			return bad("there is more than a schema and a table")
		}
		rest = strings.TrimLeft(after[1:], " ")
	}
	return id, nil
}

// tablePart takes one name from the start of text.
func tablePart(text string) (name, rest, problem string) {
	if text == "" {
		return "", "", "a name is missing"
	}
	if text[0] == '"' {
		var b strings.Builder
		for i := 1; i < len(text); i++ {
			if text[i] != '"' {
				b.WriteByte(text[i])
				continue
			}
			if i+1 < len(text) && text[i+1] == '"' {
				b.WriteByte('"')
				i++
				continue
			}
			if b.Len() == 0 {
				return "", "", "a name is empty"
			}
			return b.String(), text[i+1:], ""
		}
		return "", "", "a double quote is missing"
	}
	end := strings.IndexFunc(text, func(r rune) bool {
		return !(r == '_' || r == '$' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r >= 0x80)
	})
	if end < 0 {
		end = len(text)
	}
	if end == 0 || text[0] == '$' || '0' <= text[0] && text[0] <= '9' {
		return "", "", "a name starts with a letter or _, or is in double quotes"
	}
	return lowerASCII(text[:end]), text[end:], ""
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
