package viewer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSecrecyOfKeys(t *testing.T) {
	for _, k := range []string{
		"password", "Passwd", "secret", "token", "api_key", "apiKey", "API-KEY", "X-Api-Key", "apikey", "authorization", "auth", "Cookie",
		"private_key", "access_key", "client_secret", "card", "card_number", "cardNumber", "pan", "cvv", "iban", "ssn", "session",
		"db_password", "userToken", "dbpassword", "AWS_SECRET_ACCESS_KEY", "session_id", "accesstoken", "PGPASSWORD",
	} {
		if secrecyOf(k) != secret {
			t.Errorf("%q is not secret", k)
		}
	}
	if secrecyOf("tokens") != secretText {
		t.Error("tokens")
	}
	for _, k := range []string{"token_count", "tokenCount", "author", "key", "keyboard", "company", "panel", "discard", "sessions_total", "state", "amount", "order", "note", "expand", "password_required"} {
		if secrecyOf(k) != public {
			t.Errorf("%q is secret", k)
		}
	}
}

var secretTexts = []string{
	"-----BEGIN RSA PRIVATE KEY-----\nMIICXgCANARYIBAAKB\n-----END RSA PRIVATE KEY-----",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJDQU5BUlkifQ.CANARYsignature",
	"AKIACANARY7EXAMPLE12",
	"ghp_CANARY0123456789abcdefghijkl",
	"github_pat_CANARY0123456789_abcdef",
	"sk-proj-CANARY0123456789abcdef",
	"xoxb-123456-CANARY0123",
	"Bearer CANARY.token-123",
	"Basic CANARYdXNlcjpwYXNz=",
	"postgres://app:CANARYpw1@db.example/app",
	"redis://:CANARYpw1@localhost:6379/0",
	"password=CANARYhunter2",
	`{"password":"CANARYhunter2 and more"}`,
	`{\"apiKey\":\"CANARYhunter2\"}`,
	"Authorization: Digest CANARY",
	"host=db user=app password='CANARY x'",
	"https://x.example/cb?access_token=CANARY1&b=2",
	"Set-Cookie: sid=CANARY; Path=/",
}

func TestMaskText(t *testing.T) {
	for _, s := range secretTexts {
		for _, in := range []string{s, "before " + s + " after", "(" + s + ")", "ünï\x1b" + " " + s} {
			got, changed := maskText(in)
			if !changed || strings.Contains(got, "CANARY") {
				t.Errorf("%q -> %q", in, got)
			}
			if again, changed := maskText(got); changed && again != got {
				t.Errorf("masked twice: %q -> %q", got, again)
			}
		}
	}
	for in, want := range map[string]string{
		"card 4242 4242 4242 4242, ok":                 "card ••••4242, ok",
		"card 4242-4242-4242-4242":                     "card ••••4242",
		"378282246310005":                              "••••0005",
		"at 1767322985678 ms":                          "at 1767322985678 ms",
		"4242424242424241":                             "4242424242424241",
		"id a4242424242424242":                         "id a4242424242424242",
		"session: started at 3, auth: ok":              "session: started at 3, auth: ok",
		"the task-list of risk-takers-and-more-people": "the task-list of risk-takers-and-more-people",
		"Bearer of bad news":                           "Bearer of bad news",
		"https://example.com:8080/@user/x":             "https://example.com:8080/@user/x",
		"token=••••":                                   "token=••••",
		"charged ch_81, held A4":                       "charged ch_81, held A4",
		"password=true":                                "password=true",
	} {
		if got, _ := maskText(in); got != want {
			t.Errorf("%q -> %q, want %q", in, got, want)
		}
	}
}

func TestMaskJSONKeepsTheRest(t *testing.T) {
	in := `{ "b":1.0, "a" : 1e2,"big":9007199254740993,"password" : "x\n", "n":-0.0,"list":[{"token":12},"\u00e9<&>"],
  "tokens": 512, "token_count": 9, "cvv": 123, "auth": true, "session": null, "secret": "", "card": {"number":"4242424242424242","x":[1]}, "z":4242424242424242}`
	want := `{ "b":1.0, "a" : 1e2,"big":9007199254740993,"password" : "••••", "n":-0.0,"list":[{"token":"••••"},"\u00e9<&>"],
  "tokens": 512, "token_count": 9, "cvv": "••••", "auth": true, "session": null, "secret": "", "card": {"number":"••••4242","x":["••••"]}, "z":4242424242424242}`
	m := maskJSON([]byte(in))
	if string(m.JSON) != want || m.Count() != 5 {
		t.Errorf("%d masked:\n%s\nwant\n%s", m.Count(), m.JSON, want)
	}
	if again := maskJSON(m.JSON); string(again.JSON) != want || again.Count() != 0 {
		t.Errorf("masked twice: %d, %s", again.Count(), again.JSON)
	}
}

func FuzzMask(f *testing.F) {
	for i := range secretTexts {
		f.Add(`{"a":[1.50,"x"]}`, uint8(i), uint8(2), "note")
	}
	f.Fuzz(func(t *testing.T, rest string, which, depth uint8, k string) {
		s := secretTexts[int(which)%len(secretTexts)]
		if !utf8.ValidString(k) {
			k = "k"
		}
		var v any = map[string]any{k: "say " + s + " .", "db_password": "CANARY", "userToken": []any{"CANARY", 5}, s: 1}
		for range depth % 40 {
			v = []any{map[string]any{"in": v}}
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return
		}
		if json.Valid([]byte(rest)) && !strings.Contains(rest, "CANARY") && !strings.Contains(rest, `\`) {
			raw = fmt.Appendf(nil, `[%s, %s]`, rest, raw)
		}
		m := maskJSON(raw)
		if !json.Valid(m.JSON) {
			t.Fatalf("not JSON: %s", m.JSON)
		}
		if strings.Contains(k, "CANARY") {
			return
		}
		text, _ := json.Marshal(json.RawMessage(m.JSON))
		if bytes.Contains(text, []byte("CANARY")) {
			t.Fatalf("a secret is left: %s", text)
		}
		lines, _ := linesOf(m, reviewing)
		for _, l := range lines {
			if strings.Contains(l.Text+l.Key+l.Path, "CANARY") {
				t.Fatalf("a secret is left in line %+v", l)
			}
		}
		if n := len(scrubJSON(m.JSON)); n == 0 || !json.Valid(scrubJSON(m.JSON)) {
			t.Fatal("scrubbed JSON is no JSON")
		}
	})
}

func FuzzMaskAnything(f *testing.F) {
	f.Add([]byte(`{"a":"\ud800","b":[`))
	f.Add([]byte(`"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) == 0 {
			return
		}
		m := maskJSON(raw)
		if !json.Valid(m.JSON) || !json.Valid(scrubJSON(m.JSON)) {
			t.Fatalf("not JSON: %q", m.JSON)
		}
		linesOf(m, browsing)
		if json.Valid(raw) && m.Count() == 0 && !bytes.Equal(m.JSON, raw) {
			t.Fatal("changed without masking")
		}
	})
}
