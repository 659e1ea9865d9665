package openai_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/model/openai"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestPresets(t *testing.T) {
	for provider, want := range map[string][2]string{
		"openai":     {"https://api.openai.com/v1", "OPENAI_API_KEY"},
		"ollama":     {"http://localhost:11434/v1", ""},
		"openrouter": {"https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
	} {
		c, err := openai.Preset(provider, env(nil))
		if err != nil || c.BaseURL != want[0] || c.KeyEnv != want[1] {
			t.Errorf("%s: got %+v, %v", provider, c, err)
		}
	}
	if _, err := openai.Preset("scripted", env(nil)); err == nil {
		t.Error("a preset for scripted")
	}
}

// The expected addresses are those that Ollama's own client would call.
func TestOllamaHost(t *testing.T) {
	for host, want := range map[string]string{
		"":                         "http://localhost:11434/v1",
		"gpu":                      "http://gpu:11434/v1",
		"gpu:8080":                 "http://gpu:8080/v1",
		":8080":                    "http://localhost:8080/v1",
		"http://gpu":               "http://gpu:80/v1",
		"https://gpu":              "https://gpu:443/v1",
		"https://gpu:8443/ollama/": "https://gpu:8443/ollama/v1",
		"0.0.0.0":                  "http://localhost:11434/v1",
		"0.0.0.0:8080":             "http://localhost:8080/v1",
		"[::]:8080":                "http://localhost:8080/v1",
		"::1":                      "http://[::1]:11434/v1",
		"[::1]":                    "http://[::1]:11434/v1",
		` "10.1.2.3:1" `:           "http://10.1.2.3:1/v1",
	} {
		c, err := openai.Preset("ollama", env(map[string]string{"OLLAMA_HOST": host}))
		if err != nil || c.BaseURL != want {
			t.Errorf("%q: got %s, %v, want %s", host, c.BaseURL, err, want)
		}
		c.Model = "m"
		newClient(t, c)
	}
	for _, host := range []string{"gpu:http", "gpu:0", "gpu:65536", "ftp://gpu", "me:hush@gpu", "gpu/?a"} {
		_, err := openai.Preset("ollama", env(map[string]string{"OLLAMA_HOST": host}))
		if err == nil || !strings.Contains(err.Error(), "OLLAMA_HOST") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: got %v", host, err)
		}
	}
}

func TestKeyIsWantedAtConstruction(t *testing.T) {
	for want, cfg := range map[string]openai.Config{
		"no key for m at https://api.openai.com/v1: set the environment variable OPENAI_API_KEY": {Getenv: env(nil)},
		"set the environment variable MY_KEY":                                                    {Getenv: env(map[string]string{"MY_KEY": " \n"}), KeyEnv: "MY_KEY"},
		"the key function gives none":                                                            {Key: func() (string, error) { return "", nil }},
		"the key function: vault is sealed":                                                      {Key: func() (string, error) { return "", errors.New("vault is sealed") }},
		"the environment variable MY_KEY has a space":                                            {Getenv: env(map[string]string{"MY_KEY": secret + "\nx"}), KeyEnv: "MY_KEY"},
		"the key has two sources, the variable MY_KEY and a function":                            {KeyEnv: "MY_KEY", Key: func() (string, error) { return secret, nil }},
	} {
		cfg.Model = "m"
		_, err := openai.New(cfg)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		keepsSecret(t, err)
	}
}

func TestConfigErrors(t *testing.T) {
	for want, cfg := range map[string]openai.Config{
		"the model's name is missing":           {BaseURL: "http://x"},
		"the base URL is not an http":           {Model: "m", BaseURL: "x"},
		"the timeout is negative":               {Model: "m", BaseURL: "http://x", Timeout: -1},
		"the longest wait between attempts":     {Model: "m", BaseURL: "http://x", MaxBackoff: -1},
		`"X Y" is not the name of a header`:     {Model: "m", BaseURL: "http://x", Headers: openai.Headers{"X Y": secret}},
		"the value of the header X has a contr": {Model: "m", BaseURL: "http://x", Headers: openai.Headers{"X": secret + "\r\nY: 1"}},
	} {
		_, err := openai.New(cfg)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		keepsSecret(t, err)
	}
}

func TestKeyFunctionIsAskedForEachRequest(t *testing.T) {
	e := serve(t, ok)
	cfg := e.config()
	keys := 0
	var broken error
	cfg.KeyEnv, cfg.Key = "", func() (string, error) { keys++; return fmt.Sprintf(" key-%d\n", keys), broken }
	c := newClient(t, cfg)
	for i, want := range []string{"Bearer key-2", "Bearer key-3"} {
		if _, err := c.Complete(t.Context(), hello); err != nil {
			t.Fatal(err)
		}
		if got := e.requests()[i].header.Get("Authorization"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	broken = errors.New("vault is sealed")
	if _, err := c.Complete(t.Context(), hello); !errors.Is(err, model.ErrUnavailable) || !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestNothingPrintsSecrets(t *testing.T) {
	cfg := serve(t, ok).config()
	cfg.Headers = openai.Headers{"X-Secret": secret}
	c := newClient(t, cfg)
	keepsSecret(t, cfg, &cfg, c, *c, struct{ M model.Model }{c}, struct{ c openai.Client }{*c}, []any{cfg, c})
	if got, want := fmt.Sprint(c), "model test-model at "+cfg.BaseURL; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("opened", "model", c, "headers", cfg.Headers)
	if strings.Contains(log.String(), secret) || !strings.Contains(log.String(), "X-Secret") {
		t.Errorf("got %s", log.String())
	}
}

func TestErrorsKeepSecretHeaders(t *testing.T) {
	e := serve(t, refused(400, `{"error":{"message":"bad header hush-hush-hush"}}`))
	cfg := e.config()
	cfg.Headers, cfg.Timeout = openai.Headers{"X-Secret": "hush-hush-hush"}, time.Minute
	if _, err := complete(t, cfg); err == nil || !strings.HasSuffix(err.Error(), "bad header [secret]") {
		t.Errorf("got %v", err)
	}
}

func TestNoKeyHint(t *testing.T) {
	cfg := serve(t, refused(401, `{"error":{"message":"who are you?"}}`)).config()
	cfg.KeyEnv = ""
	if _, err := complete(t, cfg); !errors.Is(err, model.ErrUnavailable) || !strings.HasSuffix(err.Error(), "who are you?; no key was sent: name the variable that holds it") {
		t.Errorf("got %v", err)
	}
}
