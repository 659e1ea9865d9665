package views

import (
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// scope is whose runs the list shows. The zero scope is what the program was
// started for.
type scope struct {
	chosen bool
	owner  viewer.Owner
}

// everybody is the scope of all owners.
var everybody = scope{chosen: true, owner: viewer.Owner{ID: anyOwner}}

// of narrows a query to the scope.
func (c scope) of(q viewer.Query) viewer.Query {
	if c.chosen {
		q.Owner, q.None = c.owner.ID, c.owner.ID == ""
	}
	return q
}

// maxOwner is how many cells of an owner's name are shown where it is one of
// several things.
const maxOwner = 20

// ownerLabel says whose runs are shown.
func ownerLabel(s *shared) string {
	id, name := "", ""
	switch infos := stores(s); {
	case s.scope.chosen:
		id, name = s.scope.owner.ID, s.scope.owner.Name
	case len(infos) == 0:
		return ""
	default:
		id, name = infos[0].Owner, infos[0].Owner
	}
	if id == anyOwner {
		return "all owners"
	}
	return ownerName(s, name, maxOwner)
}

// ownerName is an owner's name with the word for it.
func ownerName(s *shared, name string, width int) string {
	if name == "" {
		return "no owner"
	}
	return "owner " + widget.CutMiddle(widget.Plain(name), width, s.styles.Ellipsis)
}

// keptTo is why the list cannot show other owners, "" when it can.
func keptTo(s *shared) string {
	for _, info := range stores(s) {
		if !info.AnyOwner {
			return "this was started for " + ownerName(s, info.Owner, maxOwner) + " only"
		}
	}
	return ""
}

// ownerTone makes a list that shows less than all stand out.
func ownerTone(s *shared) theme.Tone {
	if s.scope.chosen && s.scope.owner.ID != anyOwner {
		return theme.Accent
	}
	return theme.Normal
}
