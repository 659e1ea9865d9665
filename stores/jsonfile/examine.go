package jsonfile

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// Examine implements stores.Examiner. It looks at the name and the size of
// every file of the store.
func (s *Store) Examine(ctx context.Context) (stores.Examination, error) {
	var e stores.Examination
	var journals, unfinished int
	err := s.read(ctx, "examine", stores.Key{}, func(root *os.Root) error {
		if root == nil {
			return nil
		}
		return fs.WalkDir(root.FS(), ".", func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return ctx.Err() // what may not be read, attaching tells
			}
			switch {
			case strings.HasSuffix(d.Name(), journalExt):
				journals++
			case strings.HasSuffix(d.Name(), tempExt):
				unfinished++
			}
			if info, err := d.Info(); err == nil {
				e.Bytes += info.Size()
			}
			return ctx.Err()
		})
	})
	if err != nil {
		return stores.Examination{}, err
	}
	e.Facts = []stores.Fact{
		{Name: "journals", Value: fmt.Sprint(journals)},
		{Name: "writes cut short", Value: fmt.Sprintf("%d files end in %s: writes under way, or left by a killed writer", unfinished, tempExt)},
	}
	if unfinished == 0 {
		e.Facts[1].Value = "none"
	}
	return e, nil
}
