package provider

import (
	"strings"

	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/model/openai"
)

// Open returns the model that a spec asks for. Variables are read by getenv;
// nil is os.Getenv.
//
// A provider's key goes to the provider's own address only. With another base
// URL no key is sent, unless the spec names its variable.
func Open(spec model.Spec, getenv func(string) string) (model.Model, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if spec.Provider == model.ProviderScripted {
		return model.NewScripted(spec.Replies...), nil
	}
	cfg, err := config(spec, getenv)
	if err != nil {
		return nil, err
	}
	client, err := openai.New(cfg)
	if err != nil {
		return nil, err // not a nil *Client in the interface
	}
	return client, nil
}

func config(spec model.Spec, getenv func(string) string) (openai.Config, error) {
	cfg, err := openai.Preset(spec.Provider, getenv)
	if err != nil {
		return openai.Config{}, err
	}
	if spec.BaseURL != "" && !sameAddress(spec.BaseURL, cfg.BaseURL) {
		cfg.BaseURL, cfg.KeyEnv = spec.BaseURL, ""
	}
	if spec.KeyEnv != "" {
		cfg.KeyEnv = spec.KeyEnv
	}
	cfg.Model, cfg.Timeout, cfg.Temperature, cfg.MaxTokens = spec.Model, spec.Timeout, spec.Temperature, spec.MaxTokens
	return cfg, nil
}

func sameAddress(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }
