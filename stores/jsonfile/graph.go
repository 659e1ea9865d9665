package jsonfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

const maxGraph = 256 << 20

func graphName(digest string) string { return graphsDir + "/" + fileName(digest) + ".json" }

// saveGraph writes a graph that is not there yet. It comes before the line that
// needs it; should that line not follow, the graph does no harm.
func (s *Store) saveGraph(ctx context.Context, root *os.Root, digest string, graph []byte) error {
	name := graphName(digest)
	if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := rowjson.Text(digest); err != nil {
		return err
	}
	b, _, err := rowjson.Seal(rowjson.Graph{Digest: digest, Payload: rowjson.PayloadOf(graph)})
	if err != nil {
		return err
	}
	free, err := s.lock(context.WithoutCancel(ctx), root, graphLock)
	if err != nil {
		return err
	}
	defer free()
	if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.makeFolder(root, graphsDir); err != nil {
		return err
	}
	graphs, err := openFolder(root, graphsDir)
	if err != nil {
		return err
	}
	defer graphs.Close()
	return s.replace(graphs, fileName(digest)+".json", b, true)
}

// Graph implements stores.Grapher.
func (s *Store) Graph(ctx context.Context, digest string) (graph []byte, err error) {
	err = s.read(ctx, "graph", stores.Key{}, func(root *os.Root) error {
		b, err := []byte(nil), fs.ErrNotExist
		if root != nil {
			b, err = readSmall(root, graphName(digest), maxGraph)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: no graph has this digest", stores.ErrNotFound)
		}
		if err != nil {
			return err
		}
		var g rowjson.Graph
		if _, err := rowjson.Unseal(bytes.TrimSuffix(b, []byte("\n")), &g); err != nil {
			return fmt.Errorf("%w: %s: %w", stores.ErrUnreadable, graphName(digest), err)
		}
		if g.Digest != digest {
			return fmt.Errorf("%w: %s has the graph of %.80q", stores.ErrUnreadable, graphName(digest), g.Digest)
		}
		if graph = g.Payload.Bytes(); graph == nil {
			graph = []byte{}
		}
		return nil
	})
	return graph, err
}
