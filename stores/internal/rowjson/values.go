package rowjson

import (
	"encoding/hex"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/flowtui/flowtui/stores"
)

// HexBytes are bytes in hexadecimal.
type HexBytes []byte

// MarshalText implements encoding.TextMarshaler.
func (h HexBytes) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *HexBytes) UnmarshalText(text []byte) error {
	if *h = nil; len(text) == 0 {
		return nil
	}
	b, err := hex.AppendDecode(nil, text)
	*h = b
	return err
}

// Stamp is a time in UTC, to the microsecond.
type Stamp time.Time

const stampLayout = "2006-01-02T15:04:05.000000Z"

// MarshalText implements encoding.TextMarshaler.
func (s Stamp) MarshalText() ([]byte, error) {
	t := stores.Micro(time.Time(s))
	if t.Year() < 0 || t.Year() > 9999 {
		return nil, fmt.Errorf("%w: the year %d", stores.ErrInvalid, t.Year())
	}
	return t.AppendFormat(nil, stampLayout), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Stamp) UnmarshalText(text []byte) error {
	t, err := time.Parse(stampLayout, string(text))
	*s = Stamp(t)
	return err
}

// Payload is kept as text where it is text, so that it can be read, else in
// base64. Both give back every byte.
type Payload struct {
	Text   string `json:"payload,omitempty"`
	Base64 []byte `json:"payload64,omitempty"`
}

// PayloadOf is the form of these bytes.
func PayloadOf(b []byte) Payload {
	if utf8.Valid(b) {
		return Payload{Text: string(b)}
	}
	return Payload{Base64: b}
}

// Bytes are the payload as it was.
func (p Payload) Bytes() []byte {
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
	Prev   HexBytes `json:"prev"`
	MAC    HexBytes `json:"mac"`
}

func sealOf(s stores.Seal) sealRow { return sealRow{s.Format, s.KeyID, s.Prev, s.MAC} }

func (r sealRow) seal() stores.Seal {
	return stores.Seal{Format: r.Format, KeyID: r.KeyID, Prev: r.Prev, MAC: r.MAC}
}

// Text refuses strings that JSON would change without a word.
func Text(values ...string) error {
	for _, s := range values {
		if !utf8.ValidString(s) {
			return fmt.Errorf("%w: %q is not UTF-8", stores.ErrInvalid, s)
		}
	}
	return nil
}
