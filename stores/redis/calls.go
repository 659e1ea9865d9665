package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores"
)

// number of a call record: its segment and its place in it.
type callNumber struct{ segment, n int64 }

func (c callNumber) field() string { return fmt.Sprintf("c%d.%d", c.segment, c.n) }

func parseCallNumber(s string) (c callNumber, ok bool) {
	segment, n, ok := strings.Cut(s, ".")
	var err1, err2 error
	c.segment, err1 = strconv.ParseInt(segment, 10, 64)
	c.n, err2 = strconv.ParseInt(n, 10, 64)
	return c, ok && err1 == nil && err2 == nil
}

// Calls implements stores.Store.
func (s *Store) Calls(ctx context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	calls, err := settled(ctx, s, k, func(c stores.Call) bool { return c.Bad != "" },
		func() ([]stores.Call, error) { return s.calls(ctx, k, max(0, since)) })
	return calls, s.wrap("calls", k, err)
}

func (s *Store) calls(ctx context.Context, k stores.Key, since int64) (calls []stores.Call, err error) {
	numbers, count, err := s.callNumbers(ctx, k, since)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(numbers, func(a, b callNumber) int { return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.n, b.n)) })
	numbers = slices.Compact(numbers)
	names := make([]string, len(numbers))
	for i, n := range numbers {
		names[i] = n.field()
	}
	bad := func(n callNumber, why string) {
		calls = append(calls, stores.Call{Place: stores.Place{Key: k}, Segment: n.segment, N: n.n, Bad: why})
	}
	err = s.fields(ctx, k, names, chunk, func(at int, v any) {
		n := numbers[at]
		text, ok := v.(string)
		if !ok {
			bad(n, "its row is gone")
		} else if c := decodeCall(k, n.segment, n.n, text); c.Step >= since || c.Bad != "" {
			calls = append(calls, c)
		}
	})
	// The rows may have been read after more were added.
	if missing := count - int64(len(numbers)); since == 0 && missing > 0 {
		bad(callNumber{}, fmt.Sprintf("%d of %d call records are gone", missing, count))
	}
	return calls, err
}

// window is how many supersteps' lists of call records are read at first.
const window = 32

// callNumbers finds the records of superstep since and later ones, and counts
// all of the run.
func (s *Store) callNumbers(ctx context.Context, k stores.Key, since int64) (numbers []callNumber, count int64, err error) {
	st, err := s.stand(ctx, k, append([]string{"calls", "callstep"}, lists(since, window)...)...)
	if err != nil || !st.exists || st.fields == nil {
		return nil, 0, err
	}
	count = number(st.fields[0])
	last := number(st.fields[1])
	collect := func(v any) {
		text, _ := v.(string)
		for word := range strings.FieldsSeq(text) {
			if n, ok := parseCallNumber(word); ok {
				numbers = append(numbers, n)
			}
		}
	}
	for _, v := range st.fields[2:] {
		collect(v)
	}
	if since > last {
		return numbers, count, nil
	}
	if last-since > 2*count+1000 { // the records' steps are no sequence
		numbers, err = s.everyCall(ctx, k)
		return numbers, count, err
	}
	if from := since + window; last >= from {
		err = s.fields(ctx, k, lists(from, last-from+1), chunk, func(_ int, v any) { collect(v) })
	}
	return numbers, count, err
}

// lists names the fields with the call records of supersteps.
func lists(from, count int64) []string {
	var names []string
	for step := range count {
		names = append(names, "k"+strconv.FormatInt(from+step, 10))
	}
	return names
}

// everyCall looks for call records among all fields of the run.
func (s *Store) everyCall(ctx context.Context, k stores.Key) (numbers []callNumber, err error) {
	names, err := s.names(ctx, k)
	for _, name := range names {
		if n, ok := parseCallNumber(strings.TrimPrefix(name, "c")); ok && name[0] == 'c' {
			numbers = append(numbers, n)
		}
	}
	return numbers, err
}

func (s *Store) names(ctx context.Context, k stores.Key) ([]string, error) {
	var names *client.StringSliceCmd
	_, err := s.read(ctx, strict, func(p client.Pipeliner) { names = p.HKeys(ctx, s.keys.run(k)) })
	if err != nil {
		return nil, err
	}
	return names.Val(), nil
}

// Events implements stores.EventLog.
func (s *Store) Events(ctx context.Context, k stores.Key, after int64, limit int) ([]stores.Event, error) {
	events, err := settled(ctx, s, k, func(e stores.Event) bool { return e.Bad != "" },
		func() ([]stores.Event, error) { return s.events(ctx, k, max(0, after), limit) })
	return events, s.wrap("events", k, err)
}

func (s *Store) events(ctx context.Context, k stores.Key, after int64, limit int) (events []stores.Event, err error) {
	if limit <= 0 {
		limit = defaultRows
	}
	st, err := s.stand(ctx, k, "events", "event")
	if err != nil || !st.exists || st.fields == nil {
		return nil, err
	}
	numbers, err := s.eventNumbers(ctx, k, number(st.fields[0]), number(st.fields[1]), after, limit)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(numbers))
	for i, n := range numbers {
		names[i] = "e" + strconv.FormatInt(n, 10)
	}
	err = s.fields(ctx, k, names, chunk, func(at int, v any) {
		if text, ok := v.(string); ok {
			events = append(events, decodeEvent(k, numbers[at], text))
		} else {
			events = append(events, stores.Event{Place: stores.Place{Key: k}, N: numbers[at], Bad: "its row is gone"})
		}
	})
	return events, err
}

// eventNumbers are 1, 2, … to the last one, unless a worker left some out: then
// they are looked for.
func (s *Store) eventNumbers(ctx context.Context, k stores.Key, count, last, after int64, limit int) (numbers []int64, err error) {
	if after >= last {
		return nil, nil
	}
	if count == last {
		for n := after + 1; n <= last && len(numbers) < limit; n++ {
			numbers = append(numbers, n)
		}
		return numbers, nil
	}
	names, err := s.names(ctx, k)
	for _, name := range names {
		n, notNumber := strconv.ParseInt(strings.TrimPrefix(name, "e"), 10, 64)
		if notNumber == nil && name[0] == 'e' && n > after {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers[:min(len(numbers), limit)], err
}
