package seal

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"sync"
)

// MinKeyBytes is the length that a checkpoint key must have.
const MinKeyBytes = 32

// The outcomes of a check that is not clean. Test with errors.Is.
var (
	ErrNoKey      = errors.New("no key was given")
	ErrUnknownKey = errors.New("signed with a key that was not given")
	ErrForged     = errors.New("signature does not match")
	ErrFormat     = errors.New("unknown signing format")
)

// Signature is what a record carries.
type Signature struct {
	Format int
	KeyID  string
	MAC    []byte
}

// Key is a checkpoint key. It never prints its secret.
type Key struct {
	id   string
	macs map[Kind]*sync.Pool // of *macer
}

// macer makes one MAC at a time under the key of one kind. Making a new one
// hashes the key again, and costs as much as a small record.
type macer struct {
	hash.Hash
	header []byte
}

// NewKey derives a key from a secret of at least MinKeyBytes bytes.
func NewKey(secret []byte) (Key, error) {
	if len(secret) < MinKeyBytes {
		return Key{}, fmt.Errorf("checkpoint key has %d bytes, at least %d are needed", len(secret), MinKeyBytes)
	}
	k := Key{macs: map[Kind]*sync.Pool{}}
	for _, kind := range kinds {
		d, err := derive(secret, "flowtui/v1/"+string(kind), sha256.Size)
		if err != nil {
			return Key{}, err
		}
		k.macs[kind] = &sync.Pool{New: func() any { return &macer{Hash: hmac.New(sha256.New, d)} }}
	}
	id, err := derive(secret, "flowtui/v1/key-id", 8)
	if err != nil {
		return Key{}, err
	}
	k.id = hex.EncodeToString(id)
	return k, nil
}

func derive(secret []byte, label string, n int) ([]byte, error) {
	d, err := hkdf.Key(sha256.New, secret, nil, label, n)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	return d, nil
}

// ID is the key's short public name, 16 hex digits.
func (k Key) ID() string { return k.id }

// String names the key without its secret.
func (k Key) String() string { return "key " + k.id }

// GoString names the key without its secret.
func (k Key) GoString() string { return "seal.Key(" + k.id + ")" }

// mac is nil for a kind that has no key.
func (k Key) mac(h Header, payload []byte) []byte {
	pool, ok := k.macs[h.Kind]
	if !ok {
		return nil
	}
	m := pool.Get().(*macer)
	defer pool.Put(m)
	m.Reset()
	m.header = h.appendMessage(m.header[:0], k.id, len(payload))
	m.Write(m.header)
	m.Write(payload)
	return m.Sum(make([]byte, 0, sha256.Size))
}

// Keyring holds the key that signs and older ones that only check. A nil
// Keyring has no key: everything it checks is ErrNoKey.
type Keyring struct {
	signer Key
	byID   map[string]Key
}

// NewKeyring returns a keyring that signs with the newest key and checks with all.
func NewKeyring(newest Key, older ...Key) *Keyring {
	r := &Keyring{signer: newest, byID: map[string]Key{newest.id: newest}}
	for _, k := range older {
		r.byID[k.id] = k
	}
	return r
}

// ParseKeyring reads keys as they stand in a key file: one key a line, the
// newest first. Empty lines and lines that begin with # are left out. A line
// is the secret itself, or its bytes as hex:… or base64:….
func ParseKeyring(data []byte) (*Keyring, error) {
	var keys []Key
	for i, line := range bytes.Split(data, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		secret, err := decodeSecret(line)
		if err != nil {
			return nil, fmt.Errorf("key in line %d: %w", i+1, err)
		}
		k, err := NewKey(secret)
		if err != nil {
			return nil, fmt.Errorf("key in line %d: %w", i+1, err)
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return NewKeyring(keys[0], keys[1:]...), nil
}

// decodeSecret never puts the line into an error: it is a secret.
func decodeSecret(line []byte) ([]byte, error) {
	if hexText, ok := bytes.CutPrefix(line, []byte("hex:")); ok {
		secret, err := hex.DecodeString(string(hexText))
		if err != nil {
			return nil, errors.New("not hexadecimal")
		}
		return secret, nil
	}
	if text, ok := bytes.CutPrefix(line, []byte("base64:")); ok {
		secret, err := base64.StdEncoding.DecodeString(string(text))
		if err != nil {
			return nil, errors.New("not base64")
		}
		return secret, nil
	}
	return line, nil
}

// String names the keys without their secrets.
func (r *Keyring) String() string {
	if r == nil {
		return "no key"
	}
	return fmt.Sprintf("keyring of %d, signs with %s", len(r.byID), r.signer)
}

// GoString names the keys without their secrets.
func (r *Keyring) GoString() string { return "seal.Keyring(" + r.String() + ")" }

// ID is the id of the key that signs, "" for a nil keyring.
func (r *Keyring) ID() string {
	if r == nil {
		return ""
	}
	return r.signer.id
}

// Has reports whether the keyring can check signatures of the named key.
func (r *Keyring) Has(id string) bool {
	if r == nil {
		return false
	}
	_, ok := r.byID[id]
	return ok
}

// Sign signs a record with the newest key.
func (r *Keyring) Sign(h Header, payload []byte) (Signature, error) {
	if r == nil {
		return Signature{}, ErrNoKey
	}
	mac := r.signer.mac(h, payload)
	if mac == nil {
		return Signature{}, fmt.Errorf("no record is of kind %q", h.Kind)
	}
	return Signature{Format: Format, KeyID: r.signer.id, MAC: mac}, nil
}

// Check returns nil for a sound record, else one of ErrNoKey, ErrUnknownKey,
// ErrForged and ErrFormat. The comparison takes constant time.
func (r *Keyring) Check(h Header, payload []byte, s Signature) error {
	if len(s.MAC) == 0 || s.Format < 1 {
		return fmt.Errorf("%w: the record carries none", ErrForged)
	}
	if s.Format != Format {
		return fmt.Errorf("%w %d, this version reads format %d", ErrFormat, s.Format, Format)
	}
	if r == nil {
		return ErrNoKey
	}
	k, ok := r.byID[s.KeyID]
	if !ok {
		return fmt.Errorf("%w (key %s)", ErrUnknownKey, s.KeyID)
	}
	if !hmac.Equal(s.MAC, k.mac(h, payload)) {
		return ErrForged
	}
	return nil
}
