// Package seal owns signing: keys, the bytes that a signature covers, and the
// check. A signature is HMAC-SHA256 under a key that HKDF derives from the
// checkpoint key, one label per record kind and format version. It covers a
// length-prefixed [Header] and then the exact payload bytes, so what is signed
// is what is stored and no canonical JSON is needed.
//
// The format is written down in docs/signing.md. The package knows nothing of
// stores or flows.
package seal
