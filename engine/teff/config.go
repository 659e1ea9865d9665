package teff

import "github.com/flowtui/flowtui/engine/teff/py"

// text is an option that [Check] has found to be a string or absent.
func text(c *py.Dict, option, missing string) string {
	if c == nil {
		return missing
	}
	s, _ := c.GetOr(option, missing).(string)
	return s
}

// whole is an option that is an int or absent.
func whole(c *py.Dict, option string, missing int64) int64 {
	n, _ := c.GetOr(option, missing).(int64)
	return n
}

// list is an option that is a list, null or absent.
func list(c *py.Dict, option string) []py.Value {
	if l, ok := c.GetOr(option, nil).(*py.List); ok {
		return l.Items
	}
	return nil
}

// dict is an option that is a dict, null or absent.
func dict(c *py.Dict, option string) *py.Dict {
	if c == nil {
		return nil
	}
	d, _ := c.GetOr(option, nil).(*py.Dict)
	return d
}

// strs are the items of a list of strings.
func strs(items []py.Value) []string {
	var all []string
	for _, item := range items {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}
