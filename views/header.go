package views

import (
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// header is the first line: which stores, whose runs, whether they can be
// trusted, whether one can write, and how fresh the rows are. What is missing goes before all
// that is known of stores that can be read.
func header(s *shared, missing, fresh string, width int) string {
	access := s.styles.Strong.Render(access(s)) + "  "
	name := " " + s.styles.Title.Render("flowtui") + "  "
	left, short := known(s)
	if missing != "" {
		left, access = s.styles.Tone(theme.Danger).Render(widget.Plain(missing)), ""
		short = left
	}
	right := access + widget.Plain(fresh) + " "
	for _, word := range productionWords {
		if !production(s) {
			break
		}
		marked := s.styles.Tone(theme.Danger).Render(word) + "  " + right
		if word == productionWords[len(productionWords)-1] || widget.Width(name+left+marked)+1 <= width {
			right = marked
			break
		}
	}
	if widget.Width(name+left+right)+1 > width {
		left = short
	}
	return widget.Ends(name+left, right, width, s.styles.Ellipsis)
}

// known is what is known of the stores that can be read, and the same without
// what matters least.
func known(s *shared) (long, short string) {
	infos := stores(s)
	head := s.styles.Strong.Render(widget.Plain(storeNames(s))) + s.styles.Tone(ownerTone(s)).Render(prefixed("  ", ownerLabel(s))) + "  "
	if len(infos) == 1 {
		key := keyState(s, infos[0])
		return head + strings.Join(nonEmpty(widget.Plain(infos[0].Format), key), ", "), head + key
	}
	long = head + fmt.Sprintf("%d stores", len(infos))
	for _, info := range infos {
		if info.Unfit {
			long += ", " + s.styles.Tone(theme.Danger).Render("the key does not fit "+widget.Plain(info.Label))
		}
	}
	return long, long
}

// keyState says whether the key at hand fits. One that does not is why nothing
// can be done.
func keyState(s *shared, info viewer.StoreInfo) string {
	if info.Unfit {
		return s.styles.Tone(theme.Danger).Render(widget.Plain(info.Key))
	}
	return widget.Plain(info.Key)
}

// productionWords mark a production store; the last one is for narrow windows.
var productionWords = [...]string{"PRODUCTION", "prod"}

// access says whether one can write.
func access(s *shared) string {
	infos := stores(s)
	for _, info := range infos {
		if !info.ReadOnly {
			return "read-write"
		}
	}
	if len(infos) == 0 {
		return "read-write"
	}
	return "read-only"
}

// storeNames names all attached stores.
func storeNames(s *shared) string {
	var names []string
	for _, info := range stores(s) {
		names = append(names, storeName(s, info.Label, info.Label))
	}
	return strings.Join(names, ", ")
}
