package jsonfile

import (
	"encoding/hex"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/flowtui/flowtui/stores"
)

// hexBytes are bytes in hexadecimal.
type hexBytes []byte

func (h hexBytes) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

func (h *hexBytes) UnmarshalText(text []byte) error {
	if *h = nil; len(text) == 0 {
		return nil
	}
	b, err := hex.AppendDecode(nil, text)
	*h = b
	return err
}

// stamp is a time in UTC, to the microsecond.
type stamp time.Time

const stampLayout = "2006-01-02T15:04:05.000000Z"

func (s stamp) MarshalText() ([]byte, error) {
	t := stores.Micro(time.Time(s))
	if t.Year() < 0 || t.Year() > 9999 {
		return nil, fmt.Errorf("%w: the year %d", stores.ErrInvalid, t.Year())
	}
	return t.AppendFormat(nil, stampLayout), nil
}

func (s *stamp) UnmarshalText(text []byte) error {
	t, err := time.Parse(stampLayout, string(text))
	*s = stamp(t)
	return err
}

// payload is kept as text where it is text, so that it can be read, else in
// base64. Both give back every byte.
type payload struct {
	Text   string `json:"payload,omitempty"`
	Base64 []byte `json:"payload64,omitempty"`
}

func payloadOf(b []byte) payload {
	if utf8.Valid(b) {
		return payload{Text: string(b)}
	}
	return payload{Base64: b}
}

func (p payload) bytes() []byte {
	switch {
	case p.Base64 != nil:
		return p.Base64
	case p.Text != "":
		return []byte(p.Text)
	}
	return nil
}

type sealRow struct {
	Format int      `json:"format"`
	KeyID  string   `json:"key_id"`
	Prev   hexBytes `json:"prev"`
	MAC    hexBytes `json:"mac"`
}

func sealOf(s stores.Seal) sealRow { return sealRow{s.Format, s.KeyID, s.Prev, s.MAC} }

func (r sealRow) seal() stores.Seal {
	return stores.Seal{Format: r.Format, KeyID: r.KeyID, Prev: r.Prev, MAC: r.MAC}
}

// text refuses strings that JSON would change without a word.
func text(values ...string) error {
	for _, s := range values {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%w: %q is not UTF-8", stores.ErrInvalid, s)
		}
	}
	return nil
}
