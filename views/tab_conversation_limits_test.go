package views

import (
	"fmt"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// talkative gives the run order-7 the conversation of a tool loop, with what is
// malformed among it.
func talkative(hostile bool) func(*viewstest.Backend) {
	return func(b *viewstest.Backend) {
		ref := viewstest.Ref("order-7")
		d := b.Details[ref]
		d.Talks, d.Waiting = true, viewstest.Rows()[0].Waiting
		b.Details[ref] = d
		b.CallLog[ref] = append(b.CallLog[ref], viewstest.LoopCalls()...)
		b.Talks = map[viewer.Ref]func(int64, bool) viewer.Conversation{ref: func(step int64, reveal bool) viewer.Conversation {
			v := viewstest.Conversation(step, reveal)
			v.Messages = append(v.Messages,
				viewer.Message{N: 9, Odd: "it is no object", Value: []byte(`"hi"`)}, viewer.Message{N: 10, Role: "user", Rest: []string{"name"}},
				viewer.Message{N: 11, Role: "tool", Text: "late\nvery late", Answers: "c1"})
			if hostile {
				spoil(reflect.ValueOf(&v).Elem(), evil)
			}
			return v
		}}
	}
}

func TestConversationFitsEverySizeAndShowsNoControlCharacters(t *testing.T) {
	t.Parallel()
	for _, look := range [][]string{{"1"}, {"7"}, {"7", "g"}, {"7", "g", "enter"}, {"7", "k", "k", "k", "k", "enter"}, {"7", "k", "k", "k", "k", "k", "k", "enter"}, {"7", "{", "{"}} {
		for _, hostile := range []bool{false, true} {
			t.Run(fmt.Sprint(look, hostile), func(t *testing.T) {
				t.Parallel()
				r := openRun(t, talkative(hostile))
				r.press(look...)
				before := r.View()
				if !utf8.ValidString(before) {
					t.Fatalf("%q", before)
				}
				for _, c := range before {
					if c != '\n' && (c < ' ' || c >= 0x7f && c < 0xa0 || c == 0x202e) {
						t.Fatalf("%U in\n%q", c, before)
					}
				}
				r.fits(t)
				r.SetSize(80, 22)
				if after := r.View(); look[len(look)-1] != "enter" && after != before {
					t.Fatalf("after many sizes\n%s\nwant\n%s", after, before)
				}
			})
		}
	}
}
