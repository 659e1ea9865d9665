package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

// session is an attached viewer with what the command line said about it.
type session struct {
	*viewer.Service
	seen       *seen
	owner      string
	ownerless  bool // nothing says which owner is meant
	production bool
}

// Close releases the stores and remembers what was seen.
func (s *session) Close() {
	_ = s.Service.Close() // nothing is written by closing
	s.seen.save()
}

// target is one STORE of the command line.
type target struct {
	spec     string       // as it was typed
	location string       // path or URL: the same, or that of the context
	context  storeContext // zero when spec is none
}

func (t target) named() bool { return t.context.Store != "" }

// attach opens the stores. Only a command that starts runs may create one.
func (a *app) attach(ctx context.Context, create bool, specs ...string) (*session, error) {
	targets, err := a.targets(specs)
	if err != nil {
		return nil, err
	}
	return a.attachTargets(ctx, create, targets)
}

// minLease is the shortest lease that the engine takes.
const minLease = 10 * time.Millisecond

// leaseFits refuses a lease that no worker could keep; 0 is the default.
func leaseFits(l time.Duration) error {
	switch {
	case l < 0:
		return usagef("--lease is not negative")
	case l > 0 && l < minLease:
		return usagef("--lease %s is too short to be renewed: it is at least %s", l, minLease)
	}
	return nil
}

func (a *app) attachTargets(ctx context.Context, create bool, targets []target) (*session, error) {
	if err := leaseFits(a.global.lease); err != nil {
		return nil, err
	}
	settings, err := a.settings(targets)
	if err != nil {
		return nil, err
	}
	ring, err := a.keyring(ctx, settings.keys())
	if err != nil {
		return nil, err
	}
	flows, err := a.flowSource(settings.Flows)
	if err != nil {
		return nil, err
	}
	var specs []string
	locations, production := map[string]string{}, map[string]bool{}
	for _, t := range targets {
		if t.named() && !create && !storeExists(t.location) {
			return nil, problem("not-found", "the config file says where it is", "context %s: there is nothing at %s", t.spec, t.location)
		}
		specs = append(specs, t.spec)
		locations[t.spec], production[t.spec] = t.location, t.context.Production
	}
	memory := newSeen(a.now)
	svc, err := viewer.Attach(ctx, specs, viewer.Options{
		Formats:     formats(locations, create),
		Keys:        ring,
		Flows:       flows,
		Workflows:   a.workflows(settings.Flows),
		Owner:       settings.Owner,
		AnyOwner:    a.ownerless(targets),
		Identity:    stores.Identity{User: settings.User, Principal: settings.Principal},
		By:          operator(settings.User),
		ReadOnly:    settings.ReadOnly,
		ReadOnlyWhy: a.whyReadOnly(targets),
		Production:  production,
		Raw:         a.global.json || a.exact,
		Worker:      worker(operator(settings.User)),
		LeaseTTL:    a.global.lease,
		SayOwner:    slices.ContainsFunc(targets, target.named),
		Command:     "flowtui",
		KeyFlags:    a.global.repeated(),
		Memory:      memory,
	})
	if err != nil {
		return nil, withinFolder(ctx, targets, err)
	}
	if flows.bad != nil && slices.ContainsFunc(svc.Stores(), func(i viewer.StoreInfo) bool { return !i.Foreign }) {
		return nil, errors.Join(flows.bad, svc.Close())
	}
	memory.locate(svc.Stores())
	for _, w := range svc.Warnings(ctx) {
		a.warnf("%s", w)
	}
	return &session{Service: svc, seen: memory, owner: settings.Owner, ownerless: a.ownerless(targets), production: settings.Production}, nil
}

// repeated are the flags that a command line to copy must have too.
func (g globals) repeated() []string {
	flags := g.keys.flags()
	for _, dir := range g.flows {
		flags = append(flags, "--flows", dir)
	}
	for _, flow := range g.flow {
		flags = append(flags, "--flow", flow)
	}
	if g.config != "" {
		flags = append(flags, "--config", g.config)
	}
	return flags
}

// operator is who acts, for the audit log.
func operator(name string) string {
	if name != "" {
		return name
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}

// worker names this process in leases and logs, so that a person finds it.
func worker(by string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "flowtui"
	}
	return fmt.Sprintf("%s@%s-%d-%s", by, host, os.Getpid(), strings.ToLower(rand.Text()[:4]))
}

// targets finds out what each STORE is: a URL, a path, or a context. A path that
// exists wins, so that a config file never redirects a command that names a file.
func (a *app) targets(specs []string) ([]target, error) {
	conf, err := a.config()
	if err != nil {
		return nil, err
	}
	targets := make([]target, len(specs))
	for i, spec := range specs {
		if spec == "" {
			return nil, problem("usage", "is a variable not set?", "STORE is given, but empty")
		}
		targets[i] = target{spec: spec, location: spec}
		c, named := conf.Contexts[spec]
		switch {
		case !named || isURL(spec):
		case exists(spec):
			a.warnf("%s is a file and a context: taking the file", spec)
		default:
			targets[i] = target{spec: spec, location: c.Store, context: c}
		}
	}
	return targets, nil
}

// config reads the config file that the flags, the environment or the system
// name.
func (a *app) config() (config, error) {
	if path := a.global.config; path != "" {
		return readConfig(path, true)
	}
	if path := os.Getenv("FLOWTUI_CONFIG"); path != "" {
		return readConfig(path, true)
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return config{}, nil // no home, no config file
	}
	return readConfig(filepath.Join(dir, "flowtui", "config.yaml"), false)
}

// settings are what the flags say, else what the contexts say. All stores of
// one command share them, so contexts that differ cannot be opened together.
func (a *app) settings(targets []target) (storeContext, error) {
	all := storeContext{Flows: slices.Clone(a.global.flows)}
	for i, t := range targets {
		c := t.context
		if err := a.override(&c); err != nil {
			return c, err
		}
		if i > 0 && (c.keys() != all.keys() || c.Owner != all.Owner || c.User != all.User || c.Principal != all.Principal) {
			return c, usagef("%s and %s have different keys, owners or users: open them one at a time", targets[0].spec, t.spec)
		}
		c.Flows = append(all.Flows, c.Flows...)
		c.ReadOnly = c.ReadOnly || all.ReadOnly
		c.Production = c.Production || all.Production
		all = c
	}
	return all, nil
}

// ownerless reports that nothing says whose runs are meant: then the screens may
// show those of others as well.
func (a *app) ownerless(targets []target) bool {
	return a.global.owner == "" && !slices.ContainsFunc(targets, func(t target) bool { return t.context.Owner != "" })
}

// whyReadOnly names the context that forbids writing, "" for the flag.
func (a *app) whyReadOnly(targets []target) string {
	for _, t := range targets {
		if t.context.ReadOnly && !a.global.readOnly {
			return "the context " + t.spec + " is read-only"
		}
	}
	return ""
}

// override puts the flags over the settings of a context.
func (a *app) override(s *storeContext) error {
	g := a.global
	switch {
	case g.keys.count() > 1:
		return usagef("give one of --key-file, --key-env and --key-cmd")
	case g.keys.count() == 1:
		s.KeyFile, s.KeyEnv, s.KeyCmd = g.keys.file, g.keys.env, g.keys.cmd
	case s.keys().count() == 0:
		s.KeyFile = os.Getenv("FLOWTUI_KEY_FILE")
	}
	if g.owner != "" {
		s.Owner = g.owner
	}
	if s.Owner == "" {
		s.Owner = stores.DefaultOwner
	}
	if g.user != "" {
		s.User = g.user
	}
	if g.principal != "" {
		s.Principal = g.principal
	}
	s.ReadOnly = s.ReadOnly || g.readOnly
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// isURL reports whether a STORE is written as a URL. One letter before the
// colon is a drive.
func isURL(spec string) bool {
	scheme, _, ok := strings.Cut(spec, ":")
	if !ok || len(scheme) < 2 {
		return false
	}
	return !strings.ContainsFunc(scheme, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+' })
}
