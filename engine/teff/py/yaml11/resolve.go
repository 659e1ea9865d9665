package yaml11

import (
	"regexp"
	"strings"
)

const (
	prefix  = "tag:yaml.org,2002:"
	strTag  = prefix + "str"
	seqTag  = prefix + "seq"
	mapTag  = prefix + "map"
	nullTag = prefix + "null"
)

// The implicit types of plain scalars (YAML 1.1, as PyYAML has them).
var implicit = []struct {
	tag     string
	first   string // what the scalar may begin with
	pattern *regexp.Regexp
}{
	{"bool", "yYnNtTfFoO", regexp.MustCompile(`^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$`)},
	{"float", "-+0123456789.", regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?` +
		`|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?` +
		`|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*` +
		`|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)},
	{"int", "-+0123456789", regexp.MustCompile(`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)` +
		`|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)},
	{"merge", "<", regexp.MustCompile(`^<<$`)},
	{"null", "~nN", regexp.MustCompile(`^(?:~|null|Null|NULL)$`)},
	{"timestamp", "0123456789", timestamp},
	{"value", "=", regexp.MustCompile(`^=$`)},
}

var timestamp = regexp.MustCompile(`^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}` +
	`|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)$`)

// resolve is the tag of a scalar that has none.
func resolve(value string, plain bool) string {
	switch {
	case !plain:
		return strTag
	case value == "":
		return nullTag
	}
	for _, t := range implicit {
		if strings.IndexByte(t.first, value[0]) >= 0 && t.pattern.MatchString(value) {
			return prefix + t.tag
		}
	}
	return strTag
}
