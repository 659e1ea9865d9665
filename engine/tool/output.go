package tool

import "strings"

// head keeps the first bytes written to it and notes that more came. It takes
// everything: a program must not die half way because its answer is too long.
type head struct {
	limit    int
	data     []byte
	overflow bool
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.limit-len(h.data))
	h.data = append(h.data, p[:n]...)
	h.overflow = h.overflow || n < len(p)
	return len(p), nil
}

// tail keeps the last bytes written to it.
type tail struct {
	limit int
	data  []byte
	cut   bool
}

func (t *tail) Write(p []byte) (int, error) {
	n := len(p)
	t.cut = t.cut || len(t.data)+n > t.limit
	p = p[max(0, n-t.limit):]
	t.data = append(t.data[max(0, len(t.data)+len(p)-t.limit):], p...)
	return n, nil
}

// text is valid UTF-8, trimmed, and shows a cut by an ellipsis.
func (t *tail) text() string {
	s := strings.ToValidUTF8(string(t.data), "\uFFFD")
	if t.cut { // perhaps in the middle of a letter
		return "…" + strings.TrimSpace(strings.TrimLeft(s, "\uFFFD"))
	}
	return strings.TrimSpace(s)
}
