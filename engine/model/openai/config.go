package openai

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/flowtui/flowtui/engine/model"
)

// The defaults of a [Config].
const (
	DefaultTimeout = 10 * time.Minute
	DefaultRetries = 2
)

// Config says which model is called, where and how. It never holds the key
// itself, so it can be printed.
type Config struct {
	Model   string
	BaseURL string // "": OpenAI's own, with its key in OPENAI_API_KEY if nothing else is said

	// The key comes from the environment variable KeyEnv or from Key, which is
	// asked before each request. With neither no key is sent.
	KeyEnv string
	Key    func() (string, error)
	Getenv func(string) string // nil: os.Getenv

	Headers    Headers       // sent with each request
	Timeout    time.Duration // of one Complete with all its retries; 0: DefaultTimeout
	Retries    int           // further attempts when the endpoint is not available; 0: DefaultRetries, negative: none
	MaxBackoff time.Duration // longest wait between attempts; an endpoint that asks for more is not tried again. 0: eight seconds, two minutes if the endpoint asks for it
	HTTPClient *http.Client  // nil: one that follows no redirects

	Temperature *float64
	MaxTokens   int64 // 0: the model's own limit
}

// Headers are the names and values of HTTP headers. Printing them shows the
// names alone: a value may be a secret.
type Headers map[string]string

// Format prints the names.
func (h Headers) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "%q", slices.Sorted(maps.Keys(h)))
}

func (h Headers) validate() error {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }) {
			return fmt.Errorf("%q is not the name of a header", name)
		}
		if strings.ContainsFunc(h[name], unicode.IsControl) {
			return fmt.Errorf("the value of the header %s has a control character in it", name)
		}
	}
	return nil
}

// Preset returns what is known of a provider: openai, ollama (at OLLAMA_HOST if
// that is set) or openrouter. Only the model is to be added.
func Preset(provider string, getenv func(string) string) (Config, error) {
	c := Config{Getenv: getenv}
	switch provider {
	case model.ProviderOpenAI:
		c.BaseURL, c.KeyEnv = "https://api.openai.com/v1", "OPENAI_API_KEY"
	case model.ProviderOpenRouter:
		c.BaseURL, c.KeyEnv = "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"
	case model.ProviderOllama:
		base, err := ollamaBase(c.env("OLLAMA_HOST"))
		if err != nil {
			return Config{}, err
		}
		c.BaseURL = base
	default:
		return Config{}, fmt.Errorf("%q is no preset, want openai, ollama or openrouter", provider)
	}
	return c, nil
}

// ollamaBase reads OLLAMA_HOST as Ollama itself does: scheme, port and path may
// be missing, and the address to listen on everywhere means this machine.
func ollamaBase(host string) (string, error) {
	host = strings.Trim(strings.TrimSpace(host), `"'`)
	scheme, rest, ok := strings.Cut(host, "://")
	port := "11434"
	switch {
	case !ok:
		scheme, rest = "http", host
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	default:
		return "", errors.New("the scheme of OLLAMA_HOST is not http or https")
	}
	if strings.ContainsAny(rest, "@?# ") {
		return "", errors.New("OLLAMA_HOST is not HOST, HOST:PORT or an http address, as in http://localhost:11434")
	}
	rest, path, _ := strings.Cut(rest, "/")
	name := strings.Trim(rest, "[]")
	if h, p, err := net.SplitHostPort(rest); err == nil {
		name, port = h, p
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", errors.New("the port of OLLAMA_HOST is not a number from 1 to 65535")
	}
	if ip, err := netip.ParseAddr(name); name == "" || err == nil && ip.IsUnspecified() {
		name = "localhost"
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(name, port), Path: strings.TrimRight("/"+path, "/") + "/v1"}
	return u.String(), nil
}

// complete fills in the defaults and refuses what cannot work.
func (c Config) complete() (Config, error) {
	if c.BaseURL == "" {
		own, err := Preset(model.ProviderOpenAI, c.Getenv)
		if err != nil {
			return c, err
		}
		c.BaseURL = own.BaseURL
		if c.KeyEnv == "" && c.Key == nil {
			c.KeyEnv = own.KeyEnv
		}
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	spec := model.Spec{
		Provider: model.ProviderOpenAI, Model: c.Model, BaseURL: c.BaseURL, KeyEnv: c.KeyEnv,
		Timeout: c.Timeout, Temperature: c.Temperature, MaxTokens: c.MaxTokens,
	}
	if err := spec.Validate(); err != nil {
		return c, err
	}
	switch {
	case c.KeyEnv != "" && c.Key != nil:
		return c, fmt.Errorf("model %s: the key has two sources, the variable %s and a function: give one", c.Model, c.KeyEnv)
	case c.MaxBackoff < 0:
		return c, fmt.Errorf("model %s: the longest wait between attempts is negative: %s", c.Model, c.MaxBackoff)
	}
	if err := c.Headers.validate(); err != nil {
		return c, fmt.Errorf("model %s: %w", c.Model, err)
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Retries == 0 {
		c.Retries = DefaultRetries
	}
	c.Retries = max(c.Retries, 0)
	if c.HTTPClient == nil {
		c.HTTPClient = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return c, nil
}
