package viewer

import (
	"testing"
	"time"
)

func TestEveryFaceOfARun(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	b.crash("mail", "order-7")
	b.start("nightly", "sync-1")
	b.start("approval", "trip-2")
	b.abandon("cut-1")
	b.start("plain", "ok-1")
	b.wait(12 * time.Minute)
	s := b.service()
	page := get[Page](t)(s.List(t.Context(), Query{Check: true}))
	for _, r := range page.Rows {
		t.Logf("%s", asText(t, r))
		t.Logf("next: %s; actions %+v", r.Next, r.Actions)
		t.Logf("%s", asText(t, get[Detail](t)(s.Show(t.Context(), r.Ref))))
		t.Logf("%s", asText(t, get[Plan](t)(s.Plan(t.Context(), r.Ref, false))))
		t.Logf("%+v", get[Plan](t)(s.Plan(t.Context(), r.Ref, false)).Review)
		t.Logf("%s", asText(t, get[[]Call](t)(s.Calls(t.Context(), r.Ref, false))))
		t.Logf("%s", asText(t, get[[]Event](t)(s.Events(t.Context(), r.Ref, 0))))
		t.Logf("%+v", get[StateView](t)(s.State(t.Context(), r.Ref, -1, false)))
	}
	t.Logf("%v", get[Counts](t)(s.Counts(t.Context(), Query{})))
	t.Logf("%v", s.Stores())
}
