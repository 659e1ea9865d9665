package main

import (
	"errors"
	"testing"

	"github.com/flowtui/flowtui/viewer"
)

func TestQueryWords(t *testing.T) {
	q, err := parseQuery("  order is:paused  flow:tickets owner:alice is:recovered 7 id:a:b ")
	if err != nil {
		t.Fatal(err)
	}
	if q.text != "order 7 a:b" || q.flow != "tickets" || q.owner != "alice" || len(q.is) != 2 {
		t.Errorf("got %+v", q)
	}
	for _, text := range []string{"is:nonsense", "is:", "colour:red", "flow:a flow:b", "owner:a owner:a", "a:b"} {
		_, err := parseQuery(text)
		if p, ok := errors.AsType[viewer.Problem](err); !ok || p.Code != "usage" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestQueryMatches(t *testing.T) {
	row := viewer.Row{Flow: "tickets", Status: "running", Badges: []viewer.Badge{viewer.InDoubt, viewer.Recovered}}
	for text, want := range map[string]bool{
		"": true, "is:running": true, "is:in-doubt": true, "is:in-doubt is:recovered": true, "is:done": false,
		"flow:tickets": true, "flow:ticket": false, "is:in-doubt flow:x": false,
	} {
		q, err := parseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if q.matches(row) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
