package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowtui/flowtui/engine/model"
)

// Answer is what the last attempt of an exchange brought.
type Answer struct {
	Attempts int
	Status   int // 0: no answer
	Media    string
	Body     []byte
	Limit    int // above 0: the body had more bytes than this and was dropped
}

// A reply is decoded here and not by the client's library, which takes a value of a
// wrong type for a missing one: a call would be lost without a word.
type wireReply struct {
	Choices []wireChoice    `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type wireChoice struct {
	Message      *wireMessage    `json:"message"`
	FinishReason string          `json:"finish_reason"`
	Error        json.RawMessage `json:"error"`
}

type wireMessage struct {
	Content   string     `json:"content"`
	Refusal   string     `json:"refusal"`
	ToolCalls []wireCall `json:"tool_calls"`
}

type wireCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// Reply reads the answer. Its errors are of the type [*Failure]; one about the key
// says keyHint.
func (a *Answer) Reply(keyHint string) (model.Reply, error) {
	switch {
	case a.Status < 200 || a.Status > 299:
		return model.Reply{}, a.refusal(a.Status, a.said(), keyHint)
	case a.Limit > 0:
		return model.Reply{}, Unavailable("answered with more than %d MiB", a.Limit>>20).hinting("check the base URL, or limit the tokens of a reply")
	case a.isPage():
		return model.Reply{}, Unavailable("answered with a web page instead of JSON").hinting(checkBase)
	case len(bytes.TrimSpace(a.Body)) == 0:
		return model.Reply{}, Unavailable("answered %s with an empty body", statusText(a.Status)).hinting(checkBase)
	}
	var w wireReply
	if err := json.Unmarshal(a.Body, &w); err != nil {
		return model.Reply{}, unreadable(err, a.Body)
	}
	if present(w.Error) { // some endpoints say 200 before they know
		return model.Reply{}, a.lateError(w.Error, keyHint)
	}
	if len(w.Choices) == 0 || w.Choices[0].Message == nil {
		return model.Reply{}, Unavailable("answered without a message: no choices").Saying(string(a.Body))
	}
	c := w.Choices[0]
	if present(c.Error) {
		return model.Reply{}, a.lateError(c.Error, keyHint)
	}
	if err := c.finished(); err != nil {
		return model.Reply{}, err
	}
	calls, err := c.Message.calls()
	if err != nil {
		return model.Reply{}, err
	}
	msg := model.Message{Role: model.Assistant, Content: c.Message.Content, ToolCalls: calls}
	return model.Reply{Message: msg, Usage: usage(w.Usage)}, nil
}

// finished refuses what is not a whole reply.
func (c wireChoice) finished() error {
	switch c.FinishReason {
	case "length":
		return Rejected("cut its reply off at the limit of tokens (finish reason length)").hinting("allow more tokens or shorten the conversation")
	case "content_filter":
		return Rejected("withheld its reply: a content filter stopped it (finish reason content_filter)")
	case "error":
		return Unavailable("broke its reply off (finish reason error)")
	case "function_call":
		return Unavailable("answered with a call in the retired form function_call").hinting("use an endpoint that knows tool calls")
	case "tool_calls":
		if len(c.Message.ToolCalls) == 0 {
			return Unavailable("says that it calls tools and names none")
		}
	}
	if c.Message.Refusal != "" {
		return Rejected("refused to answer").Saying(c.Message.Refusal)
	}
	return nil
}

func (m wireMessage) calls() ([]model.ToolCall, error) {
	var calls []model.ToolCall
	for i, c := range m.ToolCalls {
		switch {
		case c.Type != "" && c.Type != "function":
			return nil, Unavailable("made a tool call of a type that it was not offered (call %d)", i+1).Saying(c.Type)
		case c.Function.Name == "":
			return nil, Unavailable("made a tool call without a name (call %d)", i+1)
		}
		calls = append(calls, model.ToolCall{ID: c.ID, Name: c.Function.Name, Args: args(c.Function.Arguments)})
	}
	model.NumberCalls(calls)
	return calls, nil
}

// args reads the arguments as they are on the wire: a JSON string with the
// model's text, or the arguments themselves from endpoints that parse them.
func args(raw json.RawMessage) json.RawMessage {
	if !present(raw) {
		return model.ParseArgs("")
	}
	if raw[0] != '"' {
		return model.ParseArgs(string(raw))
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return model.QuoteArgs(string(raw))
	}
	if !utf8.Valid(raw) || model.HasLoneSurrogate(string(raw)) {
		return model.QuoteArgs(text) // no longer what the model wrote
	}
	return model.ParseArgs(text)
}

// usage is a by-product: what cannot be read counts as not told.
func usage(raw json.RawMessage) model.Usage {
	var u struct {
		Input  int64 `json:"prompt_tokens"`
		Output int64 `json:"completion_tokens"`
	}
	if err := json.Unmarshal(raw, &u); err != nil {
		return model.Usage{}
	}
	return model.Usage{Input: u.Input, Output: u.Output}
}

func unreadable(err error, body []byte) *Failure {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return Unavailable("answered with JSON that is no chat completion: %s has the type %s", wrong.Field, wrong.Value).hinting(checkBase)
	}
	return Unavailable("answered with broken JSON").Saying(string(body)).hinting(checkBase)
}

// lateError is an error that came with a success status.
func (a *Answer) lateError(raw json.RawMessage, keyHint string) *Failure {
	s := saidIn(raw)
	if s.code >= 400 && s.code <= 599 {
		return a.refusal(s.code, s, keyHint)
	}
	return Unavailable("answered with an error").Saying(s.text)
}

// said is what an endpoint says about an error.
type said struct {
	text       string
	code       int
	inProtocol bool // as an error object, so it is the endpoint that spoke
}

func (a *Answer) said() said {
	if a.isPage() {
		return said{}
	}
	var w struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
	}
	if err := json.Unmarshal(a.Body, &w); err == nil && present(w.Error) {
		return saidIn(w.Error)
	} else if err == nil && present(w.Message) {
		return saidIn(a.Body)
	}
	return said{text: string(a.Body)}
}

// saidIn reads an error object, or a string in its place.
func saidIn(raw json.RawMessage) said {
	var e struct {
		Message string          `json:"message"`
		Code    json.RawMessage `json:"code"`
	}
	s := said{inProtocol: true}
	if json.Unmarshal(raw, &s.text) == nil {
		return s
	}
	if json.Unmarshal(raw, &e) != nil || e.Message == "" {
		s.text = string(raw)
	} else {
		s.text = e.Message
	}
	s.code, _ = strconv.Atoi(strings.Trim(string(e.Code), `"`))
	return s
}

func (a *Answer) isPage() bool {
	return a.Media == "text/html" || bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
