package stores

import "context"

// Replacement is what is to become of one row of a foreign store.
type Replacement struct {
	Key  Key
	Seen []byte // its payload, as Latest gave it; nil: there must be no row
	Next []byte // its new payload, in the same layout; nil: the row is removed
}

// Answerer writes rows of a foreign format as its own program would.
type Answerer interface {
	// Replace writes the rows in their order. When one of them is not what was
	// seen it is ErrConflict, and none is written. A store without transactions
	// may have written the first ones when it fails later; its error says so.
	// It returns the payloads as they are stored now, nil for removed rows: a
	// database may write JSON in its own way.
	Replace(ctx context.Context, rows ...Replacement) ([][]byte, error)
}
