package bundle

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// About is what a bundle says of itself.
type About struct {
	Store   string // id of the store that the runs are copied from
	Created time.Time
	By      string
	Note    string
}

// Writer makes a bundle. The file appears when it is finished, whole and synced.
type Writer struct {
	path     string
	manifest manifest
	graphs   []byte
	known    map[string]bool // graphs
	runs     map[stores.Key]bool
	spool    *os.File // the runs, until the manifest can say how long they are
}

// Create begins a bundle at a path where there is nothing yet.
func Create(path string, about About) (*Writer, error) {
	if err := nothingAt(path); err != nil {
		return nil, err
	}
	spool, err := os.CreateTemp(filepath.Dir(path), ".flowtui-*.tmp")
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%w: %w", stores.ErrReadOnly, &fs.PathError{Op: "create a file in", Path: filepath.Dir(path), Err: fs.ErrPermission})
	}
	if err != nil {
		return nil, named(err, path)
	}
	w := &Writer{path: path, spool: spool, known: map[string]bool{}, runs: map[stores.Key]bool{}}
	w.manifest = manifest{
		Format: formatName, Version: Version, Store: about.Store, Created: rowjson.Stamp(stores.Micro(about.Created)), By: about.By, Note: about.Note,
		Graphs: []graphPart{}, Runs: []runPart{},
	}
	return w, rowjson.Text(about.Store, about.By, about.Note)
}

func nothingAt(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return fmt.Errorf("%w: there is a file %s already", stores.ErrConflict, path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// Add adds a whole run, with its graphs.
func (w *Writer) Add(r stores.Run) error {
	if err := r.Check(); err != nil {
		return err
	}
	if w.runs[r.Key()] {
		return fmt.Errorf("%w: run %q is there twice", stores.ErrInvalid, r.Key().Run)
	}
	journal, _, err := rowjson.SealRun(r)
	if err != nil {
		return err
	}
	for _, c := range r.Checkpoints {
		if graph, ok := r.Graphs[c.Digest]; ok && !w.known[c.Digest] {
			if err := w.addGraph(c.Digest, graph); err != nil {
				return err
			}
		}
	}
	if _, err := w.spool.Write(journal); err != nil {
		return named(err, w.path)
	}
	w.runs[r.Key()] = true
	w.manifest.Runs = append(w.manifest.Runs, runPart{
		r.Head.Owner, r.Head.Run, r.Head.Store, r.Head.Incarnation, stores.OpenCalls(r.Head, r.Calls), rowjson.HeadOf(r.Head),
		part{int64(len(journal)), digestOf(journal)},
	})
	return nil
}

func (w *Writer) addGraph(digest string, graph []byte) error {
	b, _, err := rowjson.Seal(rowjson.Graph{Digest: digest, Payload: rowjson.PayloadOf(graph)})
	if err == nil {
		w.known[digest] = true
		w.graphs = append(w.graphs, b...)
		w.manifest.Graphs = append(w.manifest.Graphs, graphPart{digest, part{int64(len(b)), digestOf(b)}})
	}
	return err
}

// Finish signs the manifest and makes the file. It returns the manifest.
func (w *Writer) Finish(sign func(stores.Manifest) (stores.Seal, error)) (m stores.Manifest, err error) {
	defer w.Abort()
	line, _, err := rowjson.Seal(w.manifest)
	if err != nil {
		return m, err
	}
	m = w.manifest.described(bytes.TrimSuffix(line, []byte("\n")))
	if m.Seal, err = sign(m); err != nil {
		return m, err
	}
	signature, _, err := rowjson.Seal(sealLine{m.Format, m.KeyID, m.MAC})
	if err != nil {
		return m, err
	}
	out, err := os.CreateTemp(filepath.Dir(w.path), ".flowtui-*.tmp")
	if err != nil {
		return m, named(err, w.path)
	}
	defer os.Remove(out.Name())
	if err := w.fill(out, line, signature); err != nil {
		out.Close()
		return m, named(err, w.path)
	}
	if err := out.Close(); err != nil {
		return m, named(err, w.path)
	}
	return m, place(out.Name(), w.path)
}

// named tells an error by the name that the bundle was to have: nobody knows the
// files that it is made of.
func named(err error, path string) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: e.Op, Path: path, Err: e.Err}
	}
	return err
}

func (w *Writer) fill(out *os.File, parts ...[]byte) error {
	buf := bufio.NewWriter(out)
	for _, p := range append(parts, w.graphs) {
		if _, err := buf.Write(p); err != nil {
			return err
		}
	}
	if _, err := w.spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(buf, w.spool); err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return err
	}
	return out.Sync()
}

// place gives a file its name, unless something has it already.
func place(temp, path string) error {
	err := os.Link(temp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		if err != nil {
			err = fmt.Errorf("%w: there is a file %s already", stores.ErrConflict, path)
		}
		return err
	}
	if err := nothingAt(path); err != nil { // a file system without links
		return err
	}
	return os.Rename(temp, path)
}

// Abort drops what was not finished. It may be called twice.
func (w *Writer) Abort() {
	w.spool.Close()
	os.Remove(w.spool.Name())
}
