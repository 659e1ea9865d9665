package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// config is the config file: named stores with all that belongs to them.
type config struct {
	Contexts map[string]storeContext `yaml:"contexts"`
	Default  setting                 `yaml:"default"`
}

// storeContext is a store with a name.
type storeContext struct {
	Store      string   `yaml:"store"`
	KeyFile    string   `yaml:"key_file"`
	KeyEnv     string   `yaml:"key_env"`
	KeyCmd     string   `yaml:"key_cmd"`
	ReadOnly   bool     `yaml:"read_only"`
	Owner      string   `yaml:"owner"`
	Production bool     `yaml:"production"`
	Flows      []string `yaml:"flows"`
	User       string   `yaml:"user"`
	Principal  string   `yaml:"principal"`
}

func (c storeContext) keys() keySource {
	return keySource{file: c.KeyFile, env: c.KeyEnv, cmd: c.KeyCmd}
}

// UnmarshalYAML reads a context; what is wrong with it is told with its place.
func (c *storeContext) UnmarshalYAML(node ast.Node) error {
	type plain storeContext
	if err := yaml.NodeToValue(node, (*plain)(c), yaml.Strict()); err != nil {
		return err
	}
	switch {
	case c.Store == "":
		return misplaced(node, "the context has no store")
	case c.keys().count() > 1:
		return misplaced(node, "give one of key_file, key_env and key_cmd")
	}
	return nil
}

// setting is a text that knows where it stands.
type setting struct {
	text string
	node ast.Node
}

// UnmarshalYAML keeps the node beside its text.
func (s *setting) UnmarshalYAML(node ast.Node) error {
	s.node = node
	return yaml.NodeToValue(node, &s.text)
}

// misplacedError is an error about one place of the config file.
type misplacedError struct {
	line, column int
	message      string
}

func (e *misplacedError) Error() string { return e.message }

func misplaced(node ast.Node, format string, args ...any) error {
	e := &misplacedError{message: fmt.Sprintf(format, args...)}
	if t := node.GetToken(); t != nil && t.Position != nil {
		e.line, e.column = t.Position.Line, t.Position.Column
	}
	return e
}

// readConfig reads a config file. A file that is not there is an empty one,
// unless it was asked for.
func readConfig(path string, asked bool) (config, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !asked:
		return config{}, nil
	case err != nil:
		return config{}, usagef("the config file cannot be read: %v", err)
	}
	c, err := parseConfig(data)
	if err != nil {
		return config{}, usagef("%s%s", path, place(err))
	}
	return c.relativeTo(filepath.Dir(path)), nil
}

func parseConfig(data []byte) (config, error) {
	var c config
	if err := yaml.UnmarshalWithOptions(data, &c, yaml.Strict()); err != nil {
		return config{}, plainly(data, err)
	}
	for _, name := range c.names() {
		if c.Contexts[name].Store == "" { // a context of nothing is not read as one
			return config{}, fmt.Errorf("the context %s has no store", name)
		}
	}
	if _, known := c.Contexts[c.Default.text]; c.Default.text != "" && !known {
		return config{}, misplaced(c.Default.node, "there is no context %q; there are %s", c.Default.text, listed(c.names()))
	}
	return c, nil
}

// place is an error as it follows a file name: ":line:column: message".
func place(err error) string {
	if e, ok := errors.AsType[*misplacedError](err); ok {
		return fmt.Sprintf(":%d:%d: %s", e.line, e.column, e.message)
	}
	if e, ok := errors.AsType[yaml.Error](err); ok && e.GetToken() != nil && e.GetToken().Position != nil {
		at := e.GetToken().Position
		return fmt.Sprintf(":%d:%d: %s", at.Line, at.Column, e.GetMessage())
	}
	return ": " + err.Error()
}

func (c config) names() []string { return slices.Sorted(maps.Keys(c.Contexts)) }

// relativeTo makes the paths of the file relative to its folder, so that they
// mean the same from everywhere.
func (c config) relativeTo(dir string) config {
	for name, x := range c.Contexts {
		x.Store = storeIn(dir, x.Store)
		x.KeyFile = pathIn(dir, x.KeyFile)
		x.Flows = slices.Clone(x.Flows)
		for i := range x.Flows {
			x.Flows[i] = pathIn(dir, x.Flows[i])
		}
		c.Contexts[name] = x
	}
	return c
}

func storeIn(dir, spec string) string {
	if isURL(spec) {
		return spec
	}
	return pathIn(dir, spec)
}

func pathIn(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
