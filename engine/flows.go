package engine

import "fmt"

// Flows finds the given flows by their names, for [Runner.RecoverAll].
func Flows(flows ...*Flow) func(name string) (*Flow, error) {
	return func(name string) (*Flow, error) {
		for _, f := range flows {
			if f.Name() == name {
				return f, nil
			}
		}
		return nil, fmt.Errorf("flow %q is not one of this worker's", name)
	}
}
