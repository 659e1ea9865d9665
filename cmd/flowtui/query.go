package main

import (
	"slices"
	"strings"

	"github.com/flowtui/flowtui/viewer"
)

// query is what --query asks for: runs whose id contains the text and that have
// every badge or status, the flow and the owner.
type query struct {
	text  string
	is    []string
	flow  string
	owner string
}

// needsYou is the word of is: for the first tab.
const needsYou = string(viewer.TabNeedsYou)

// statusWords are the words of is: that are not badges.
var statusWords = []string{"unreadable", needsYou}

var badgeWords = []viewer.Badge{
	viewer.Recovered, viewer.Paused, viewer.InDoubt, viewer.Failed, viewer.Running,
	viewer.Stuck, viewer.Tampered, viewer.NoKey, viewer.Done,
}

// parseQuery reads words separated by blanks. Words without a colon are one
// text, literally; a text with a colon is written id:TEXT.
func parseQuery(text string) (query, error) {
	var q query
	var plain []string
	for _, word := range strings.Fields(text) {
		name, value, colon := strings.Cut(word, ":")
		switch {
		case !colon:
			plain = append(plain, word)
			continue
		case value == "":
			return q, usagef("query: %q has nothing after the colon", word)
		case name == "id":
			plain = append(plain, value)
		case name == "is" && isWord(value):
			q.is = append(q.is, value)
		case name == "is":
			return q, usagef("query: no run is %q; there are %s", value, strings.Join(isWords(), ", "))
		case name == "flow" && q.flow == "":
			q.flow = value
		case name == "owner" && q.owner == "":
			q.owner = value
		case name == "flow" || name == "owner":
			return q, usagef("query: %s: is there twice", name)
		default:
			return q, problem("usage", "a run id with a colon is found with id:"+word,
				"query: %q is not a word of the query language: is:, flow:, owner: and id: are", word)
		}
	}
	q.text = strings.Join(plain, " ")
	return q, nil
}

func isWords() []string {
	words := slices.Clone(statusWords)
	for _, b := range badgeWords {
		words = append(words, string(b))
	}
	slices.Sort(words)
	return words
}

func isWord(s string) bool { return slices.Contains(isWords(), s) }

// narrow reports whether rows have to be looked at one by one.
func (q query) narrow() bool { return len(q.is) > 0 || q.flow != "" }

// tab is the smallest tab that has every run that is asked for: a store finds
// its runs without looking at the others.
func (q query) tab() viewer.Tab {
	tabs := map[string]viewer.Tab{
		"done": viewer.TabDone, "failed": viewer.TabFailed, "paused": viewer.TabPaused, "running": viewer.TabRunning,
		"stuck": viewer.TabRunning, "in-doubt": viewer.TabInDoubt, needsYou: viewer.TabNeedsYou,
	}
	for _, w := range q.is {
		if t, ok := tabs[w]; ok {
			return t
		}
	}
	return viewer.TabAll
}

// mayMatch is matches for a row that is not verified yet.
func (q query) mayMatch(r viewer.Row) bool {
	q.is = slices.DeleteFunc(slices.Clone(q.is), func(w string) bool {
		return slices.Contains([]string{"unreadable", needsYou, string(viewer.Tampered), string(viewer.NoKey)}, w)
	})
	return q.matches(r)
}

// matches reports what the store cannot filter by itself.
func (q query) matches(r viewer.Row) bool {
	if q.flow != "" && r.Flow != q.flow {
		return false
	}
	for _, w := range q.is {
		if w == needsYou {
			if !r.NeedsYou() {
				return false
			}
			continue
		}
		if r.Status != w && !slices.Contains(r.Badges, viewer.Badge(w)) {
			return false
		}
	}
	return true
}
