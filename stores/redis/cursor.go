package redis

import (
	"encoding/base64"
	"fmt"

	"github.com/flowtui/flowtui/stores"
)

// A cursor is the last member of a page, which is its place in the order of lists.
func (m member) cursor() string { return base64.RawURLEncoding.EncodeToString([]byte(m)) }

// parseCursor returns "" for the first page.
func parseCursor(s string) (member, error) {
	if s == "" {
		return "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		if m, _, ok := parseMember(string(b)); ok {
			return m, nil
		}
	}
	return "", fmt.Errorf("%w: cursor %q", stores.ErrInvalid, s)
}
