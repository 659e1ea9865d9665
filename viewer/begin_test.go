package viewer

import (
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// Nothing begins under a key that none of the runs fits; one of the ring is
// enough, and a row that was changed tells nothing.
func TestAKeyThatDoesNotFitBeginsNothing(t *testing.T) {
	b := newBench(t)
	with := func(keys *seal.Keyring) *Service {
		s, w := b.tampered(func(o *Options) { o.Keys = keys })
		w.head = func(h *stores.Head) {
			if h.Run == "bent" {
				h.KeyID = strings.Repeat("0", 16)
			}
		}
		return s
	}
	other := seal.NewKeyring(key(t, "x"))
	begin := func(keys *seal.Keyring, run string) error {
		_, err := with(keys).Start(t.Context(), StartRequest{Run: run, Flow: b.flows.flows["plain"]}, nil)
		return err
	}
	if err := begin(other, "first"); err != nil {
		t.Error("a store without runs:", err)
	}
	if p := explain(begin(b.keys, "second")); p.Code != codeRefused || !strings.Contains(p.Message, "signed with key "+other.ID()) || !strings.Contains(p.Hint, "in front of the old one") {
		t.Errorf("%+v", p)
	}
	if err := begin(seal.NewKeyring(key(t, "k"), key(t, "x")), "third"); err != nil {
		t.Error("a new key in front of the old one:", err)
	}
	if err := begin(b.keys, "bent"); err != nil {
		t.Error("the new key alone:", err)
	}
	if err := with(seal.NewKeyring(key(t, "y"))).MayBegin(t.Context(), Ref{Owner: stores.DefaultOwner, Run: "third"}); err != nil {
		t.Error("a run that is there:", err)
	}
	if err := with(nil).MayBegin(t.Context(), Ref{}); err != nil {
		t.Error("a store of this process needs no key:", err)
	}
}
