package flowfile

import (
	"regexp"
	"strings"
)

// variable is ${NAME}, or with a second dollar a text that stays.
var variable = regexp.MustCompile(`\$?\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// fill puts the environment's variables into every text but keys and the
// commands of tools, whose programs have the environment themselves. A value is
// text wherever it stands: it becomes no YAML and no placeholder.
func (r reader) fill(root *item, lookup func(string) (string, bool)) {
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	f := filler{r, lookup, map[*item]bool{}}
	if tools := root.get("tools"); tools != nil {
		for _, t := range tools.list {
			f.done[t.get("command")] = true
		}
	}
	f.fill(root)
}

type filler struct {
	reader
	lookup func(string) (string, bool)
	done   map[*item]bool // an alias is a second pointer to one item
}

func (f *filler) fill(it *item) {
	if it == nil || f.done[it] {
		return
	}
	f.done[it] = true
	for _, e := range it.list {
		f.fill(e)
	}
	for _, e := range it.fields {
		f.fill(e.value)
	}
	if it.kind == isText && strings.Contains(it.text, "${") {
		f.text(it)
	}
}

// text fills one text. As a template it is another one: braces of a value are
// written twice there, so that they stay what they are.
func (f *filler) text(it *item) {
	var plain, template strings.Builder
	last := 0
	variables := map[string]string{}
	for _, at := range variable.FindAllStringIndex(it.text, -1) {
		before, reference := it.text[last:at[0]], it.text[at[0]:at[1]]
		last = at[1]
		plain.WriteString(before)
		template.WriteString(before)
		if strings.HasPrefix(reference, "$$") {
			variables[reference] = reference[1:]
			plain.WriteString(reference[1:])
			template.WriteString("$" + braces.Replace(reference[2:]))
			continue
		}
		name := reference[2 : len(reference)-1]
		value, ok := f.lookup(name)
		if !ok {
			f.fail(it, "the variable %s is not set in the environment; write $%s for a text that is no variable", reference, reference)
		}
		variables[reference] = value
		plain.WriteString(value)
		template.WriteString(braces.Replace(value))
	}
	if last == 0 {
		return // it has none
	}
	it.unfilled, it.variables = it.text, variables
	rest := it.text[last:]
	plain.WriteString(rest)
	template.WriteString(rest)
	it.text, it.filled = plain.String(), plain.String()
	if strings.Contains(it.text, "{") { // else it is no template, and its braces stay
		it.filled = template.String()
	}
}

var braces = strings.NewReplacer("{", "{{", "}", "}}")

// fillIn fills a part of an item's text as it is written. Such a part is filled
// after what it means was read, so that no value of a variable changes that.
func (it *item) fillIn(written string) string { return fillFrom(written, it.variables) }

func fillFrom(written string, variables map[string]string) string {
	return variable.ReplaceAllStringFunc(written, func(reference string) string {
		if value, ok := variables[reference]; ok {
			return value
		}
		return reference
	})
}

// asTemplate is a text as a template.
func (it *item) asTemplate(text string) string {
	if it.filled != "" && text == it.text {
		return it.filled
	}
	return text
}
