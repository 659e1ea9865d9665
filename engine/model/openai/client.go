package openai

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	lib "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/model/openai/internal/chat"
)

// Client is a [model.Model] behind a chat-completions endpoint.
type Client struct {
	name, base string
	params     lib.ChatCompletionNewParams // what all requests share
	service    lib.ChatCompletionService
	timeout    time.Duration
	keyHint    string // where the key comes from
	// Functions, since these know secrets: printing a Client shows none.
	key   func() (string, error)
	scrub func(text, key string) string
}

// New returns a client. It sends nothing, but wants the key to be there.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	if _, err := cfg.readKey(); err != nil {
		return nil, err
	}
	// Not lib.NewClient: that takes keys, headers and addresses from OPENAI_*
	// variables, and would send OpenAI's key to whoever is called here.
	opts := []option.RequestOption{
		option.WithBaseURL(cfg.BaseURL),
		option.WithHTTPClient(cfg.HTTPClient),
		option.WithMaxRetries(cfg.Retries),
	}
	if cfg.MaxBackoff > 0 {
		opts = append(opts, option.WithMaxRetryDelay(cfg.MaxBackoff))
	}
	for name, value := range cfg.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	return &Client{
		name: cfg.Model, base: cfg.BaseURL, params: cfg.params(), timeout: cfg.Timeout,
		service: lib.NewChatCompletionService(opts...), key: cfg.readKey, scrub: cfg.Headers.scrub, keyHint: cfg.keyHint(),
	}, nil
}

func (c Config) params() lib.ChatCompletionNewParams {
	p := lib.ChatCompletionNewParams{Model: c.Model}
	if c.Temperature != nil {
		p.Temperature = lib.Float(*c.Temperature)
	}
	if c.MaxTokens > 0 {
		// OpenAI's newer models refuse the old name; most others know no other.
		if u, err := url.Parse(c.BaseURL); err == nil && strings.HasSuffix("."+u.Hostname(), ".api.openai.com") {
			p.MaxCompletionTokens = lib.Int(c.MaxTokens)
		} else {
			p.MaxTokens = lib.Int(c.MaxTokens)
		}
	}
	return p
}

func (c Config) keyHint() string {
	switch {
	case c.KeyEnv != "":
		return "check the key in " + c.KeyEnv
	case c.Key != nil:
		return "check the key"
	}
	return "no key was sent: name the variable that holds it"
}

// Format prints which model it is, whatever the verb.
func (c Client) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "model %s at %s", c.name, c.base) }

// Complete sends the conversation and returns the reply. What may pass is tried
// again first, see [Config]. When ctx ends it returns at once with its error.
func (c *Client) Complete(ctx context.Context, req model.Request) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return model.Reply{}, c.ended(err)
	}
	params, err := addRequest(c.params, req)
	if err != nil {
		return model.Reply{}, fmt.Errorf("%w: %v: %w", model.ErrRejected, c, err)
	}
	key, err := c.key()
	if err != nil {
		return model.Reply{}, fmt.Errorf("%w: %w", model.ErrUnavailable, err)
	}
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	x := &exchange{}
	var body []byte // of no use: x keeps it
	opts := []option.RequestOption{option.WithMiddleware(x.send), option.WithResponseBodyInto(&body)}
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	_, err = c.service.New(limited, params, opts...)
	switch {
	case err != nil && ctx.Err() != nil:
		return model.Reply{}, c.ended(ctx.Err())
	case err != nil && limited.Err() != nil:
		err = x.last.TimedOut(c.timeout)
	case x.last.Attempts == 0:
		err = chat.Rejected("cannot be sent the request").Saying(fmt.Sprint(err))
	case x.last.Status == 0:
		err = x.last.Unreachable(err)
	default:
		var reply model.Reply
		if reply, err = x.last.Reply(c.keyHint); err == nil {
			return reply, nil
		}
	}
	return model.Reply{}, c.failed(err, key)
}

func (c *Client) ended(err error) error { return fmt.Errorf("%v: %w", c, err) }

// failed tells who failed. Only the class of the error stays in the chain: what
// the library's errors hold has the key in it.
func (c *Client) failed(err error, key string) error {
	var f *chat.Failure
	if !errors.As(err, &f) {
		f = chat.Unavailable("failed").Saying(err.Error())
	}
	msg := f.What
	if f.Said != "" {
		msg += ": " + c.scrub(f.Said, key)
	}
	if f.Hint != "" {
		msg += "; " + f.Hint
	}
	return fmt.Errorf("%w: %v %s", f.Class, c, msg)
}
