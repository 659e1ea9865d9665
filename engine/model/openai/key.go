package openai

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
)

func (c Config) env(name string) string {
	if c.Getenv != nil {
		return c.Getenv(name)
	}
	return os.Getenv(name)
}

// readKey gives the key, or "" when none is wanted.
func (c Config) readKey() (string, error) {
	if c.Key == nil && c.KeyEnv == "" {
		return "", nil
	}
	source, read := "the key function", c.Key
	if read == nil {
		source, read = "the environment variable "+c.KeyEnv, func() (string, error) { return c.env(c.KeyEnv), nil }
	}
	key, err := read()
	if err != nil {
		return "", fmt.Errorf("no key for %s at %s: %s: %w", c.Model, c.BaseURL, source, err)
	}
	key = strings.TrimSpace(key)
	switch {
	case key == "" && c.KeyEnv != "":
		return "", fmt.Errorf("no key for %s at %s: set %s", c.Model, c.BaseURL, source)
	case key == "":
		return "", fmt.Errorf("no key for %s at %s: %s gives none", c.Model, c.BaseURL, source)
	case strings.ContainsFunc(key, func(r rune) bool { return r > '~' || unicode.IsSpace(r) || unicode.IsControl(r) }):
		return "", errors.New("the key from " + source + " has a space or a character that no key has in it")
	}
	return key, nil
}

// maxQuote is how much of a foreign text an error repeats.
const maxQuote = 500

// scrub makes text from the endpoint or the network fit for an error: without
// the secrets that were sent, on one line, and short.
func (h Headers) scrub(text, key string) string {
	secrets := []string{key}
	for _, v := range h {
		if len(v) >= 8 { // shorter ones are in any text by chance
			secrets = append(secrets, v)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "[secret]")
		}
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(text, "\ufffd"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxQuote {
		text = string(runes[:maxQuote]) + "…"
	}
	return text
}
