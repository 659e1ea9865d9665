package viewer

import (
	"context"
	"errors"
	"fmt"
	"os/user"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// Program is a program of one's own on one store, with flows and tools in Go.
// Attach gives its Service; views.Main shows it on the screens.
type Program struct {
	// Open opens the store; with readOnly so that nothing can be written. The
	// program names its driver here.
	Open func(ctx context.Context, readOnly bool) (stores.Store, error)
	// KeyFile or KeyEnv, a file or a variable, has the checkpoint key, see
	// [seal.ReadFile] and [seal.ReadEnv]. With neither runs can be looked at, and
	// nothing can be done.
	KeyFile, KeyEnv string
	Flows           []*engine.Flow // that runs can go on with
	Tools           *tool.Registry // that the flows call
	ReadOnly        bool           // refuse every action
	Production      bool           // the run's id must be typed before an action
	Owner           string         // whose runs are listed; "" is the default owner, "*" all
	Identity        stores.Identity
	By              string // who acts, for the audit log; "" is the user of the system
}

// Attach opens the store. It writes nothing to it.
func (p Program) Attach(ctx context.Context) (*Service, error) {
	if p.Open == nil {
		return nil, Problem{Code: codeUsage, Message: "the program does not say how its store is opened", Hint: "set Program.Open"}
	}
	var keys *seal.Keyring
	var err error
	if p.KeyEnv == "" || p.KeyFile != "" {
		if keys, err = p.keys(); err != nil {
			return nil, err
		}
	}
	flows, err := p.source()
	if err != nil {
		return nil, err
	}
	store, err := p.Open(ctx, p.ReadOnly)
	if err != nil {
		return nil, err
	}
	info, err := store.Info(ctx)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	if keys == nil && p.KeyEnv != "" { // last: a variable can be read once, a store that is down can be tried again
		if keys, err = p.keys(); err != nil {
			return nil, errors.Join(err, store.Close())
		}
	}
	return Attach(ctx, []string{info.Location}, Options{
		Formats:     Registry{opened(info.Format, store)},
		Keys:        keys,
		Flows:       flows,
		Owner:       p.Owner,
		Identity:    p.Identity,
		By:          nameOr(p.By, systemUser()),
		ReadOnly:    p.ReadOnly,
		ReadOnlyWhy: "this program only looks",
		Production:  map[string]bool{info.Location: p.Production},
		NoCommand:   true,
	})
}

func (p Program) keys() (*seal.Keyring, error) {
	switch {
	case p.KeyFile != "" && p.KeyEnv != "":
		return nil, Problem{Code: codeUsage, Message: "the program names a key file and a key variable", Hint: "set Program.KeyFile or Program.KeyEnv"}
	case p.KeyFile != "":
		return seal.ReadFile(p.KeyFile)
	case p.KeyEnv != "":
		return seal.ReadEnv(p.KeyEnv)
	}
	return nil, nil
}

// source checks the flows: a mistake shows when the program starts, not when a
// run is to be rescued.
func (p Program) source() (FlowSource, error) {
	s := registered{flows: map[string]*engine.Flow{}, tools: p.Tools}
	for _, f := range p.Flows {
		if err := f.Check(); err != nil {
			return nil, err
		}
		if s.flows[f.Name()] != nil {
			return nil, Problem{Code: codeUsage, Message: fmt.Sprintf("two flows are called %q", f.Name()), Hint: "give one of them another name"}
		}
		s.flows[f.Name()] = f
		s.names = append(s.names, f.Name())
	}
	return s, nil
}

// registered are the flows of a program.
type registered struct {
	flows map[string]*engine.Flow
	names []string
	tools *tool.Registry
}

func (r registered) Flow(name string) (*engine.Flow, *tool.Registry, error) {
	if f := r.flows[name]; f != nil {
		return f, r.tools, nil
	}
	return nil, nil, Problem{Code: codeRefused, Message: fmt.Sprintf("this program does not have flow %q", name), Hint: "open the store with a program that has it"}
}

func (r registered) Names() []string { return r.names }

// opened is the format of a store that is open already.
func opened(name string, s stores.Store) Format {
	return Format{
		Name:  name,
		Sniff: func(context.Context, string) (bool, string, error) { return true, "", nil },
		Open:  func(context.Context, string, bool) (stores.Store, error) { return s, nil },
	}
}

func systemUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}
