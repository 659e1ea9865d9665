package redis

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores"
)

var (
	//go:embed scripts/lib.lua
	libScript string
	//go:embed scripts/log.lua
	logScript string
	//go:embed scripts/save.lua
	saveScript string
	//go:embed scripts/record.lua
	recordScript string
	//go:embed scripts/delete.lua
	deleteScript string
	//go:embed scripts/import.lua
	importScript string
	//go:embed scripts/lease.lua
	leaseScript string
	//go:embed scripts/sweep.lua
	sweepScript string
	//go:embed scripts/prepare.lua
	prepareScript string
)

// scripts are all that change a store. They never change themselves.
var scripts = struct{ save, record, remove, importRun, lease, sweep, prepare *client.Script }{
	save:      client.NewScript(libScript + logScript + saveScript),
	record:    client.NewScript(libScript + logScript + recordScript),
	remove:    client.NewScript(libScript + deleteScript),
	importRun: client.NewScript(libScript + logScript + importScript),
	lease:     client.NewScript(libScript + leaseScript),
	sweep:     client.NewScript(libScript + sweepScript),
	prepare:   client.NewScript(prepareScript),
}

// maxWrite is the size limit of one write: Redis takes no greater value.
const maxWrite = 512 << 20

// write runs a script on a store that exists, or may be created, and returns its
// answer.
func (s *Store) write(ctx context.Context, script *client.Script, k stores.Key, args ...any) ([]string, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	if s.opts.ReadOnly {
		return nil, fmt.Errorf("%w: it was opened read-only", stores.ErrReadOnly)
	}
	if s.known() == "" {
		if err := s.prepare(ctx); err != nil {
			return nil, err
		}
	}
	var size int
	for _, arg := range args {
		if text, ok := arg.(string); ok {
			size += len(text)
		}
	}
	if size > maxWrite {
		return nil, fmt.Errorf("%w: %d bytes in one write, Redis takes %d", stores.ErrInvalid, size, maxWrite)
	}
	args = append([]any{s.keys.prefix, s.known()}, args...)
	answer, err := s.run(ctx, script, []string{s.keys.meta(), s.keys.run(k)}, args...)
	if err != nil {
		return nil, err
	}
	switch answer[0] {
	case "gone":
		return nil, s.notSame(answer[1], answer[2])
	case "bad":
		return nil, fmt.Errorf("%w: the fields that say where the run stands are damaged or missing", stores.ErrUnreadable)
	case "lost":
		return nil, fmt.Errorf("%w: %s; delete the run to start it anew", stores.ErrUnreadable, lostRows)
	}
	return answer, nil
}

// notSame explains a script's refusal to work on another store.
func (s *Store) notSame(id, version string) error {
	meta := []any{nil, nil}
	if id != "" || version != "" {
		meta = []any{id, version}
	}
	if err := s.same(meta); err != nil {
		return err
	}
	return goneError{"the store was replaced while it was written to; nothing was changed"}
}

// run sends a script once, unless the server certainly did not run it.
func (s *Store) run(ctx context.Context, script *client.Script, keys []string, args ...any) ([]string, error) {
	for try := 0; ; try++ {
		node, err := s.node(ctx)
		if err != nil {
			return nil, err
		}
		// The context's end does not break the connection in the middle of a write.
		free := context.WithoutCancel(ctx)
		answer, err := await(ctx, grace, func() ([]string, error) { return script.Run(free, node, keys, args...).StringSlice() })
		if err == nil {
			s.permit("")
			if len(answer) == 0 {
				return nil, doubt{errors.New("the script gave no answer")}
			}
			return answer, nil
		}
		if s.moved(ctx, err) && try < redirects && ctx.Err() == nil {
			continue
		}
		if isReply(err, "NOPERM") {
			s.permit(fmt.Sprintf("the user %q may not write", s.user()))
		}
		return nil, doubt{err}
	}
}

// permit remembers whether this user may write.
func (s *Store) permit(refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = refused
}
