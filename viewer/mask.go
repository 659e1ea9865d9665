package viewer

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// hidden stands where a secret was; at most the last four digits of a card follow.
const hidden = "••••"

// maskedJSON is JSON whose secrets are masked. Everything else is byte for
// byte as it was.
type maskedJSON struct {
	JSON json.RawMessage
	at   map[int]bool // offsets in JSON of the tokens that are masked
}

// Count is how many values are masked.
func (m maskedJSON) Count() int { return len(m.at) }

// secrecy says how much of a value its key gives away.
type secrecy int

const (
	public     secrecy = iota
	secretText         // texts are secret, numbers are counts: "tokens"
	secret             // texts and numbers
)

// maskJSON masks the secrets of a JSON value, by the names of keys and by the
// shape of texts, at any depth.
func maskJSON(raw []byte) maskedJSON { return maskValid(asJSON(raw)) }

// maskValid is maskJSON for what is known to be JSON.
func maskValid(raw []byte) maskedJSON { return maskBelow(raw, public) }

// maskBelow is maskValid for a value below a key that may give it away.
func maskBelow(raw []byte, level secrecy) maskedJSON {
	m := masker{
		edit: edit{data: raw}, scan: jsonScan{data: raw}, keys: map[string]secrecy{}, at: map[int]bool{}, open: []secrecy{level},
	}
	for m.token() {
	}
	return maskedJSON{m.edit.result(), m.at}
}

type masker struct {
	edit  edit
	scan  jsonScan
	keys  map[string]secrecy
	open  []secrecy // of each open container
	value secrecy   // of the key that was just read
	at    map[int]bool
}

func (m *masker) token() bool {
	t := m.scan.next()
	text := m.scan.data[t.start:t.end]
	level := max(m.value, m.inherited())
	switch t.kind {
	case tokenEnd:
		return false
	case tokenOpen:
		m.open = append(m.open, level)
	case tokenClose:
		m.open = m.open[:max(0, len(m.open)-1)]
	case tokenKey:
		m.key(t, text)
		return true
	case tokenString:
		m.text(t, text, level)
	case tokenLiteral:
		m.number(t, text, level)
	}
	m.value = public
	return true
}

func (m *masker) inherited() secrecy {
	if len(m.open) == 0 {
		return public
	}
	return m.open[len(m.open)-1]
}

// maxKeys bounds what is remembered of keys in one value.
const maxKeys = 10_000

func (m *masker) key(t token, raw []byte) {
	level, known := m.keys[string(raw)]
	if !known {
		name, _ := unquote(raw, -1)
		level = secrecyOf(name)
		if len(m.keys) < maxKeys {
			m.keys[string(raw)] = level
		}
	}
	m.value = level
	m.text(t, raw, public)
}

func (m *masker) text(t token, raw []byte, level secrecy) {
	if len(raw) <= 2 {
		return
	}
	escaped := bytes.IndexByte(raw, '\\') >= 0
	if level == public && !escaped && traitsOf(raw) == 0 {
		return
	}
	s := string(raw[1 : len(raw)-1])
	if escaped {
		s, _ = unquote(raw, -1)
	}
	masked, changed := s, false
	if level == public {
		masked, changed = maskText(s)
	} else if !isHidden(s) {
		masked, changed = hide(s), true
	}
	if changed {
		m.at[m.edit.replace(t.start, t.end, quote(masked))] = true
	}
}

func (m *masker) number(t token, raw []byte, level secrecy) {
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		return // true, false and null say nothing
	}
	if s := string(raw); level == secret { // a bare number is an id as often as a card
		m.at[m.edit.replace(t.start, t.end, quote(hide(s)))] = true
	}
}

// hide is what is shown of a secret.
func hide(s string) string {
	digits := strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return -1
		}
		return r
	}, s)
	if isCard(digits) {
		return hidden + digits[len(digits)-4:]
	}
	return hidden
}

// isHidden reports whether s is masked already, so that masking twice changes nothing.
func isHidden(s string) bool {
	rest, ok := strings.CutPrefix(s, hidden)
	return ok && len(rest) <= 4 && strings.Trim(rest, "0123456789") == ""
}

// secretWords are the words that make a key's value secret.
var secretWords = map[string]secrecy{
	"password": secret, "passwords": secret, "passwd": secret, "passphrase": secret, "pwd": secret, "secret": secret,
	"secrets": secretText, "token": secret, "tokens": secretText, "apikey": secret, "authorization": secret, "auth": secret,
	"cookie": secret, "cookies": secretText, "credential": secret, "credentials": secret, "privatekey": secret,
	"accesskey": secret, "secretkey": secret, "signingkey": secret, "card": secret, "cardnumber": secret, "pan": secret,
	"cvv": secret, "cvc": secret, "iban": secret, "ssn": secret, "session": secret, "sessionid": secret, "otp": secret,
	"jwt": secret, "bearer": secret, "pass": secretText, "passcode": secret, "pin": secret, "hmac": secretText,
}

// secretPairs are the words that are secret only together.
var secretPairs = map[[2]string]bool{
	{"api", "key"}: true, {"private", "key"}: true, {"access", "key"}: true, {"signing", "key"}: true,
	{"encryption", "key"}: true, {"account", "key"}: true, {"master", "key"}: true, {"api", "keys"}: true,
	{"private", "keys"}: true, {"access", "keys"}: true, {"host", "key"}: true, {"ssh", "key"}: true,
	{"signature", "key"}: true, {"checkpoint", "key"}: true, {"hmac", "key"}: true,
}

// secretTails end words that were written together, as in dbpassword.
var secretTails = []string{"password", "passwd", "secret", "token", "apikey"}

// plainTails are last words after which the value tells about the secret, not the secret itself.
var plainTails = []string{
	"count", "counts", "limit", "limits", "used", "usage", "max", "min", "size", "length", "type", "kind", "status",
	"expires", "expiry", "expiration", "at", "in", "ttl", "seconds", "ms", "total", "enabled", "required",
}

// secrecyOf judges a key by its words, however they are joined: db_password,
// userToken, X-Api-Key.
func secrecyOf(key string) secrecy {
	if len(key) > 200 {
		return public
	}
	words := wordsOf(key)
	if n := len(words); n > 1 && slices.Contains(plainTails, words[n-1]) {
		return public
	}
	level := public
	for i, w := range words {
		level = max(level, secretWords[w])
		if i > 0 && secretPairs[[2]string{words[i-1], w}] {
			level = secret
		}
		for _, tail := range secretTails {
			if strings.HasSuffix(w, tail) {
				level = secret
			}
		}
	}
	return level
}

// wordsOf splits a key at punctuation and at capitals, in lower case.
func wordsOf(key string) []string {
	var words []string
	var word []rune
	runes := []rune(key)
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		after := i > 0 && unicode.IsLower(runes[i-1])
		before := i > 0 && unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if unicode.IsUpper(r) && (after || before) {
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}
