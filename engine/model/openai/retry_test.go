package openai_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/model/openai"
)

const tooMany = `{"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}`

func refused(status int, body string) answer { return answer{status: status, body: body} }

func TestRetriesUntilSuccess(t *testing.T) {
	at0 := map[string]string{"Retry-After": "0"}
	for name, first := range map[string]answer{
		"rate limit":      {status: 429, header: at0, body: tooMany},
		"server error":    refused(500, `{"error":{"message":"oops"}}`),
		"overloaded":      refused(503, "<html>busy</html>"),
		"cut body":        {body: ok.body[:50], cut: true},
		"cut before text": {cut: true},
	} {
		e := serve(t, first, first, ok)
		got, err := complete(t, e.config())
		if err != nil || got.Message.Content != "hi" {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
		rs := e.requests()
		if len(rs) != 3 {
			t.Errorf("%s: %d requests", name, len(rs))
			continue
		}
		if rs[0].body == "" || rs[1].body != rs[0].body || rs[2].body != rs[0].body || rs[2].header.Get("Authorization") != "Bearer "+secret {
			t.Errorf("%s: another request was sent again: %+v", name, rs)
		}
	}
}

func TestRefusals(t *testing.T) {
	page := map[string]string{"Content-Type": "text/html"}
	json := func(msg string) string {
		return `{"error":{"message":"` + msg + `","type":"x","param":null,"code":null}}`
	}
	for name, c := range map[string]struct {
		answer answer
		class  error
		tries  int
		says   string
	}{
		"rate limit for ever":   {refused(429, tooMany), model.ErrUnavailable, 3, "answered 429 Too Many Requests (3 attempts): Rate limit reached"},
		"server error for ever": {refused(500, json("oops")), model.ErrUnavailable, 3, "500 Internal Server Error (3 attempts): oops"},
		"bad gateway":           {answer{status: 502, header: page, body: "<html>nginx</html>"}, model.ErrUnavailable, 3, "502 Bad Gateway (3 attempts)"},
		"overloaded":            {refused(529, json("Overloaded")), model.ErrUnavailable, 3, "529 (3 attempts): Overloaded"},
		"time-out there":        {refused(408, json("slow")), model.ErrUnavailable, 3, "408 Request Timeout (3 attempts): slow"},
		"cut for ever":          {answer{body: "{", cut: true}, model.ErrUnavailable, 3, "cannot be reached (3 attempts): the reply broke off: unexpected EOF"},
		"wrong key":             {refused(401, json("Incorrect API key provided: "+secret)), model.ErrUnavailable, 1, "401 Unauthorized: Incorrect API key provided: [secret]; check the key in TEST_KEY"},
		"forbidden":             {refused(403, json("not here")), model.ErrUnavailable, 1, "403 Forbidden: not here; check the key in TEST_KEY"},
		"cut 401":               {answer{status: 401, body: `{"err`, cut: true}, model.ErrUnavailable, 1, "check the key in TEST_KEY"},
		"no credit":             {refused(402, json("Insufficient credits")), model.ErrUnavailable, 1, "Insufficient credits; check the account's credit"},
		"bad request":           {refused(400, json("maximum context length is 8192 tokens")), model.ErrRejected, 1, "400 Bad Request: maximum context length is 8192 tokens"},
		"bad request in text":   {refused(400, "no such field"), model.ErrRejected, 1, "400 Bad Request: no such field"},
		"unknown model":         {refused(404, json("model 'x' not found")), model.ErrRejected, 1, "404 Not Found: model 'x' not found"},
		"unknown model, flat":   {refused(404, `{"object":"error","message":"The model x does not exist.","code":404}`), model.ErrRejected, 1, "404 Not Found: The model x does not exist."},
		"wrong path":            {refused(404, "404 page not found"), model.ErrUnavailable, 1, "404 Not Found: 404 page not found; check the base URL"},
		"wrong path, page":      {answer{status: 404, header: page, body: "<html>"}, model.ErrUnavailable, 1, "404 Not Found; check the base URL"},
		"wrong path, detail":    {refused(404, `{"detail":"Not Found"}`), model.ErrUnavailable, 1, `{"detail":"Not Found"}; check the base URL`},
		"too large":             {answer{status: 413, header: page, body: "<html>"}, model.ErrRejected, 1, "413 Request Entity Too Large"},
		"unprocessable":         {refused(422, `{"error":"bad tools"}`), model.ErrRejected, 1, "422 Unprocessable Entity: bad tools"},
		"moved":                 {answer{status: 301, header: map[string]string{"Location": "https://elsewhere.example/"}}, model.ErrUnavailable, 1, "301 Moved Permanently; check the base URL: the endpoint is elsewhere"},
		"escape sequences":      {refused(400, json(`a\u001b[2J\n\u202eb`)), model.ErrRejected, 1, "400 Bad Request: a [2J b"},
		"long story":            {refused(400, json(strings.Repeat("x", 9999))), model.ErrRejected, 1, "xxx…"},
	} {
		e := serve(t, c.answer)
		_, err := complete(t, e.config())
		if !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 1000 {
			t.Errorf("%s: got %v\nwant %v: … %s", name, err, c.class, c.says)
		}
		if n := len(e.requests()); n != c.tries {
			t.Errorf("%s: %d requests, want %d", name, n, c.tries)
		}
	}
}

func TestNumberOfRetries(t *testing.T) {
	for retries, want := range map[int]int{-1: 1, 0: 3, 1: 2, 4: 5} {
		e := serve(t, refused(500, ""))
		cfg := e.config()
		cfg.Retries = retries
		if _, err := complete(t, cfg); !errors.Is(err, model.ErrUnavailable) || len(e.requests()) != want {
			t.Errorf("Retries %d: %d requests, %v", retries, len(e.requests()), err)
		}
	}
}

func TestConnectionRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := serve(t, ok).config()
	cfg.BaseURL = "http://" + l.Addr().String() + "/v1"
	_ = l.Close()
	_, err = complete(t, cfg)
	if !errors.Is(err, model.ErrUnavailable) || !strings.Contains(err.Error(), "cannot be reached (3 attempts): dial tcp") {
		t.Errorf("got %v", err)
	}
}

func TestNoAnswerInTime(t *testing.T) {
	e := serve(t, answer{hang: true})
	cfg := e.config()
	cfg.Timeout = 5 * time.Millisecond
	_, err := complete(t, cfg)
	if !errors.Is(err, model.ErrUnavailable) || !strings.Contains(err.Error(), "had no answer within 5ms") {
		t.Errorf("got %v", err)
	}
}

func TestCancelOfACallThatHangs(t *testing.T) {
	e := serve(t, answer{hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	cfg := e.config()
	cfg.HTTPClient = &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		cancel()
		return http.DefaultTransport.RoundTrip(req)
	})}
	_, err := newClient(t, cfg).Complete(ctx, hello)
	if !errors.Is(err, context.Canceled) || errors.Is(err, model.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if _, err := newClient(t, cfg).Complete(ctx, hello); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: got %v", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// waiting answers 429 with a Retry-After for ever. It needs no network, so
// that its waits pass on the clock of a test bubble.
func waiting(retryAfter string, tries *int) openai.Config {
	return openai.Config{
		Model: "test-model", BaseURL: "http://endpoint.example/v1",
		HTTPClient: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			*tries++
			return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {retryAfter}}, Body: io.NopCloser(strings.NewReader(tooMany))}, nil
		})},
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	for _, c := range []struct {
		after    string
		max      time.Duration
		waited   time.Duration
		attempts int
	}{
		{"7", 0, 14 * time.Second, 3},
		{"7", 7 * time.Second, 14 * time.Second, 3},
		{"8", 7 * time.Second, 0, 1}, // asked too soon it would only refuse again
		{"3600", 0, 0, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			tries, start := 0, time.Now()
			cfg := waiting(c.after, &tries)
			cfg.MaxBackoff = c.max
			_, err := newClient(t, cfg).Complete(t.Context(), hello)
			if waited := time.Since(start); !errors.Is(err, model.ErrUnavailable) || waited != c.waited || tries != c.attempts {
				t.Errorf("Retry-After %s, at most %s: waited %s in %d attempts: %v", c.after, c.max, waited, tries, err)
			}
		})
	}
}

func TestTimeoutEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		cfg := waiting("60", &tries)
		cfg.Timeout = 90 * time.Second
		start := time.Now()
		_, err := newClient(t, cfg).Complete(t.Context(), hello)
		want := "was not available within 1m30s (2 attempts), at last 429 Too Many Requests: Rate limit reached"
		if !errors.Is(err, model.ErrUnavailable) || !strings.Contains(err.Error(), want) || time.Since(start) != cfg.Timeout {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

func TestContextEndsTheWait(t *testing.T) {
	for name, c := range map[string]struct {
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		"cancel": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, context.Canceled},
		"deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, context.DeadlineExceeded},
	} {
		synctest.Test(t, func(t *testing.T) {
			tries, start := 0, time.Now()
			ctx, cancel := c.ctx(t.Context())
			defer cancel()
			_, err := newClient(t, waiting("60", &tries)).Complete(ctx, hello)
			if !errors.Is(err, c.want) || errors.Is(err, model.ErrUnavailable) || tries != 1 || time.Since(start) != time.Second {
				t.Errorf("%s: got %v after %s, %d attempts", name, err, time.Since(start), tries)
			}
		})
	}
}
