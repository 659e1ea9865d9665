package keymap

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
)

// Live lists the contexts that are live at the same time: a key that two
// groups of one entry both want would never reach the second.
func (m Map) Live() [][]Group {
	by := map[string]Group{}
	for _, g := range m.Groups() {
		by[g.Name] = g
	}
	kill := Group{"kill", "Always", []key.Binding{m.Global.Kill}}
	suspend := Group{"suspend", "Always but in text", []key.Binding{m.Global.Suspend}}
	return [][]Group{
		{by["global"], by["list"]},
		{by["global"], by["detail"]},
		{kill, suspend, by["sheet"]},
		{kill, by["text"]},
		{kill, by["filter"]},
	}
}

// Conflicts names every key that means two things at the same time.
func (m Map) Conflicts() []string {
	var found []string
	for _, groups := range m.Live() {
		owner := map[string]string{}
		for _, g := range groups {
			for _, b := range g.Bindings {
				for _, k := range b.Keys() {
					name := g.Name + " " + b.Help().Desc
					if other, taken := owner[k]; taken {
						found = append(found, fmt.Sprintf("%q is both %s and %s", k, other, name))
					}
					owner[k] = name
				}
			}
		}
	}
	return found
}
