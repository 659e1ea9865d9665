package views

import (
	"slices"
	"strings"

	"github.com/flowtui/flowtui/viewer"
)

// storeInfo describes the store that a run is in.
func storeInfo(s *shared, r viewer.Row) viewer.StoreInfo {
	for _, info := range stores(s) {
		if info.Label == r.Ref.Store {
			return info
		}
	}
	return viewer.StoreInfo{}
}

// production reports that one of the attached stores is a production store.
func production(s *shared) bool {
	for _, info := range stores(s) {
		if info.Production {
			return true
		}
	}
	return false
}

// storeName is the name of a store that tells it from the others: the end of
// its location, where another one has a file of the same name.
func storeName(s *shared, label, shown string) string {
	own := ""
	var others []string
	for _, info := range stores(s) {
		if info.Label == label {
			own = slashed(info.Location)
			continue
		}
		others = append(others, slashed(info.Location))
	}
	n := 1
	for n <= strings.Count(own, "/") && slices.ContainsFunc(others, func(o string) bool { return tail(o, n) == tail(own, n) }) {
		n++
	}
	if n == 1 {
		return shown
	}
	return tail(own, n)
}

func slashed(location string) string { return strings.ReplaceAll(location, "\\", "/") }

// tail is the last n parts of a path.
func tail(p string, n int) string {
	parts := strings.Split(p, "/")
	return strings.Join(parts[max(0, len(parts)-n):], "/")
}

// ownerOf names the owner of a run where it can be another one than usual.
func ownerOf(s *shared, r viewer.Row) string {
	if r.Owner == "default" && foreignOwner(s, r) == "" {
		return ""
	}
	return "owner " + r.Owner
}
