package bundle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// contents is where the parts of a bundle lie.
type contents struct {
	manifest stores.Manifest
	version  int
	graphs   map[string]extent
	runs     []entry
}

// extent is a part of the file. A part whose digest is not known has none.
type extent struct {
	at, size int64
	digest   string
}

// entry is a run of the bundle.
type entry struct {
	head stores.Head // Bad says why the run cannot be read
	extent
}

// startOf is how every bundle begins, behind the checksum.
const startOf = `"format":"` + formatName + `",`

// isBundle reports whether a file begins like a bundle, whatever its checksum.
func isBundle(f io.ReaderAt) bool {
	b := make([]byte, rowjson.SumPrefix+len(startOf))
	if _, err := f.ReadAt(b, 0); err != nil {
		return false
	}
	_, err := rowjson.NamedSum(b)
	return err == nil && string(b[rowjson.SumPrefix:]) == startOf
}

// scan reads the manifest, and finds the parts without it when it is damaged.
func scan(f *os.File) (contents, error) {
	info, err := f.Stat()
	if err != nil {
		return contents{}, err
	}
	size := info.Size()
	r := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 1<<16)
	line, err := readLine(r)
	if err != nil && err != io.EOF {
		return contents{}, err
	}
	var m manifest
	_, bad := rowjson.Unseal(bytes.TrimSuffix(line, []byte("\n")), &m)
	if m.Version > Version {
		return contents{}, fmt.Errorf("%w: it is a bundle of version %d, this program reads version %d", stores.ErrTooNew, m.Version, Version)
	}
	if bad == nil {
		bad = m.check()
	}
	c := contents{graphs: map[string]extent{}, version: Version}
	if bad != nil {
		c.manifest.Bad = fmt.Sprintf("it is damaged (%v), so which runs it named is not known", bad)
		return c, c.search(f, m.Store, int64(len(line)), size)
	}
	c.manifest = m.described(bytes.TrimSuffix(line, []byte("\n")))
	signature, err := readLine(r)
	if err != nil && err != io.EOF {
		return contents{}, err
	}
	c.readSeal(signature)
	c.lay(f, m, int64(len(line)+len(signature)), size)
	return c, nil
}

// check refuses a manifest that no writer makes.
func (m manifest) check() error {
	if m.Format != formatName || m.Version != Version || m.Store == "" {
		return fmt.Errorf("format %q, version %d, store %q", m.Format, m.Version, m.Store)
	}
	seen := map[stores.Key]bool{}
	for _, r := range m.Runs {
		switch {
		case r.key().Validate() != nil || r.Head == nil || r.Size < 0 || !r.Head.Status.Valid():
			return fmt.Errorf("run %q of %q is no run", r.Run, r.Owner)
		case seen[r.key()]:
			return fmt.Errorf("run %q of %q is there twice", r.Run, r.Owner)
		}
		seen[r.key()] = true
	}
	for _, g := range m.Graphs {
		if g.Size < 0 {
			return fmt.Errorf("graph %q has a negative size", g.Digest)
		}
	}
	return nil
}

func (c *contents) readSeal(line []byte) {
	var s sealLine
	if _, err := rowjson.Unseal(bytes.TrimSuffix(line, []byte("\n")), &s); err != nil {
		c.spoiled(fmt.Sprintf("its signature cannot be read: %v", err))
		return
	}
	c.manifest.Seal = stores.Seal{Format: s.Format, KeyID: s.KeyID, MAC: s.MAC}
}

// lay finds out where the parts that the manifest names must be. A graph that is
// damaged is left out, and told: the runs that have it can be looked at without.
func (c *contents) lay(f io.ReaderAt, m manifest, at, size int64) {
	next := func(p part) extent {
		where := extent{at, p.Size, p.SHA256}
		at += min(p.Size, 1<<62-at) // no sum of sizes is too great
		return where
	}
	for _, g := range m.Graphs {
		where := next(g.part)
		if at > size {
			continue // the runs behind it tell
		}
		if _, err := where.bytes(f); err != nil {
			c.spoiled(fmt.Sprintf("the graph %.16s: %v", g.Digest, err))
			continue
		}
		c.graphs[g.Digest] = where
	}
	for _, r := range m.Runs {
		e := entry{head: r.head(), extent: next(r.part)}
		if at > size {
			e.head.Bad = fmt.Sprintf("the bundle was cut off: it has %d bytes, and this run ends at byte %d", size, at)
		}
		c.runs = append(c.runs, e)
	}
	if at < size {
		c.spoiled(fmt.Sprintf("%d bytes stand behind the last run that it names", size-at))
	}
}

// spoiled notes why the manifest cannot be relied on; the first reason counts.
func (c *contents) spoiled(why string) {
	if c.manifest.Bad == "" {
		c.manifest.Bad = why
	}
}

// search finds the runs by their lines, each of which says to which run it
// belongs. A line that cannot be read belongs to the run before it, or, behind a
// head, which ends a journal, to the next one.
func (c *contents) search(f *os.File, storeID string, at, size int64) error {
	c.manifest.Store = storeID
	r := bufio.NewReaderSize(io.NewSectionReader(f, at, size-at), 1<<16)
	found := map[stores.Key]bool{}
	ended, from := true, at // between journals since this byte
	for at < size {
		line, err := readLine(r)
		if err != nil && err != io.EOF {
			return err
		}
		var l struct {
			Owner, Run, Digest string
			Head               json.RawMessage
		}
		known := json.Unmarshal(line, &l) == nil
		k := stores.Key{Owner: l.Owner, Run: l.Run}
		here := extent{at: at, size: int64(len(line))}
		at += here.size
		n := len(c.runs)
		switch {
		case known && k.Validate() == nil && (n == 0 || c.runs[n-1].head.Key != k):
			if ended {
				here = extent{at: from, size: at - from}
			}
			if !found[k] { // its lines may lie in two places: the first ones are shown
				c.runs = append(c.runs, entry{head: stores.Head{Place: stores.Place{Key: k}}, extent: here})
			}
			found[k], ended = true, false
		case known && k.Run == "":
			if l.Digest != "" {
				c.graphs[l.Digest] = here
			}
			from = at
		case n > 0 && !ended:
			c.runs[n-1].size += here.size
		}
		if known && l.Head != nil {
			ended, from = true, at
		}
	}
	c.readFound(f)
	return nil
}

// readFound reads the runs that were searched for: their list entries are there.
func (c *contents) readFound(f *os.File) {
	for i := range c.runs {
		e := &c.runs[i]
		run, err := e.read(f)
		if err != nil {
			e.head.Bad = err.Error()
			continue
		}
		e.head = run.Head
		e.head.Open = stores.OpenCalls(run.Head, run.Calls)
		if c.manifest.Store == "" {
			c.manifest.Store = run.Head.Store
		}
	}
}

var errTooLong = fmt.Errorf("%w: a line has more than %d bytes", stores.ErrUnreadable, rowjson.MaxLine)

// readLine is ReadBytes with a limit.
func readLine(r *bufio.Reader) (b []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		b = append(b, part...)
		switch {
		case len(b) > rowjson.MaxLine:
			return b, errTooLong
		case err != bufio.ErrBufferFull:
			return b, err
		}
	}
}

// bytes are those of a part, if they are as they were written.
func (p extent) bytes(f io.ReaderAt) ([]byte, error) {
	b := make([]byte, p.size)
	if _, err := f.ReadAt(b, p.at); err != nil {
		return nil, fmt.Errorf("its part of the bundle cannot be read: %w", err)
	}
	if p.digest != "" && digestOf(b) != strings.ToLower(p.digest) {
		return b, errors.New("its part of the bundle was changed after it was written")
	}
	return b, nil
}

// read decodes a run. An error says what is wrong with it.
func (e entry) read(f io.ReaderAt) (r stores.Run, err error) {
	if e.head.Bad != "" {
		return r, errors.New(e.head.Bad)
	}
	b, damaged := e.bytes(f)
	if b == nil {
		return r, damaged
	}
	after, n := "", 0
	for raw := range bytes.Lines(b) {
		n++
		var l rowjson.Line
		sum, err := rowjson.Unseal(bytes.TrimSuffix(raw, []byte("\n")), &l)
		switch {
		case err != nil:
		case l.After != after:
			err = errors.New("it does not follow the line before it")
		case l.Owner != e.head.Owner || l.Run != e.head.Run:
			err = fmt.Errorf("it belongs to run %q of %q", l.Run, l.Owner)
		}
		if err != nil {
			return r, fmt.Errorf("line %d of its part of the bundle: %w", n, err)
		}
		add(&r, l)
		after = sum
	}
	switch {
	case damaged != nil:
		return r, damaged
	case e.digest != "" && !bytes.Equal(r.Head.MAC, e.head.MAC):
		return r, errors.New("its list entry is not the one that the manifest has")
	}
	return r, r.Check()
}

func add(r *stores.Run, l rowjson.Line) {
	p := l.Place()
	if l.Checkpoint != nil {
		r.Checkpoints = append(r.Checkpoints, l.Checkpoint.Row(p))
	}
	for _, c := range l.Calls {
		r.Calls = append(r.Calls, c.Row(p))
	}
	for _, e := range l.Events {
		r.Events = append(r.Events, e.Row(p))
	}
	if l.Head != nil {
		r.Head = l.Head.Row(p)
	}
}

// updated is when a run was written to, for the order of lists.
func (e entry) updated() int64 { return stores.Micro(e.head.Updated.In(time.UTC)).UnixMicro() }
