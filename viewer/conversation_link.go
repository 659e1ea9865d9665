package viewer

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// callPlace is a tool call's place in a conversation: indices of the message and
// of the call in it.
type callPlace struct{ message, call int }

// shape is what a tool call of a reply and its call in the log have in common:
// its ordinal is its place in the reply.
type shape struct {
	ordinal int64
	tool    string
	args    [sha256.Size]byte
}

func shapeOf(ordinal int64, tool string, args []byte) shape {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		b.Reset()
		b.Write(args)
	}
	return shape{ordinal, tool, sha256.Sum256(b.Bytes())}
}

// maxTries is how many calls that look alike are tried for one tool call.
const maxTries = 16

// linker finds the calls of replies. Later replies made later calls, so both are
// walked from their ends.
type linker struct {
	talk  talk
	base  int64
	open  bool                        // the run has not ended
	logs  map[shape][]engine.CallInfo // the newest first
	links map[callPlace]engine.CallInfo
}

// linkCalls finds the call in the log for each tool call of a conversation. A
// state does not say which superstep ran the calls of a reply, so a call is
// taken for one only when everything fits: its place, its tool, its arguments
// and what the model was told.
func linkCalls(t talk, calls []engine.CallInfo, f facts) map[callPlace]engine.CallInfo {
	l := linker{talk: t, base: f.base, open: !f.final(), logs: map[shape][]engine.CallInfo{}, links: map[callPlace]engine.CallInfo{}}
	for _, c := range slices.Backward(calls) { // they are sorted by step
		s := shapeOf(c.Ordinal, c.Tool, c.Args)
		l.logs[s] = append(l.logs[s], c)
	}
	before := f.base + 1
	for i, m := range slices.Backward(t.messages) {
		if len(m.calls) > 0 {
			before = l.reply(i, before)
		}
	}
	return l.links
}

// reply links the calls of one reply, which were all made by one superstep that
// began before a step, and returns the step where it began.
func (l *linker) reply(i int, before int64) int64 {
	var first *engine.CallInfo
	for j, w := range l.talk.messages[i].calls {
		s := shapeOf(int64(j)+1, w.name, w.args)
		list := l.logs[s]
		for len(list) > 0 && list[0].Step >= before {
			list = list[1:]
		}
		l.logs[s] = list
		for _, c := range list[:min(len(list), maxTries)] {
			if (first == nil || c.Step == first.Step && c.Node == first.Node) && l.fits(i, w, c) {
				l.links[callPlace{i, j}] = c
				if first == nil {
					first = &c
				}
				break
			}
		}
	}
	if first == nil {
		return before
	}
	return first.Step
}

// fits reports whether the log and the conversation tell the same of a call.
func (l *linker) fits(i int, w wish, c engine.CallInfo) bool {
	if w.answer > 0 {
		return c.Step < l.base && tells(c, l.talk.messages[w.answer-1].content)
	}
	return i == l.talk.newest && (c.Step == l.base || !l.open)
}

// tells reports whether a model was told text when the call ended like this.
func tells(c engine.CallInfo, text string) bool {
	switch {
	case c.Denied != nil, c.Status == stores.CallPending, c.NotRun:
		return strings.HasPrefix(text, "error: ")
	case c.Failed:
		return text == "error: "+c.Error
	case c.Finished():
		return text == resultText(c.Result)
	}
	return false // it has no outcome
}

// resultText is a result as a model reads it.
func resultText(raw []byte) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
