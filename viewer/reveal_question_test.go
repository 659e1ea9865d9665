package viewer

import (
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
)

// A question with a secret counts it where it is masked, in the plan and in the
// run, and is readable where it is revealed: nobody has to answer what he cannot read.
func TestAQuestionCountsWhatIsMaskedInIt(t *testing.T) {
	b := newBench(t)
	b.flow(engine.NewFlow("card").Node("ask", engine.Interrupt{Key: "ok", Prompt: func(engine.State) (string, error) {
		return "Charge card 4111 1111 1111 1111?", nil
	}}))
	b.start("card", "ask-1")
	s := b.service()
	ref := s.Find("ask-1", "")
	for _, reveal := range []bool{false, true} {
		e := get[Plan](t)(s.Plan(t.Context(), ref, reveal)).Review[0]
		if masked := e.Masked == 1; masked == reveal || strings.Contains(e.Text, "4111 1111 1111 1111") != reveal {
			t.Errorf("reveal %v: %d masked, %q", reveal, e.Masked, e.Text)
		}
	}
	if w := b.row(s, "ask-1").Waiting; len(w) != 1 || w[0].Masked != 1 {
		t.Errorf("%+v", w)
	}
}
