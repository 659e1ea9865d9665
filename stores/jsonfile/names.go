package jsonfile

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// What the name of a run is followed by.
const (
	journalExt = ".jsonl"
	headExt    = ".head.json"
	leaseExt   = ".lease.json"
	tempExt    = ".tmp"
)

// The longest name that is written in full, and how much of a longer one is
// kept before its digest. Some file systems end at 143 bytes.
const (
	maxPlain = 120
	maxShown = 40
)

// fileName makes a file name of an id. Lower-case letters, digits, "_", "-" and
// "." stand for themselves, every other byte is %xx, so that no two ids meet on
// a disk that folds case or normalises Unicode and no name means anything to a
// file system. A long name is cut and followed by "~" and the id's SHA-256.
func fileName(id string) string {
	if id == "" {
		return "%"
	}
	plain := escape(id)
	if len(plain) <= maxPlain {
		return plain
	}
	end := maxShown
	if i := strings.LastIndexByte(plain[:end], '%'); i > end-3 {
		end = i
	}
	sum := sha256.Sum256([]byte(id))
	return plain[:end] + "~" + hex.EncodeToString(sum[:])
}

func escape(id string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		edge := i == 0 || i == len(id)-1
		switch {
		case i == 0 && reserved(id):
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '-' && i > 0, c == '.' && !edge:
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

// reserved reports whether Windows takes a name for a device.
func reserved(id string) bool {
	base, _, _ := strings.Cut(id, ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && '0' <= base[3] && base[3] <= '9'
}

// idOf is the id that a file name was made of, or "" when the name holds only
// its digest. ok is false for names that fileName does not make.
func idOf(name string) (id string, ok bool) {
	if i := strings.IndexByte(name, '~'); i >= 0 {
		digest := name[i+1:]
		_, err := hex.DecodeString(digest)
		return "", err == nil && len(digest) == 2*sha256.Size && strings.ToLower(digest) == digest
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' {
			b.WriteByte(name[i])
			continue
		}
		if i+3 > len(name) {
			return "", false
		}
		c, err := hex.DecodeString(name[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b.Write(c)
		i += 2
	}
	id = b.String()
	return id, id != "" && fileName(id) == name
}

// runOf is the name of the run that a file of an owner's folder belongs to, if
// it is one of those that make a run.
func runOf(file string) (name string, ok bool) {
	name, ok = strings.CutSuffix(file, journalExt)
	if !ok {
		name, ok = strings.CutSuffix(file, headExt)
	}
	if !ok {
		return "", false
	}
	_, ok = idOf(name)
	return name, ok
}
