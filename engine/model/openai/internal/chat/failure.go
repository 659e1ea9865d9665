package chat

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/flowtui/flowtui/engine/model"
)

// Failure is an error that does not yet say which model it is about.
type Failure struct {
	Class error  // model.ErrUnavailable or model.ErrRejected
	What  string // what the endpoint did, as the rest of a sentence
	Said  string // what the endpoint or the network says about it, not scrubbed
	Hint  string // what to do next
}

func (f *Failure) Error() string { return f.What }

// Unavailable is a failure of the class [model.ErrUnavailable].
func Unavailable(format string, args ...any) *Failure {
	return &Failure{Class: model.ErrUnavailable, What: fmt.Sprintf(format, args...)}
}

// Rejected is a failure of the class [model.ErrRejected].
func Rejected(format string, args ...any) *Failure {
	return &Failure{Class: model.ErrRejected, What: fmt.Sprintf(format, args...)}
}

// Saying adds what the endpoint or the network says about it.
func (f *Failure) Saying(said string) *Failure  { f.Said = said; return f }
func (f *Failure) hinting(hint string) *Failure { f.Hint = hint; return f }

// TimedOut is the failure when no good answer came in time.
func (a *Answer) TimedOut(limit time.Duration) *Failure {
	f := Unavailable("had no answer within %s (%s)", limit, a.tries())
	if a.Status >= 400 {
		f.What = fmt.Sprintf("was not available within %s (%s), at last %s", limit, a.tries(), statusText(a.Status))
		f.Said = a.said().text
	}
	return f
}

// Unreachable is the failure when the last attempt had no answer.
func (a *Answer) Unreachable(err error) *Failure {
	f := Unavailable("cannot be reached (%s)", a.tries()).hinting("check the base URL and that the endpoint runs")
	if err == nil {
		return f
	}
	var outer *url.Error
	if errors.As(err, &outer) { // without the address, which is said already
		err = outer.Err
	}
	return f.Saying(err.Error())
}

func (a *Answer) tries() string {
	if a.Attempts == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", a.Attempts)
}

func statusText(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprintf("%d %s", code, text)
	}
	return fmt.Sprint(code)
}

const checkBase = "check the base URL: it mostly ends in /v1"

// refusal is the error behind a status other than success.
func (a *Answer) refusal(status int, said said, keyHint string) *Failure {
	f := Unavailable("answered %s", statusText(status)).Saying(said.text)
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return f.hinting(keyHint)
	case status == http.StatusPaymentRequired:
		return f.hinting("check the account's credit")
	case status < 400:
		return f.hinting("check the base URL: the endpoint is elsewhere")
	case (status == http.StatusNotFound || status == http.StatusMethodNotAllowed) && !said.inProtocol:
		return f.hinting(checkBase)
	case status == http.StatusProxyAuthRequired:
		return f.hinting("check the proxy's user and password")
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status == http.StatusTooManyRequests, status >= 500:
		f.What += " (" + a.tries() + ")"
		return f
	}
	f.Class = model.ErrRejected
	return f
}
