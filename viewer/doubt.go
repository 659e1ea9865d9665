package viewer

import (
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// ranBut begins the reason of a call that surely ran and whose result is lost.
const ranBut = "the call ran, but "

// ran reports an open call whose record says that it ran: only what it returned
// is not known.
func ran(c engine.CallInfo) bool {
	return c.Status == stores.CallUnrecordable && strings.HasPrefix(c.Why, ranBut)
}

// doubtOn is why a call is in doubt, about "it" or by the name of its tool.
func doubtOn(c engine.CallInfo, it string) string {
	if c.Status != stores.CallUnrecordable {
		return c.Doubt()
	}
	if but, ran := strings.CutPrefix(c.Why, ranBut); ran {
		return it + " ran, but " + but
	}
	if !strings.Contains(c.Why, tool.ErrOutcomeUnknown.Error()) {
		return it + " may have run, but its result could not be kept: " + c.Why
	}
	return joinedBy(": ", it+" may or may not have run", onceTold(c.Why))
}

// plainDoubt is the engine's reason as this package words it.
func plainDoubt(why string) string {
	cause, kept := strings.CutPrefix(why, engine.CallInfo{Status: stores.CallUnrecordable}.Doubt())
	if !kept && !strings.HasPrefix(why, ranBut) && !strings.HasPrefix(why, tool.ErrOutcomeUnknown.Error()) {
		return why
	}
	return doubtOn(engine.CallInfo{Status: stores.CallUnrecordable, Why: cause}, "it")
}

// onceTold is a reason without what the sentence before it says already, and
// without what it says twice: a limit of time comes with its cause.
func onceTold(why string) string {
	unknown := tool.ErrOutcomeUnknown.Error()
	why = strings.TrimPrefix(why, unknown)
	why = strings.TrimPrefix(why, ": ")
	why = strings.ReplaceAll(why, ": "+unknown, "")
	if i := strings.LastIndex(why, " ("); i >= 0 && strings.HasSuffix(why, ")") && strings.HasSuffix(why[:i], why[i+2:len(why)-1]) {
		why = why[:i]
	}
	return why
}

func joinedBy(sep, a, b string) string {
	if b == "" {
		return a
	}
	return a + sep + b
}
