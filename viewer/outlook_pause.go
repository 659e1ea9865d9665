package viewer

import (
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
)

// pausing is a node at which a run waits for a person.
type pausing struct {
	name   string // within the container that is told of, "" for the node itself
	does   string // "asks"
	might  string // "may ask"
	unsure bool
	each   bool // for each item of a list, which may be empty
}

// stops reports whether the run surely waits there.
func (p pausing) stops() bool { return !p.unsure && !p.each }

func (p pausing) says() string {
	text := p.does
	if p.unsure {
		text = p.might
	}
	if p.each {
		text += " for each item"
	}
	return text
}

// pausesOf are the nodes at or within a node that wait for a person when it runs.
func (o outlook) pausesOf(id string) []pausing {
	p := o.find(id)
	switch p.node.Type {
	case "turn":
		return []pausing{{does: "waits for the next message"}}
	case "interrupt":
		return []pausing{{does: "asks", might: "may ask"}}
	case "tools":
		if o.anyApproval(p) {
			return []pausing{{does: "may want an approval", might: "may want an approval", unsure: true}}
		}
	}
	if t, ok := o.tool(p.node.Tool); ok && t.Approval == tool.ApprovalRequired {
		return []pausing{{does: "wants an approval", might: "may want an approval"}}
	}
	if inner, ok := o.inner[p.node.Flow]; ok {
		return o.pausesIn(id, p, inner)
	}
	return nil
}

// pausesIn are the first nodes within a container that wait for a person, each
// with whether it is sure that the run comes there. Behind a map comes what
// follows in any case: its list may be empty.
func (o outlook) pausesIn(id string, p spot, inner engine.Topology) (list []pausing) {
	starts, between := []string{inner.Entry}, "/"
	if len(p.node.Branches) > 0 {
		starts = p.node.Branches
	}
	if p.node.Type == "map" {
		between = "/0/"
	}
	for _, start := range starts {
		prefix := id + between
		list = append(list, o.pausesFrom(prefix, prefix+start)...)
	}
	for i := range list {
		list[i].each = list[i].each || p.node.Type == "map"
	}
	return list
}

// pausesFrom are the first nodes from start on that wait for a person, within the
// container: behind the first that surely does, what comes is decided there.
func (o outlook) pausesFrom(prefix, start string) (list []pausing) {
	at, unsure := []string{start}, false
	seen := slices.Clone(at)
	for len(at) > 0 {
		stops := false
		for _, id := range at {
			for _, w := range o.pausesOf(id) {
				w.name = strings.TrimSuffix(strings.TrimPrefix(id, prefix)+"/"+w.name, "/")
				w.unsure = w.unsure || unsure
				stops = stops || w.stops()
				list = append(list, w)
			}
		}
		if stops {
			return list
		}
		var next []string
		for _, id := range at {
			sure, perhaps := o.find(id).exits()
			unsure = unsure || len(perhaps) > 0
			for _, to := range append(sure, perhaps...) {
				if to != theEnd && !slices.Contains(seen, to) {
					seen, next = append(seen, to), append(next, to)
				}
			}
		}
		at = next
	}
	return list
}

// pause says where the run waits for a person at nodes, as a part of a sentence
// that has just named them, and whether it surely waits.
func (o outlook) pause(nodes []string) (text string, stops bool) {
	var itself, inside []string
	for _, id := range nodes {
		for _, w := range o.pausesOf(id) {
			stops = stops || w.stops()
			switch {
			case w.name != "" && len(nodes) == 1:
				inside = append(inside, w.name+" "+w.says())
			case w.name != "":
				itself = append(itself, w.name+" in "+id+" "+w.says())
			case len(nodes) == 1:
				return ", which " + w.says(), stops
			default:
				itself = append(itself, id+" "+w.says())
			}
		}
	}
	switch {
	case len(inside) > 0:
		return ", in which " + listed(inside), stops
	case len(itself) > 0:
		return ", of which " + listed(itself), stops
	}
	return "", false
}

// unknown says of what is told whether it waits for a person cannot be known
// without the flow file.
func (o outlook) unknown(nodes []string) string {
	if o.tools != nil {
		return ""
	}
	var names []string
	for _, id := range distinct(nodes) {
		if n := o.find(id).node; n.Tool != "" || n.Flow != "" || n.Type == "tools" {
			names = append(names, id)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; whether " + strings.Join(names, " or ") + " waits for a person is not known without its flow file"
}

func (o outlook) tool(name string) (tool.Tool, bool) {
	if o.tools == nil || name == "" {
		return tool.Tool{}, false
	}
	return o.tools.Get(name)
}

// anyApproval reports whether the model of a loop may call a tool that wants an
// approval.
func (o outlook) anyApproval(loop spot) bool {
	if o.tools == nil {
		return false
	}
	names := o.loops[loop.digest][loop.name]
	if names == nil {
		names = o.tools.Names()
	}
	return slices.ContainsFunc(names, func(name string) bool {
		t, _ := o.tools.Get(name)
		return t.Approval == tool.ApprovalRequired
	})
}
