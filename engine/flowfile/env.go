package flowfile

import (
	"regexp"
	"strings"
)

// variable is ${NAME}, or with a second dollar a text that stays.
var variable = regexp.MustCompile(`\$?\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// A spot is where a text stands: under which key, whether a variable may stand
// there, and whether the same holds for all that is inside.
type spot struct {
	key        string
	may, whole bool
}

// spots are those with a rule of their own. Everywhere else a text may be kept in
// the store: in a checkpoint, in the graph, in the list of runs. No variable may
// stand there.
var spots = func() map[string]spot {
	rules := map[string]spot{}
	rule := func(may, whole bool, names ...string) {
		for _, name := range names {
			rules[name] = spot{name, may, whole}
		}
	}
	// Data of a run, which the file's author means to be kept.
	rule(true, true, "initial", "update", "args", "value", "needle", "sections")
	rule(true, false, "template", "old", "new", "sep")
	// Not kept: the graph has conditions as they are written, a question does not tell what passes.
	rule(true, true, "equals", "any_of", "parameters")
	rule(true, false, "condition", "when", "until", "regex", "accepts", "model", "provider", "base_url", "timeout", "description", "include", "path")
	// Names under keys of the author's own choice.
	rule(false, true, "schema", "input_map", "output_map")
	return rules
}()

// fill puts the environment's variables into the texts in which they may stand,
// and refuses them elsewhere. The commands of tools are left alone: their
// programs have the environment themselves. A value is text wherever it stands:
// it becomes no YAML and no placeholder.
func (r reader) fill(root *item, lookup func(string) (string, bool)) {
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	f := filler{r, lookup, map[*item]bool{}, map[visit]bool{}}
	if tools := root.get("tools"); tools != nil {
		for _, t := range tools.list {
			f.left[t.get("command")] = true
		}
	}
	f.fill(root, spot{})
}

type filler struct {
	reader
	lookup func(string) (string, bool)
	left   map[*item]bool
	done   map[visit]bool
}

// visit is an item at a spot: by an alias one item stands in several.
type visit struct {
	it *item
	at spot
}

func (f *filler) fill(it *item, at spot) {
	if it == nil || f.left[it] || f.done[visit{it, at}] {
		return
	}
	f.done[visit{it, at}] = true
	for _, e := range it.list {
		f.fill(e, at)
	}
	for _, e := range it.fields {
		inner := at
		if !at.whole {
			inner = spots[e.key.text]
			inner.key = e.key.text
		}
		f.fill(e.value, inner)
	}
	if it.kind == isText && strings.Contains(it.written(), "${") {
		f.text(it, at)
	}
}

// refused tells of a variable that may not stand where it does.
func (f *filler) refused(it *item, at spot) bool {
	written := it.written()
	where := at.key
	if at.key == "condition" || at.key == "when" {
		c, _ := parseCondition(written)
		written, where = c.key, "the key of a condition"
	} else if at.may {
		return false
	}
	for _, reference := range variable.FindAllString(written, -1) {
		if !strings.HasPrefix(reference, "$$") {
			f.fail(it, "the variable %s cannot stand in %s, which is kept in the store: write the text itself; variables are for data (state.initial, args, update, what a transform writes) and for what is not kept", reference, where)
			return true
		}
	}
	return false
}

// text fills one text. As a template it is another one: braces of a value are
// written twice there, so that they stay what they are.
func (f *filler) text(it *item, at spot) {
	if f.refused(it, at) || it.variables != nil {
		return
	}
	var plain, template strings.Builder
	last := 0
	variables := map[string]string{}
	for _, m := range variable.FindAllStringIndex(it.text, -1) {
		before, reference := it.text[last:m[0]], it.text[m[0]:m[1]]
		last = m[1]
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
