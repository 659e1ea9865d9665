package flowfile

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	teffdoc "github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/engine/tool"
)

var (
	documentKeys = keys{
		known: []string{"name", "description", "state", "steps", "edges", "tools", "models", "conversation", "dialect", "include"},
		later: []string{
			"plugins", "plugins_folder", "checkpoint", "hooks", "observability",
			"providers", "default_provider", "default_model", "channels",
		},
	}
	toolKeys = keys{
		known: []string{"name", "command", "idempotent", "approval", "timeout", "description", "parameters"},
		later: []string{"type", "config"},
	}
)

// document reads a whole file into a flow and its tools.
type document struct {
	reader
	opts        Options
	description string
	flow        *engine.Flow
	tools       *tool.Registry
	declared    map[string]bool // tools of the file, also those that are wrong
	lostTool    bool            // one has no name that could be read: steps may mean it
	lostStep    bool            // one has no id that could be read: edges may mean it
	reducers    map[string]engine.Reducer
	steps       []*step
	models      map[string]model.Model
	lostModel   bool     // one has no name that could be read
	modelKeys   []string // variables with the models' keys, which tools do not inherit
}

func (d *document) read(root *item) {
	if root.kind == broken || !d.mapping(root, "a flow file", documentKeys) {
		return
	}
	if it := root.get("name"); it != nil && d.text(it, "name") == "" && it.kind == isText {
		d.fail(it, "name must not be empty")
	}
	d.name(root.get("name"), "name")
	d.description = d.text(root.get("description"), "description")
	if it := root.get(teffdoc.Mark); it != nil && d.text(it, "dialect") != "flowtui" {
		d.wrongDialect(it)
	}
	d.readModels(root)
	d.readTools(root.get("tools"))
	d.readState(root.get("state"))
	d.readSteps(root)
	d.readEdges(root.get("edges"))
	d.readConversation(root.get("conversation"))
}

// wrongDialect tells why this is no flow file of our own.
func (d *document) wrongDialect(it *item) {
	if it.kind == isText && it.text == "teff" {
		d.fail(it, "this is a document of teff, not a flow file of our own")
	} else if it.kind == isText {
		d.fail(it, "dialect is flowtui or teff, not %q", it.text)
	}
}

// name refuses what could not be shown or typed.
func (r reader) name(it *item, what string) {
	if it == nil || it.kind != isText {
		return
	}
	if i := strings.IndexFunc(it.text, func(c rune) bool { return !unicode.IsPrint(c) }); i >= 0 {
		r.fail(it, "%s %q holds a character that cannot be shown", what, it.text)
	}
}

func (d *document) readTools(it *item) {
	d.tools, d.declared = tool.NewRegistry(), map[string]bool{}
	for _, name := range d.opts.Tools.Names() {
		t, _ := d.opts.Tools.Get(name)
		if err := d.tools.Add(t); err != nil {
			d.fail(it, "%s", err)
		}
	}
	d.lostTool = it != nil && it.kind != isList && it.kind != isNull
	for _, e := range d.items(it, "tools") {
		switch {
		case e.kind == isNull:
			d.wrong(e, "each of tools", isMapping)
		case d.mapping(e, "a tool", toolKeys):
			d.readTool(e)
			continue
		}
		d.lostTool = true
	}
}

func (d *document) readTool(it *item) {
	spec := tool.CommandSpec{
		Name:       d.required(it, "name", "a tool"),
		Command:    d.argv(it),
		Idempotent: d.truth(it.get("idempotent"), "idempotent"),
		Approval:   d.approval(it.get("approval")),
		Timeout:    d.timeout(it.get("timeout")),
		Dir:        d.dir(it),
		Hide:       d.modelKeys,
	}
	d.name(it.get("name"), "tool")
	d.declared[spec.Name] = true
	d.lostTool = d.lostTool || spec.Name == ""
	if spec.Name == "" || len(spec.Command) == 0 {
		return
	}
	t, err := tool.Command(spec)
	if err == nil {
		t.Description, t.Parameters = d.text(it.get("description"), "description"), d.schema(it.get("parameters"))
		err = d.tools.Add(t)
	}
	if err != nil {
		d.fail(it, "%s", err)
	}
}

// schema is a JSON Schema, for models.
func (d *document) schema(it *item) json.RawMessage {
	if it == nil || it.kind == isNull || !d.mappingOf(it, "parameters") {
		return nil
	}
	raw, err := engine.Seal(it.value())
	if err != nil {
		d.fail(it, "parameters: %s", err)
	}
	return raw
}

// mappingOf checks that it is a mapping, whatever its keys.
func (r reader) mappingOf(it *item, what string) bool {
	if it.kind != isMapping {
		r.wrong(it, what, isMapping)
	}
	return it.kind == isMapping
}

// argv is the argument vector. A program named by a path is found from the
// flow file's folder, where the command also runs.
func (d *document) argv(parent *item) []string {
	it := parent.get("command")
	if it == nil {
		d.missing(parent, "command", "a tool")
		return nil
	}
	if it.kind == isText {
		d.fail(it, "command must be a list, like [sh, -c, %q]: no shell is in between", it.text)
		return nil
	}
	argv := d.texts(it, "command")
	switch {
	case len(argv) == 0 && (it.kind == isList || it.kind == isNull), len(argv) > 0 && argv[0] == "" && it.list[0].kind == isText:
		d.fail(it, "command must name a program")
		return nil
	case len(argv) == 0:
		return nil
	}
	if dir := d.dir(parent); dir != "" && !filepath.IsAbs(argv[0]) && strings.ContainsAny(argv[0], `/`+string(filepath.Separator)) {
		argv[0] = filepath.Join(dir, argv[0])
	}
	return argv
}

// dir is the folder of the file that an item stands in.
func (d *document) dir(it *item) string {
	if it.file == "" || d.opts.Dir == "" {
		return d.opts.Dir
	}
	return filepath.Join(d.opts.Dir, filepath.Dir(filepath.FromSlash(it.file)))
}

func (d *document) approval(it *item) tool.Approval {
	a := tool.Approval(d.text(it, "approval"))
	if it != nil && it.kind == isText && a != tool.ApprovalNone && a != tool.ApprovalRequired {
		d.fail(it, "approval must be %q or %q, not %q", tool.ApprovalNone, tool.ApprovalRequired, a)
	}
	return a
}

func (d *document) timeout(it *item) time.Duration {
	if it == nil {
		return 0
	}
	if it.kind == isNumber {
		d.fail(it, "timeout needs a unit, like %ss", it.text)
		return 0
	}
	text := d.text(it, "timeout")
	t, err := time.ParseDuration(text)
	if it.kind == isText && (err != nil || t <= 0) {
		d.fail(it, "timeout %q is not a duration, like 30s or 2m", text)
	}
	return t
}

// types are the names that a state's values may be declared with.
var types = map[string]func(*item) bool{
	"str": ofKind(isText), "string": ofKind(isText), "text": ofKind(isText),
	"int": isInt, "integer": isInt,
	"number": ofKind(isNumber), "float": ofKind(isNumber),
	"bool": ofKind(isBool), "boolean": ofKind(isBool),
	"list": ofKind(isList), "array": ofKind(isList),
	"dict": ofKind(isMapping), "object": ofKind(isMapping), "map": ofKind(isMapping),
	"any": anything, "null": anything,
}

func ofKind(k kind) func(*item) bool { return func(it *item) bool { return it.kind == k } }
func anything(*item) bool            { return true }
func isInt(it *item) bool {
	return it.kind == isNumber && !strings.ContainsAny(it.text, ".eE")
}

var (
	stateKeys  = keys{known: []string{"initial", "schema"}}
	schemaKeys = keys{
		known: []string{"reducer", "type"},
		later: []string{
			"minimum", "maximum", "enum", "minLength", "maxLength", "pattern", "minItems", "maxItems", "items", "required",
		},
	}
	reducers = []string{string(engine.Override), string(engine.Keep), string(engine.Append)}
)

func (d *document) readState(it *item) {
	d.reducers = map[string]engine.Reducer{}
	if !d.mapping(it, "state", stateKeys) {
		return
	}
	initial, schema := it.get("initial"), it.get("schema")
	if initial != nil && initial.kind != isMapping && initial.kind != isNull {
		d.wrong(initial, "state.initial", isMapping)
		return
	}
	if initial != nil && initial.kind == isMapping {
		d.flow.Initial(initial.value().(map[string]any))
	}
	if schema == nil || schema.kind == isNull {
		return
	}
	if schema.kind != isMapping {
		d.wrong(schema, "state.schema", isMapping)
		return
	}
	for _, f := range schema.fields {
		d.readSchema(f.key.text, f.value, initial.get(f.key.text))
	}
}

// readSchema reads one key's entry: a reducer, a type, or {reducer, type}.
func (d *document) readSchema(key string, entry, initial *item) {
	switch {
	case entry.kind != isText:
		if entry.kind == isNull {
			d.wrong(entry, "schema of "+key, isMapping)
		} else if d.mapping(entry, "schema of "+key, schemaKeys) {
			d.reducer(key, entry.get("reducer"))
			d.checkType(key, entry.get("type"), initial)
		}
	case slices.Contains(reducers, entry.text):
		d.reducer(key, entry)
	case types[entry.text] != nil:
		d.checkType(key, entry, initial)
	default:
		d.fail(entry, "schema of %s: %q is neither a reducer (%s) nor a type", key, entry.text, strings.Join(reducers, ", "))
	}
}

func (d *document) reducer(key string, it *item) {
	word := d.text(it, "reducer")
	if it == nil || it.kind != isText {
		return
	}
	if !slices.Contains(reducers, word) {
		d.fail(it, "no reducer is named %q; known: %s", word, strings.Join(reducers, ", "))
		return
	}
	d.reducers[key] = engine.Reducer(word)
	d.flow.Reduce(key, engine.Reducer(word))
}

func (d *document) checkType(key string, it, initial *item) {
	word := d.text(it, "type")
	if it == nil || it.kind != isText {
		return
	}
	fits, ok := types[word]
	switch {
	case !ok:
		d.fail(it, "no type is named %q; known: string, integer, number, boolean, list, dict, any", word)
	case initial != nil && initial.kind != broken && !fits(initial):
		d.fail(initial, "initial value of %s must be of type %s, not %s", key, word, shown(initial))
	}
}

func shown(it *item) string {
	if it.kind == isNumber {
		return fmt.Sprintf("%s %s", it.kind, it.text)
	}
	return string(it.kind)
}
