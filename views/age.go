package views

import (
	"fmt"
	"time"
)

// skewTolerance is how far in the future a time may lie before it is called
// clock skew: clocks of two machines always differ a little.
const skewTolerance = 5 * time.Second

// age is how long ago t was, in one short word. It is never negative.
func age(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	d := now.Sub(t)
	if d < -skewTolerance {
		return "clock skew"
	}
	return short(max(0, d))
}

// short is a duration in its largest unit.
func short(d time.Duration) string {
	day := 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 2*365*day:
		return fmt.Sprintf("%dd", d/day)
	}
	return fmt.Sprintf("%dy", d/(365*day))
}

// clock is a time of day, in UTC as everywhere.
func clock(t time.Time) string { return t.UTC().Format(time.TimeOnly) + " UTC" }

// plural is a number of things: 1 line, 2 lines.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// count is a number in at most five cells.
func count(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d", n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
