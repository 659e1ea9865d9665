package jsonfile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// ref is where a row lies.
type ref struct {
	at, size int64  // of its line, with the line feed
	sum      string // of its line
	i        int    // which call or event of the line
}

// The rows of a journal without their payloads.
type (
	stepRef struct {
		stores.Checkpoint
		ref
	}
	callRef struct {
		stores.Call
		ref
	}
	eventRef struct {
		stores.Event
		ref
	}
)

type number struct{ segment, n int64 }

// contents is what a journal holds. Rows are only added, so that a copy of the
// struct stays as it is.
type contents struct {
	key    stores.Key
	end    int64  // where the next line goes
	last   int64  // where the last line begins
	sum    string // of the last line
	lines  int
	steps  []stepRef
	calls  []callRef
	events []eventRef
	head   stores.Head // of the newest checkpoint, with its payload
	damage string      // what is wrong, and in which line; "" for a sound journal
	tail   int64       // bytes after end: a line that is being written, or was torn
}

// journal is contents that are read on as the file grows.
type journal struct {
	mu   sync.Mutex
	file os.FileInfo
	contents
	callNumbers  map[number]struct{}
	eventNumbers map[int64]struct{}
	byStep       map[int64][]stores.Call
}

// reset forgets everything.
func (j *journal) reset(file os.FileInfo) {
	j.file, j.contents = file, contents{key: j.key}
	j.callNumbers, j.eventNumbers, j.byStep = map[number]struct{}{}, map[int64]struct{}{}, map[int64][]stores.Call{}
}

// newest is the newest sound checkpoint, or nil.
func (c *contents) newest() *stepRef {
	for i := len(c.steps) - 1; i >= 0; i-- {
		if c.steps[i].Bad == "" {
			return &c.steps[i]
		}
	}
	return nil
}

// update reads what was added to the file, or all of it when it is no longer
// the file that was read. Each line names the one before it, so that the last
// one vouches for all of them.
func (j *journal) update(f *os.File, info os.FileInfo) error {
	size := info.Size()
	known := j.file != nil && j.damage == "" && os.SameFile(j.file, info) && size >= j.end && j.end > 0
	if !known || !namedAt(f, j.last, j.sum) {
		j.reset(info)
	}
	return j.read(f, size)
}

// namedAt reports whether the line at an offset has this checksum.
func namedAt(f io.ReaderAt, at int64, sum string) bool {
	b := make([]byte, rowjson.SumPrefix)
	if _, err := f.ReadAt(b, at); err != nil {
		return false
	}
	got, err := rowjson.NamedSum(b)
	return err == nil && got == sum
}

// read goes on from the end to size. The last line may be torn: it is left for
// the next time. A line with a wrong checksum before others is damage.
func (j *journal) read(f io.ReaderAt, size int64) error {
	if j.tail = size - j.end; j.tail == 0 {
		return nil
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, j.end, size-j.end), 1<<16)
	for {
		b, err := readLine(r)
		if err != nil && err != io.EOF && err != errTooLong {
			return err
		}
		if err == io.EOF {
			break // what is left has no line feed
		}
		var l rowjson.Line
		sum, why := "", error(errTooLong)
		if err == nil {
			sum, why = rowjson.Unseal(b[:len(b)-1], &l)
		}
		at := ref{at: j.end, size: int64(len(b)), sum: sum}
		torn := errors.Is(why, rowjson.ErrWrongSum) || errors.Is(why, rowjson.ErrNoSum)
		if torn && j.end+at.size == size {
			break
		}
		if why == nil {
			why = j.follows(&l)
		}
		if why != nil {
			j.spoil(b, at, why)
			if err == errTooLong {
				break
			}
			continue
		}
		j.apply(&l, at)
	}
	j.tail = size - j.end
	return nil
}

var errTooLong = fmt.Errorf("it has more than %d bytes", rowjson.MaxLine)

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

// follows says why a line with a right checksum cannot be the next one.
func (j *journal) follows(l *rowjson.Line) error {
	newest := j.newest()
	switch {
	case l.Owner != j.key.Owner || l.Run != j.key.Run:
		return fmt.Errorf("it belongs to run %q of %q", l.Run, l.Owner)
	case l.After != j.sum && j.damage == "":
		return errors.New("it does not follow the line before it")
	case newest == nil && l.Checkpoint == nil && j.damage == "":
		return errors.New("the first line has no checkpoint")
	case newest != nil && l.Incarnation != newest.Incarnation:
		return errors.New("it is of another incarnation")
	case l.Checkpoint == nil && l.Head != nil && (newest == nil || l.Head.Step != newest.Step):
		return fmt.Errorf("its head of step %d is not that of the newest checkpoint", l.Head.Step)
	}
	if c := l.Checkpoint; c != nil {
		switch {
		case newest == nil && c.Step != 0 && j.damage == "", newest != nil && c.Step != newest.Step+1 && j.damage == "", c.Step < 0:
			return fmt.Errorf("step %d is not the next one", c.Step)
		case !c.Status.Valid(), c.Segment < 1, c.Base < 0, c.Base > c.Step:
			return fmt.Errorf("step %d has status %q, segment %d, base %d", c.Step, c.Status, c.Segment, c.Base)
		}
	}
	return j.taken(l)
}

// taken is an error when a number of the line is there already, or twice.
func (j *journal) taken(l *rowjson.Line) error {
	calls, events := map[number]struct{}{}, map[int64]struct{}{}
	for _, c := range l.Calls {
		n := number{c.Segment, c.N}
		_, old := j.callNumbers[n]
		if _, twice := calls[n]; old || twice {
			return fmt.Errorf("%w: call record %d of segment %d exists already", stores.ErrConflict, c.N, c.Segment)
		}
		calls[n] = struct{}{}
	}
	for _, e := range l.Events {
		_, old := j.eventNumbers[e.N]
		if _, twice := events[e.N]; old || twice {
			return fmt.Errorf("%w: event %d exists already", stores.ErrConflict, e.N)
		}
		events[e.N] = struct{}{}
	}
	return nil
}

// apply adds the rows of a sound line.
func (j *journal) apply(l *rowjson.Line, at ref) {
	j.add(l, at, "")
	if l.Head != nil {
		j.head = l.Head.Row(l.Place())
	}
	for _, c := range j.calls[len(j.calls)-len(l.Calls):] {
		j.callNumbers[number{c.Segment, c.N}] = struct{}{}
		j.byStep[c.Step] = append(j.byStep[c.Step], c.Call)
	}
	for _, e := range l.Events {
		j.eventNumbers[e.N] = struct{}{}
	}
	j.last, j.sum, j.end = at.at, at.sum, at.at+at.size
	j.lines++
}

// spoil adds what can be read of a damaged line, with the reason. A line of
// which nothing can be read may have held anything, so that it shows everywhere.
func (j *journal) spoil(b []byte, at ref, why error) {
	bad := fmt.Sprintf("line %d: %v", j.lines+1, why)
	if j.damage == "" {
		j.damage = bad
	}
	var l rowjson.Line
	if json.Unmarshal(b, &l) == nil && (l.Checkpoint != nil || len(l.Calls)+len(l.Events) > 0) {
		j.add(&l, at, bad)
	} else {
		p := stores.Place{Key: j.key}
		next := int64(0)
		if newest := j.newest(); newest != nil {
			p, next = newest.Place, newest.Step+1
		}
		j.steps = append(j.steps, stepRef{stores.Checkpoint{Place: p, Step: next, Base: next, Bad: bad}, at})
		j.calls = append(j.calls, callRef{stores.Call{Place: p, Step: next, Bad: bad}, at})
		j.events = append(j.events, eventRef{stores.Event{Place: p, Step: next, Bad: bad}, at})
	}
	j.last, j.end, j.sum = at.at, at.at+at.size, at.sum
	j.lines++
}

func (j *journal) add(l *rowjson.Line, at ref, bad string) {
	p := l.Place()
	if newest := j.newest(); newest != nil && newest.Place == p {
		p = newest.Place // one copy of its strings
	}
	if l.Checkpoint != nil {
		c := l.Checkpoint.Row(p)
		c.Payload, c.Bad = nil, bad
		j.steps = append(j.steps, stepRef{c, at})
	}
	for i, row := range l.Calls {
		c := row.Row(p)
		c.Payload, c.Bad = nil, bad
		at.i = i
		j.calls = append(j.calls, callRef{c, at})
	}
	for i, row := range l.Events {
		e := row.Row(p)
		e.Payload, e.Bad = nil, bad
		at.i = i
		j.events = append(j.events, eventRef{e, at})
	}
}

// open counts the calls of a head that may be in doubt.
func (j *journal) open(h stores.Head) int64 { return stores.OpenCalls(h, j.byStep[h.Base]) }
