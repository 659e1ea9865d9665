package memory

import (
	"context"
	"fmt"

	"github.com/flowtui/flowtui/stores"
)

// Examine implements stores.Examiner.
func (s *Store) Examine(ctx context.Context) (e stores.Examination, err error) {
	err = s.do(ctx, "examine", stores.Key{}, func() error {
		e = stores.Examination{Bytes: -1, Facts: []stores.Fact{{Name: "runs", Value: fmt.Sprintf("%d, gone with the process", len(s.runs))}}}
		return nil
	})
	return e, err
}
