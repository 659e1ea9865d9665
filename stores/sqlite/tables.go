package sqlite

import (
	"slices"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// Each table has its list of columns, what scans them and what is bound to
// them, one below the other because their order must agree.

const (
	checkpointColumns = `owner, run, store, incarnation, step, base, segment, kind, flow, digest, status,
		user, thread, principal, calls, events, time, format, key_id, prev, mac`
	headColumns = `owner, run, store, incarnation, step, base, segment, kind, flow, digest, status,
		user, thread, principal, created, updated, format, key_id, prev, mac, open, payload`
	callColumns = `owner, run, store, incarnation, segment, n, step, node, ordinal, tool, idempotent, status, time,
		format, key_id, prev, mac, payload`
	eventColumns = `owner, run, store, incarnation, n, step, type, time, format, key_id, prev, mac, payload`
)

// insert is an INSERT statement for columns.
func insert(table, columns string) string {
	marks := strings.Repeat(", ?", strings.Count(columns, ",")+1)[2:]
	return "INSERT INTO " + table + " (" + columns + ") VALUES (" + marks + ")"
}

var (
	insertCheckpoint = insert("checkpoints", checkpointColumns+", payload")
	insertCall       = insert("calls", callColumns)
	insertEvent      = insert("events", eventColumns)
	insertGraph      = insert("graphs", "digest, graph") + " ON CONFLICT DO NOTHING"
	upsertHead       = upsert(strings.Replace(insert("runs", headColumns), "?, ?)", openCalls+", ?)", 1), headColumns)
)

// These change the head of a run that goes on.
const (
	changeHead        = `UPDATE runs SET step = ?, base = ?, segment = ?, status = ?, updated = ?, prev = ?, mac = ?, payload = ?, open = `
	updateHead        = changeHead + openCalls + ` WHERE owner = ? AND run = ?`
	updateHeadNoCalls = changeHead + `0 WHERE owner = ? AND run = ?`
)

// openCalls is the value of Head.Open for a run (?, ?) whose current superstep
// is ?, or NULL for one that is not running: the calls whose newest record is
// open.
const openCalls = `(SELECT count(*) FROM calls AS c INDEXED BY calls_step
	WHERE c.owner = ? AND c.run = ? AND c.step = ? AND c.idempotent = 0 AND c.status IN ('started', 'unrecordable')
	AND NOT EXISTS (SELECT 1 FROM calls AS later INDEXED BY calls_step
		WHERE later.owner = c.owner AND later.run = c.run AND later.step = c.step AND later.node = c.node AND later.ordinal = c.ordinal
		AND (later.segment, later.n) > (c.segment, c.n)))`

// A call is as open as its newest record. These statements are for a record of
// run (?, ?), number (?, ?), of call (?, ?, ?), and change nothing when a newer
// record is there or when the one before says the same.
const (
	moreOpen    = `UPDATE runs SET open = max(0, open + ?) WHERE owner = ? AND run = ?`
	oneMoreOpen = `UPDATE runs SET open = open + 1 WHERE owner = ? AND run = ?
		AND NOT coalesce((SELECT (segment, n) > (?, ?) OR idempotent = 0 AND status IN ('started', 'unrecordable')` + newestRecord + `), 0)`
	oneLessOpen = `UPDATE runs SET open = max(0, open - 1) WHERE owner = ? AND run = ?
		AND coalesce((SELECT (segment, n) < (?, ?) AND idempotent = 0 AND status IN ('started', 'unrecordable')` + newestRecord + `), 0)`
	newestRecord = ` FROM calls AS c INDEXED BY calls_step
		WHERE c.owner = runs.owner AND c.run = runs.run AND c.step = ? AND c.node = ? AND c.ordinal = ? ORDER BY segment DESC, n DESC LIMIT 1`
)

// upsert replaces every column of the row with the same owner and run.
func upsert(insert, columns string) string {
	var sets []string
	for _, c := range strings.Split(columns, ",")[2:] {
		c = strings.TrimSpace(c)
		sets = append(sets, c+" = excluded."+c)
	}
	return insert + " ON CONFLICT (owner, run) DO UPDATE SET " + strings.Join(sets, ", ")
}

// bindCheckpoint scans checkpointColumns, the payload's length and the payload
// (or NULL when it was not asked for).
func bindCheckpoint(payload bool) func(r *row, c *stores.Checkpoint) []any {
	return func(r *row, c *stores.Checkpoint) []any {
		body := column(func(any) {})
		if payload {
			body = r.bytes("payload", &c.Payload)
		}
		return slices.Concat(r.place(&c.Place), []any{
			r.number("step", &c.Step), r.number("base", &c.Base), r.number("segment", &c.Segment),
			r.text("kind", &c.Kind), r.text("flow", &c.Flow), r.text("digest", &c.Digest), r.status(&c.Status),
			r.text("user", &c.User), r.text("thread", &c.Thread), r.text("principal", &c.Principal),
			r.number("calls", &c.Calls), r.number("events", &c.Events), r.time("time", &c.Time),
		}, r.seal(&c.Seal), []any{r.number("payload size", &c.Size), body})
	}
}

func finishCheckpoint(c *stores.Checkpoint, bad string) { c.Bad = bad }

func (p *prepared) checkpoint(c stores.Checkpoint) {
	p.place(c.Place)
	p.numbers(c.Step, c.Base, c.Segment)
	p.texts(c.Kind, c.Flow, c.Digest, string(c.Status))
	p.texts(c.User, c.Thread, c.Principal)
	p.numbers(c.Calls, c.Events, micro(c.Time))
	p.seal(c.Seal)
	p.blobs(c.Payload)
}

// head is for upsertHead, which counts the open calls itself.
func (p *prepared) head(h stores.Head) {
	p.place(h.Place)
	p.numbers(h.Step, h.Base, h.Segment)
	p.texts(h.Kind, h.Flow, h.Digest, string(h.Status))
	p.texts(h.User, h.Thread, h.Principal)
	p.numbers(micro(h.Created), micro(h.Updated))
	p.seal(h.Seal)
	p.openCalls(h)
	p.blobs(h.Payload)
}

// headChange is for changeHead.
func (p *prepared) headChange(h stores.Head) {
	p.numbers(h.Step, h.Base, h.Segment)
	p.texts(string(h.Status))
	p.numbers(micro(h.Updated))
	p.blobs(h.Prev, h.MAC, h.Payload)
}

// openCalls is for openCalls.
func (p *prepared) openCalls(h stores.Head) {
	p.texts(h.Owner, h.Run)
	if h.Status == stores.StatusRunning {
		p.numbers(h.Base)
	} else {
		p.null()
	}
}

func bindCall(r *row, c *stores.Call) []any {
	return slices.Concat(r.place(&c.Place), []any{
		r.number("segment", &c.Segment), r.number("n", &c.N), r.number("step", &c.Step),
		r.text("node", &c.Node), r.number("ordinal", &c.Ordinal), r.text("tool", &c.Tool),
		r.flag("idempotent", &c.Idempotent), r.text("status", (*string)(&c.Status)), r.time("time", &c.Time),
	}, r.seal(&c.Seal), []any{r.bytes("payload", &c.Payload)})
}

func finishCall(c *stores.Call, bad string) { c.Bad = bad }

func (p *prepared) call(c stores.Call) {
	p.place(c.Place)
	p.numbers(c.Segment, c.N, c.Step)
	p.texts(c.Node)
	p.numbers(c.Ordinal)
	p.texts(c.Tool)
	p.numbers(bit(c.Idempotent))
	p.texts(string(c.Status))
	p.numbers(micro(c.Time))
	p.seal(c.Seal)
	p.blobs(c.Payload)
}

func bindEvent(r *row, e *stores.Event) []any {
	return slices.Concat(r.place(&e.Place), []any{
		r.number("n", &e.N), r.number("step", &e.Step), r.text("type", &e.Type), r.time("time", &e.Time),
	}, r.seal(&e.Seal), []any{r.bytes("payload", &e.Payload)})
}

func finishEvent(e *stores.Event, bad string) { e.Bad = bad }

func (p *prepared) event(e stores.Event) {
	p.place(e.Place)
	p.numbers(e.N, e.Step)
	p.texts(e.Type)
	p.numbers(micro(e.Time))
	p.seal(e.Seal)
	p.blobs(e.Payload)
}
