package bundle

import (
	"bytes"
	"context"
	"fmt"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// Graph implements stores.Grapher.
func (s *Store) Graph(ctx context.Context, digest string) ([]byte, error) {
	graph, err := s.graph(ctx, digest)
	return graph, s.wrap("graph", stores.Key{}, err)
}

func (s *Store) graph(ctx context.Context, digest string) ([]byte, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	where, ok := s.graphs[digest]
	if !ok {
		return nil, fmt.Errorf("%w: no graph has this digest", stores.ErrNotFound)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil, stores.ErrClosed
	}
	b, err := where.bytes(s.file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", stores.ErrUnreadable, err)
	}
	var g rowjson.Graph
	if _, err := rowjson.Unseal(bytes.TrimSuffix(b, []byte("\n")), &g); err != nil || g.Digest != digest {
		return nil, fmt.Errorf("%w: the graph is damaged", stores.ErrUnreadable)
	}
	if graph := g.Payload.Bytes(); graph != nil {
		return graph, nil
	}
	return []byte{}, nil
}
