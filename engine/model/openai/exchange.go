package openai

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/openai/openai-go/v3/option"

	"github.com/flowtui/flowtui/engine/model/openai/internal/chat"
)

// maxBody is the largest reply that is read.
const maxBody = 16 << 20

// exchange watches the attempts of one Complete.
type exchange struct{ last chat.Answer }

// send is one attempt. It reads the whole body, so that a body which breaks off
// counts as a broken connection and is tried again.
func (x *exchange) send(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	x.last = chat.Answer{Attempts: x.last.Attempts + 1}
	res, err := next(req)
	if err != nil {
		return res, err
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	_ = res.Body.Close()
	if err != nil && res.StatusCode < 400 { // else the status says enough
		return nil, fmt.Errorf("the reply broke off: %w", err)
	}
	if len(body) > maxBody {
		body, x.last.Limit = nil, maxBody
	}
	x.last.Status, x.last.Body = res.StatusCode, body
	x.last.Media, _, _ = mime.ParseMediaType(res.Header.Get("Content-Type"))
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}
