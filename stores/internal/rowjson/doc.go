// Package rowjson owns rows as JSON lines that a person can read and that give
// back every byte: the lines of the JSON file store's journals, which are also
// what a bundle is made of. Every line carries its checksum. The form is
// written down in docs/store-format.md.
package rowjson
