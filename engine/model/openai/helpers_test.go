package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/model/openai"
)

// secret is the key in all tests.
const secret = "sk-test-0123456789abcdef"

// answer is what the endpoint says to one request.
type answer struct {
	status int // 0: 200
	header map[string]string
	body   string
	cut    bool // the connection breaks before the end of the body
	hang   bool // no answer until the client is gone
}

// endpoint speaks the protocol from a list of answers, the last one again and again.
type endpoint struct {
	*httptest.Server
	answers []answer

	mu     sync.Mutex
	got    []request
	served chan struct{} // one for each answer that is out
}

type request struct {
	method, path string
	header       http.Header
	body         string
}

func serve(t *testing.T, answers ...answer) *endpoint {
	t.Helper()
	e := &endpoint{answers: answers, served: make(chan struct{}, 100)}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	a := e.answers[min(len(e.got), len(e.answers)-1)]
	e.got = append(e.got, request{r.Method, r.URL.Path, r.Header, string(body)})
	e.mu.Unlock()
	defer func() { e.served <- struct{}{} }()
	if a.hang {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "application/json")
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	if a.cut {
		w.Header().Set("Content-Length", fmt.Sprint(len(a.body)+1))
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = io.WriteString(w, a.body)
}

func (e *endpoint) requests() []request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.got
}

// config calls the endpoint, without waits between attempts.
func (e *endpoint) config() openai.Config {
	return openai.Config{
		Model: "test-model", BaseURL: e.URL + "/v1", MaxBackoff: time.Millisecond, KeyEnv: "TEST_KEY",
		Getenv: func(name string) string { return map[string]string{"TEST_KEY": secret}[name] },
	}
}

func newClient(t *testing.T, cfg openai.Config) *openai.Client {
	t.Helper()
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var hello = model.Request{Messages: []model.Message{{Role: model.User, Content: "hello"}}}

// complete asks for one reply and checks that no error shows the key.
func complete(t *testing.T, cfg openai.Config) (model.Reply, error) {
	t.Helper()
	reply, err := newClient(t, cfg).Complete(t.Context(), hello)
	keepsSecret(t, err)
	return reply, err
}

func keepsSecret(t *testing.T, values ...any) {
	t.Helper()
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, secret) {
				t.Errorf("%s prints the key: %s", verb, text)
			}
		}
	}
}

// message is a whole reply as the API reference shows it, around a message.
func message(msg string) string {
	return `{"id":"chatcmpl-1","object":"chat.completion","created":1741569952,"model":"test-model",` +
		`"choices":[{"index":0,"message":` + msg + `,"logprobs":null,"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":0}}}`
}

func finished(reason string) string {
	return strings.Replace(message(`{"role":"assistant","content":"half"}`), `"stop"`, `"`+reason+`"`, 1)
}

// toolCall is a reply with one call, whose arguments are raw JSON on the wire.
func toolCall(args string) string {
	return message(`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":` + args + `}}]}`)
}

func wire(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}
