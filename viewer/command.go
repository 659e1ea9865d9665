package viewer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/flowtui/flowtui/stores"
)

// Command is the command line that does what the request does. It can be
// pasted into a POSIX shell that knows $'…', and shows no hostile character. It
// is "" when there is none, see [Options].
func (s *Service) Command(r Request) string {
	a, err := s.attached(r.Ref.Store)
	if err != nil || s.o.NoCommand {
		return ""
	}
	args := []string{s.o.Command, string(r.Action)}
	args = append(args, s.o.KeyFlags...)
	if r.Ref.Owner != "" && (r.Ref.Owner != stores.DefaultOwner || s.o.SayOwner) {
		args = append(args, "--owner", r.Ref.Owner)
	}
	if s.o.Identity.User != "" {
		args = append(args, "--user", s.o.Identity.User)
	}
	if s.o.Identity.Principal != "" {
		args = append(args, "--principal", s.o.Identity.Principal)
	}
	args = append(args, actionFlags(r)...)
	if r.Version != "" {
		args = append(args, "--if-version", r.Version)
	}
	if r.Note != "" {
		args = append(args, "--note", r.Note)
	}
	where := []string{a.location(), r.Ref.Run}
	if r.Action == Resolve && r.Target != "" {
		where = append(where, r.Target)
	}
	return shellJoin(placed(args, where))
}

// placed puts the arguments behind the command, or at the end behind -- where
// one of them looks like a flag.
func placed(args, where []string) []string {
	for _, w := range where {
		if strings.HasPrefix(w, "-") {
			return append(append(args, "--"), where...)
		}
	}
	return append(append(append([]string{}, args[:2]...), where...), args[2:]...)
}

func actionFlags(r Request) []string {
	var flags []string
	add := func(on bool, f ...string) {
		if on {
			flags = append(flags, f...)
		}
	}
	add((r.Action == Approve || r.Action == Deny) && r.Target != "", "--approval", r.Target)
	add(r.Action == Answer && r.Target != "", "--interrupt", r.Target)
	add(r.Action == Resolve && r.NotRun, "--not-run")
	add(r.Action == Resolve && !r.NotRun, "--result", string(r.Value))
	if r.Action == Answer {
		var text string
		if json.Unmarshal(r.Value, &text) == nil && string(quote(text)) == string(r.Value) {
			flags = append(flags, "--value", text)
		} else {
			flags = append(flags, "--json-value", string(r.Value))
		}
	}
	add(r.Unchecked, "--unchecked")
	add(r.NoRun, "--no-run")
	add(r.RerunInDoubt, "--rerun-in-doubt")
	add(r.Takeover, "--takeover")
	return flags
}

// location is how the store was named, unless that tells a secret.
func (a *attachment) location() string {
	if _, secret := maskText(a.spec); secret {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.info.Location
	}
	return a.spec
}

func shellJoin(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = shellQuote(a)
	}
	return strings.Join(quoted, " ")
}

// shellQuote quotes one argument. Characters that must not be printed are
// written as escapes.
func shellQuote(s string) string {
	plain, safe := true, s != ""
	for i, r := range s {
		if r == utf8.RuneError || hostile(r) {
			plain = false
		}
		if r >= utf8.RuneSelf || !isAlnum(byte(r)) && !strings.ContainsRune("_./:@%+,=-", r) || i == 0 && r == '=' {
			safe = false
		}
	}
	switch {
	case plain && safe:
		return s
	case plain:
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1, r < ' ', 0x7f <= r && r < 0xa0:
			for _, c := range []byte(s[i : i+size]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case hostile(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String() + "'"
}
