package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/model/provider"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestOpenNamesTheModel(t *testing.T) {
	keys := map[string]string{"OPENAI_API_KEY": "k1", "OPENROUTER_API_KEY": "k2", "OLLAMA_HOST": "gpu"}
	for name, want := range map[string]string{
		"openai/gpt-5":    "model gpt-5 at https://api.openai.com/v1",
		"openrouter/a/b":  "model a/b at https://openrouter.ai/api/v1",
		"ollama/llama3.2": "model llama3.2 at http://gpu:11434/v1",
	} {
		spec, err := model.ParseName(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := provider.Open(spec, env(keys))
		if err != nil || fmt.Sprint(m) != want {
			t.Errorf("%s: got %v, %v", name, m, err)
		}
	}
}

func TestOpenScripted(t *testing.T) {
	m, err := provider.Open(model.Spec{Provider: "scripted", Replies: []model.Message{{Content: "hi"}}}, env(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Complete(t.Context(), model.Request{}); err != nil || got.Message.Content != "hi" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestOpenErrors(t *testing.T) {
	for want, spec := range map[string]model.Spec{
		"set the environment variable OPENAI_API_KEY":     {Provider: "openai", Model: "m"},
		"set the environment variable OPENROUTER_API_KEY": {Provider: "openrouter", Model: "m"},
		"set the environment variable MY_KEY":             {Provider: "ollama", Model: "m", KeyEnv: "MY_KEY"},
		"a scripted model needs replies":                  {Provider: "scripted"},
		"the port of OLLAMA_HOST":                         {Provider: "ollama", Model: "m"},
	} {
		m, err := provider.Open(spec, env(map[string]string{"OLLAMA_HOST": "gpu:x"}))
		if spec.KeyEnv != "" {
			m, err = provider.Open(spec, env(nil))
		}
		if err == nil || !strings.Contains(err.Error(), want) || m != nil {
			t.Errorf("got %v, %v, want %s", m, err, want)
		}
	}
}

// A flow file that names another address must not carry off the provider's key.
func TestKeysGoToTheirOwnAddress(t *testing.T) {
	var auth, body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var b json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&b)
		auth, body = r.Header.Get("Authorization"), string(b)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`)
	}))
	defer s.Close()
	keys := env(map[string]string{"OPENAI_API_KEY": "k1", "OPENROUTER_API_KEY": "k2", "MY_KEY": "k3"})
	for _, c := range []struct{ provider, keyEnv, want string }{
		{"openai", "", ""}, {"openrouter", "", ""}, {"ollama", "", ""},
		{"openai", "MY_KEY", "Bearer k3"}, {"openai", "OPENAI_API_KEY", "Bearer k1"}, {"ollama", "MY_KEY", "Bearer k3"},
	} {
		half := 0.5
		m, err := provider.Open(model.Spec{Provider: c.provider, Model: "m", BaseURL: s.URL + "/v1", KeyEnv: c.keyEnv, Temperature: &half, MaxTokens: 9}, keys)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Complete(t.Context(), model.Request{}); err != nil {
			t.Fatal(err)
		}
		if auth != c.want || !strings.Contains(body, `"temperature":0.5`) || !strings.Contains(body, `"max_tokens":9`) {
			t.Errorf("%+v: Authorization %q, body %s", c, auth, body)
		}
	}
	if _, err := provider.Open(model.Spec{Provider: "openai", Model: "m", BaseURL: "https://api.openai.com/v1/"}, env(nil)); err == nil {
		t.Error("the provider's own address, written out, needs no key")
	}
}
