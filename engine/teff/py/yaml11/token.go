package yaml11

// A tokenKind is named as PyYAML names tokens in its messages.
type tokenKind string

const (
	streamEnd          tokenKind = "<stream end>"
	directive          tokenKind = "<directive>"
	documentStart      tokenKind = "<document start>"
	documentEnd        tokenKind = "<document end>"
	blockSequenceStart tokenKind = "<block sequence start>"
	blockMappingStart  tokenKind = "<block mapping start>"
	blockEnd           tokenKind = "<block end>"
	flowSequenceStart  tokenKind = "["
	flowMappingStart   tokenKind = "{"
	flowSequenceEnd    tokenKind = "]"
	flowMappingEnd     tokenKind = "}"
	keyToken           tokenKind = "?"
	valueToken         tokenKind = ":"
	blockEntry         tokenKind = "-"
	flowEntry          tokenKind = ","
	aliasToken         tokenKind = "<alias>"
	anchorToken        tokenKind = "<anchor>"
	tagToken           tokenKind = "<tag>"
	scalarToken        tokenKind = "<scalar>"
)

// A token is one word of a document.
type token struct {
	kind       tokenKind
	start, end Mark
	value      string // of a scalar, an alias, an anchor, a tag's suffix, a directive's name
	handle     string // of a tag, "" for none
	plain      bool   // a scalar without quotes
	arguments  [2]string
}

// A simpleKey is where a key without "?" may have begun.
type simpleKey struct {
	token    int // its number in the stream
	required bool
	index    int
	mark     Mark
}
