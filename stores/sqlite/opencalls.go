package sqlite

import "github.com/flowtui/flowtui/stores"

// stepCalls are the newest records of the calls of one superstep.
type stepCalls map[callName]callRecord

type callName struct {
	node    string
	ordinal int64
}

type callRecord struct {
	segment, n int64
	open       bool
}

func (r callRecord) before(o callRecord) bool {
	return r.segment < o.segment || r.segment == o.segment && r.n < o.n
}

// callWord is what a record says that the count of open calls depends on.
type callWord struct {
	step int64
	name callName
	callRecord
}

func wordOf(c stores.Call) callWord {
	return callWord{c.Step, callName{c.Node, c.Ordinal}, callRecord{c.Segment, c.N, c.Open()}}
}

// recorded takes over a record that was added. A step is known whole when all of
// its records were added here.
func (run *knownRun) recorded(w callWord) {
	switch {
	case run.lastCall == unknownCall || w.step < run.lastCall:
		return
	case w.step > run.lastCall:
		run.lastCall = w.step
		if run.calls == nil {
			run.calls = stepCalls{}
		}
		clear(run.calls)
	case run.calls == nil || len(run.calls) >= remembered:
		run.calls = nil
		return
	}
	if old, seen := run.calls[w.name]; !seen || old.before(w.callRecord) {
		run.calls[w.name] = w.callRecord
	}
}

// adds is by how much a record that is about to be added changes the number of
// open calls of its step, or says that it is not known.
func (run *knownRun) adds(w callWord) (n int64, known bool) {
	open := int64(0)
	if w.open {
		open = 1
	}
	if run.lastCall < w.step {
		return open, true
	}
	if run.lastCall > w.step || run.calls == nil {
		return 0, false
	}
	old, seen := run.calls[w.name]
	switch {
	case seen && !old.before(w.callRecord):
		return 0, true
	case seen && old.open:
		open--
	}
	return open, true
}

// countOpen brings Head.Open up to date for a record that is about to be
// inserted. It can change by one: counting all calls of the step for each
// record would make a step of many calls slow.
func countOpen(t tx, c stores.Call, last *stores.Checkpoint) error {
	if last.Status != stores.StatusRunning || c.Step != last.Base {
		return nil
	}
	if run, ok := t.w.runs[c.Key]; ok {
		if err := run.look(t); err != nil {
			return err
		}
		if n, known := run.adds(wordOf(c)); known {
			return addOpen(t, c.Key, n)
		}
	}
	query := oneLessOpen
	if c.Open() {
		query = oneMoreOpen
	}
	st, err := t.prepare(query)
	if err != nil {
		return err
	}
	st.texts(c.Owner, c.Run)
	st.numbers(c.Segment, c.N, c.Step)
	st.texts(c.Node)
	st.numbers(c.Ordinal)
	_, err = st.exec(t.ctx)
	return err
}

func addOpen(t tx, k stores.Key, n int64) error {
	if n == 0 {
		return nil
	}
	st, err := t.prepare(moreOpen)
	if err != nil {
		return err
	}
	st.numbers(n)
	st.texts(k.Owner, k.Run)
	_, err = st.exec(t.ctx)
	return err
}
