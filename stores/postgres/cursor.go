package postgres

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// cursor is the place of the last head of a page in the order of lists. Only
// the time of a spoiled head can be missing; it comes first, as in the index.
type cursor struct {
	Updated *int64
	Owner   string
	Run     string
}

func (c cursor) String() string {
	b, _ := json.Marshal(c) // a struct of texts and a number always marshals
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor returns nil for the first page.
func parseCursor(s string) (*cursor, error) {
	if s == "" {
		return nil, nil
	}
	var c cursor
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Owner == "" || c.Run == "" {
		return nil, fmt.Errorf("%w: cursor %q", stores.ErrInvalid, s)
	}
	return &c, nil
}

// compare orders by newest update, then owner, then run.
func (c cursor) compare(d cursor) int {
	var updated int
	switch {
	case c.Updated != nil && d.Updated != nil:
		updated = cmp.Compare(*d.Updated, *c.Updated)
	case c.Updated != nil:
		updated = 1
	case d.Updated != nil:
		updated = -1
	}
	return cmp.Or(updated, strings.Compare(c.Owner, d.Owner), strings.Compare(c.Run, d.Run))
}
