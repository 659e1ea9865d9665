package yaml11

// A Kind says what a node is.
type Kind int

// The kinds of nodes, as PyYAML names them.
const (
	Scalar Kind = iota
	Sequence
	Mapping
)

func (k Kind) String() string { return [...]string{"scalar", "sequence", "mapping"}[k] }

// A Node is one value of a document, before types are given to it. An alias is
// the very node that its anchor names.
type Node struct {
	Kind  Kind
	Tag   string // with its prefix written out, such as "tag:yaml.org,2002:str"
	Value string // of a scalar
	Items []*Node
	Pairs []Pair
	Start Mark
	flat  bool // merge keys are resolved
}

// A Pair is one key of a mapping with its value.
type Pair struct{ Key, Value *Node }
