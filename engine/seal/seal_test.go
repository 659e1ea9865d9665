package seal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
)

const secret = "use-a-secret-from-your-vault-32b"

func testHeader() Header {
	prev := make([]byte, 32)
	for i := range prev {
		prev[i] = byte(i)
	}
	return Header{
		Kind: KindCheckpoint, Store: "st0re", Owner: "default", Run: "order-7", Incarnation: "inc4rnation",
		Step: 2, Base: 1, Segment: 3, RunKind: "flow", Flow: "tickets", Digest: "d1gest", Status: "running",
		User: "alice", Thread: "t-9", Principal: "svc", Calls: 4, Events: 5, Time: 1767322985678000, Prev: prev,
	}
}

func mustKey(t *testing.T, s string) Key {
	t.Helper()
	k, err := NewKey([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// The expected bytes were computed by a separate program, in Python with hmac,
// hashlib and struct, from docs/signing.md alone.
func TestGoldenBytes(t *testing.T) {
	r := NewKeyring(mustKey(t, secret))
	if got, want := r.ID(), "99c5d88348d58d1c"; got != want {
		t.Errorf("key id %s, want %s", got, want)
	}
	payload := []byte(`{"state":{"show":"Hamlet","€":1.0}}`)
	if got := len(testHeader().appendMessage(nil, r.ID(), len(payload))); got != 327 {
		t.Errorf("header has %d bytes, want 327", got)
	}
	s, err := r.Sign(testHeader(), payload)
	if err != nil {
		t.Fatal(err)
	}
	want := "2e3cdab51ae4a2980fe5869827c8b7cd26ab7cea7c4b51cda9877b5f58c9a2f4"
	if got := hex.EncodeToString(s.MAC); got != want {
		t.Errorf("MAC %s, want %s", got, want)
	}
}

// Every field of the header is covered: changing any one of them breaks the signature.
func TestEveryFieldIsSigned(t *testing.T) {
	r := NewKeyring(mustKey(t, secret))
	s, _ := r.Sign(testHeader(), []byte("x"))
	typ := reflect.TypeFor[Header]()
	for i := range typ.NumField() {
		h := testHeader()
		switch f := reflect.ValueOf(&h).Elem().Field(i); f.Kind() {
		case reflect.String:
			f.SetString(f.String() + "!")
			if typ.Field(i).Name == "Kind" {
				f.SetString(string(KindHead))
			}
		case reflect.Int64:
			f.SetInt(f.Int() + 1)
		case reflect.Bool:
			f.SetBool(!f.Bool())
		case reflect.Slice:
			f.SetBytes([]byte("other"))
		default:
			t.Fatalf("field %s has a kind that this test does not change", typ.Field(i).Name)
		}
		if err := r.Check(h, []byte("x"), s); !errors.Is(err, ErrForged) {
			t.Errorf("changed %s: %v, want ErrForged", typ.Field(i).Name, err)
		}
	}
}

func TestFieldsDoNotRun(t *testing.T) {
	r := NewKeyring(mustKey(t, secret))
	a, b := testHeader(), testHeader()
	a.Owner, a.Run = "ab", "c"
	b.Owner, b.Run = "a", "bc"
	s, _ := r.Sign(a, nil)
	if err := r.Check(b, nil, s); !errors.Is(err, ErrForged) {
		t.Errorf("text moved between fields: %v, want ErrForged", err)
	}
}

func TestVerdicts(t *testing.T) {
	old, now := mustKey(t, strings.Repeat("o", 32)), mustKey(t, secret)
	h, p := testHeader(), []byte("payload")
	s, _ := NewKeyring(now).Sign(h, p)
	sOld, _ := NewKeyring(old).Sign(h, p)
	bad := s
	bad.MAC = append(bytes.Clone(s.MAC[:31]), s.MAC[31]^1)
	next := s
	next.Format = 2
	none := Signature{}
	tests := []struct {
		name string
		ring *Keyring
		sig  Signature
		want error
	}{
		{"sound", NewKeyring(now), s, nil},
		{"sound after a rotation", NewKeyring(now, old), sOld, nil},
		{"old key not given", NewKeyring(now), sOld, ErrUnknownKey},
		{"no key", nil, s, ErrNoKey},
		{"one bit", NewKeyring(now), bad, ErrForged},
		{"cut MAC", NewKeyring(now), Signature{Format: 1, KeyID: s.KeyID, MAC: s.MAC[:16]}, ErrForged},
		{"stripped", NewKeyring(now), none, ErrForged},
		{"stripped, no key", nil, none, ErrForged},
		{"newer format", NewKeyring(now), next, ErrFormat},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.ring.Check(h, p, tt.sig); !errors.Is(err, tt.want) || (tt.want == nil) != (err == nil) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// MACs are made by hashes that are used again: neither what one signed before
// nor what others sign at the same time may show.
func TestSigningAtOnce(t *testing.T) {
	r := NewKeyring(mustKey(t, secret))
	one := func(i int) (Header, []byte) {
		h := testHeader()
		h.Kind, h.Step = kinds[i%len(kinds)], int64(i)
		return h, bytes.Repeat([]byte{byte(i)}, i*37)
	}
	want := make([]Signature, 64)
	for i := range want {
		h, p := one(i)
		want[i], _ = NewKeyring(mustKey(t, secret)).Sign(h, p) // a hash of its own
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range want {
				h, p := one(i)
				s, err := r.Sign(h, p)
				if err != nil || !bytes.Equal(s.MAC, want[i].MAC) {
					t.Errorf("record %d: MAC %x, want %x (%v)", i, s.MAC, want[i].MAC, err)
				}
				if err := r.Check(h, p, want[i]); err != nil {
					t.Errorf("record %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestUnknownKind(t *testing.T) {
	r := NewKeyring(mustKey(t, secret))
	h := testHeader()
	s, _ := r.Sign(h, nil)
	h.Kind = "other"
	if s, err := r.Sign(h, nil); err == nil {
		t.Errorf("a record of no kind was signed: %x", s.MAC)
	}
	if err := r.Check(h, nil, s); !errors.Is(err, ErrForged) {
		t.Errorf("a record of no kind: %v, want ErrForged", err)
	}
}

// BenchmarkSign prints what one signature over a small record costs.
func BenchmarkSign(b *testing.B) {
	k, err := NewKey([]byte(secret))
	if err != nil {
		b.Fatal(err)
	}
	r, h, payload := NewKeyring(k), testHeader(), make([]byte, 256)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Sign(h, payload); err != nil {
			b.Fatal(err)
		}
	}
}

func TestParseKeyring(t *testing.T) {
	k := mustKey(t, secret)
	tests := []struct{ name, in, wantID, wantErr string }{
		{"plain", secret, k.id, ""},
		{"trailing newline", secret + "\n", k.id, ""},
		{"windows newline", secret + "\r\n", k.id, ""},
		{"comment and blank", "# prod\n\n" + secret + "\n", k.id, ""},
		{"hex", "hex:" + hex.EncodeToString([]byte(secret)), k.id, ""},
		{"base64", "base64:dXNlLWEtc2VjcmV0LWZyb20teW91ci12YXVsdC0zMmI=", k.id, ""},
		{"rotated", secret + "\n" + strings.Repeat("o", 40), k.id, ""},
		{"short", "tooshort", "", "line 1: checkpoint key has 8 bytes, at least 32 are needed"},
		{"short second", secret + "\nshort", "", "line 2"},
		{"empty", "", "", "no key"},
		{"only comment", "# nothing\n", "", "no key"},
		{"bad hex", "hex:zz", "", "not hexadecimal"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ParseKeyring([]byte(tt.in))
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("error %v, want %q", err, tt.wantErr)
				}
				if strings.Contains(err.Error(), "tooshort") {
					t.Error("the error shows the secret")
				}
				return
			}
			if err != nil || r.ID() != tt.wantID {
				t.Errorf("id %q, error %v, want %q", r.ID(), err, tt.wantID)
			}
		})
	}
}

func TestKeyNeverPrintsItsSecret(t *testing.T) {
	r := NewKeyring(mustKey(t, secret))
	derived, err := derive([]byte(secret), "flowtui/v1/head", 32)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{r.signer, &r.signer, r, struct{ Keys *Keyring }{r}} {
		for _, f := range []string{"%v", "%+v", "%#v", "%s"} {
			out := fmt.Sprintf(f, v)
			if strings.Contains(out, secret) || strings.Contains(out, fmt.Sprint(derived[:4])[1:10]) || strings.Contains(out, string(derived)) {
				t.Errorf("%s of %T prints %s", f, v, out)
			}
		}
	}
	if out := fmt.Sprint(r, r.signer); strings.Count(out, r.ID()) != 2 {
		t.Errorf("the key's id is missing in %s", out)
	}
}

func FuzzSignCheck(f *testing.F) {
	f.Add("default", "order-7", int64(2), []byte("{}"), uint16(3))
	f.Fuzz(func(t *testing.T, owner, run string, step int64, payload []byte, flip uint16) {
		r := NewKeyring(mustKey(t, secret))
		h := Header{Kind: KindCall, Owner: owner, Run: run, Step: step}
		s, err := r.Sign(h, payload)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(h, payload, s); err != nil {
			t.Fatalf("own signature: %v", err)
		}
		if len(payload) > 0 {
			p := bytes.Clone(payload)
			p[int(flip)%len(p)] ^= 1
			if r.Check(h, p, s) == nil {
				t.Error("changed payload passes")
			}
		}
		h.Step++
		if r.Check(h, payload, s) == nil {
			t.Error("changed step passes")
		}
	})
}

func FuzzParseKeyring(f *testing.F) {
	f.Add([]byte(secret + "\nhex:00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := ParseKeyring(data); err == nil && len(r.ID()) != 16 {
			t.Errorf("id %q", r.ID())
		}
	})
}
