package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// Each table has its list of columns, what reads them and what is bound to
// them, one below the other because their order must agree.

const (
	checkpointColumns = `owner, run, store, incarnation, step, base, segment, kind, flow, digest, status,
		"user", thread, principal, calls, events, time, format, key_id, prev, mac`
	headColumns = `owner, run, store, incarnation, step, base, segment, kind, flow, digest, status,
		"user", thread, principal, created, updated, format, key_id, prev, mac, payload`
	callColumns = `owner, run, store, incarnation, segment, n, step, node, ordinal, tool, idempotent, status, time,
		format, key_id, prev, mac, payload`
	eventColumns = `owner, run, store, incarnation, n, step, type, time, format, key_id, prev, mac, payload`
)

// placeColumns is how many columns of every table say whose row it is.
const placeColumns = 4

// columnTypes are the types of all columns that are not text.
var columnTypes = map[string]string{
	"step": "bigint", "base": "bigint", "segment": "bigint", "calls": "bigint", "events": "bigint", "time": "bigint", "format": "bigint",
	"created": "bigint", "updated": "bigint", "open": "bigint", "n": "bigint", "ordinal": "bigint", "expires": "bigint",
	"prev": "bytea", "mac": "bytea", "payload": "bytea", "graph": "bytea", "idempotent": "boolean",
}

// tableColumns are the columns that a table must have.
var tableColumns = map[string][]string{
	"meta":        {"key", "value"},
	"checkpoints": split(checkpointColumns + ", payload"),
	"runs":        split(headColumns + ", open"),
	"calls":       split(callColumns),
	"events":      split(eventColumns),
	"graphs":      {"digest", "graph"},
	"leases":      {"owner", "run", "holder", "expires"},
}

func split(columns string) []string {
	list := strings.Split(columns, ",")
	for i, c := range list {
		list[i] = strings.Trim(strings.TrimSpace(c), `"`)
	}
	return list
}

// marks are the places of n arguments, "$from, …".
func marks(from, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("$%d", from+i)
	}
	return strings.Join(list, ", ")
}

// of names columns of one table, "c.owner, c.run, …".
func of(table, columns string) string {
	list := strings.Split(columns, ",")
	for i, c := range list {
		list[i] = table + "." + strings.TrimSpace(c)
	}
	return strings.Join(list, ", ")
}

// bindCheckpoint reads checkpointColumns, the payload's length and, if it was
// asked for, the payload.
func bindCheckpoint(payload bool) func(r *row, c *stores.Checkpoint) []column {
	return func(r *row, c *stores.Checkpoint) []column {
		columns := slices.Concat(r.place(&c.Place), []column{
			r.number("step", &c.Step), r.number("base", &c.Base), r.number("segment", &c.Segment),
			r.text("kind", &c.Kind), r.text("flow", &c.Flow), r.text("digest", &c.Digest), r.status(&c.Status),
			r.text("user", &c.User), r.text("thread", &c.Thread), r.text("principal", &c.Principal),
			r.number("calls", &c.Calls), r.number("events", &c.Events), r.time("time", &c.Time),
		}, r.seal(&c.Seal), []column{r.number("payload size", &c.Size)})
		if payload {
			columns = append(columns, r.bytes("payload", &c.Payload))
		}
		return columns
	}
}

func finishCheckpoint(c *stores.Checkpoint, bad string) { c.Bad = bad }

func checkpointArgs(c stores.Checkpoint) []any {
	return slices.Concat(placeArgs(c.Place), []any{
		c.Step, c.Base, c.Segment,
		c.Kind, c.Flow, c.Digest, string(c.Status),
		c.User, c.Thread, c.Principal,
		c.Calls, c.Events, micro(c.Time),
	}, sealArgs(c.Seal), []any{blob(c.Payload)})
}

// headArgs are those that a head has beside the ones of its checkpoint.
func headArgs(h stores.Head) []any {
	return slices.Concat([]any{
		h.Kind, h.Flow, h.Digest,
		h.User, h.Thread, h.Principal,
		micro(h.Created), micro(h.Updated),
	}, sealArgs(h.Seal), []any{blob(h.Payload)})
}

func bindCall(r *row, c *stores.Call) []column {
	return slices.Concat(r.place(&c.Place), []column{
		r.number("segment", &c.Segment), r.number("n", &c.N), r.number("step", &c.Step),
		r.text("node", &c.Node), r.number("ordinal", &c.Ordinal), r.text("tool", &c.Tool),
		r.flag("idempotent", &c.Idempotent), r.text("status", (*string)(&c.Status)), r.time("time", &c.Time),
	}, r.seal(&c.Seal), []column{r.bytes("payload", &c.Payload)})
}

func finishCall(c *stores.Call, bad string) { c.Bad = bad }

func callArgs(c stores.Call) []any {
	return slices.Concat(placeArgs(c.Place), []any{
		c.Segment, c.N, c.Step,
		c.Node, c.Ordinal, c.Tool,
		c.Idempotent, string(c.Status), micro(c.Time),
	}, sealArgs(c.Seal), []any{blob(c.Payload)})
}

// callList is the columns of call records after their place, one array each.
const callList = `segment, n, step, node, ordinal, tool, idempotent, status, time, format, key_id, prev, mac, payload`

func callArrays(calls []stores.Call) []any {
	return []any{
		each(calls, func(c stores.Call) int64 { return c.Segment }),
		each(calls, func(c stores.Call) int64 { return c.N }),
		each(calls, func(c stores.Call) int64 { return c.Step }),
		each(calls, func(c stores.Call) string { return c.Node }),
		each(calls, func(c stores.Call) int64 { return c.Ordinal }),
		each(calls, func(c stores.Call) string { return c.Tool }),
		each(calls, func(c stores.Call) bool { return c.Idempotent }),
		each(calls, func(c stores.Call) string { return string(c.Status) }),
		each(calls, func(c stores.Call) int64 { return micro(c.Time) }),
		each(calls, func(c stores.Call) int64 { return int64(c.Format) }),
		each(calls, func(c stores.Call) string { return c.KeyID }),
		each(calls, func(c stores.Call) []byte { return c.Prev }),
		each(calls, func(c stores.Call) []byte { return c.MAC }),
		each(calls, func(c stores.Call) []byte { return c.Payload }),
	}
}

func bindEvent(r *row, e *stores.Event) []column {
	return slices.Concat(r.place(&e.Place), []column{
		r.number("n", &e.N), r.number("step", &e.Step), r.text("type", &e.Type), r.time("time", &e.Time),
	}, r.seal(&e.Seal), []column{r.bytes("payload", &e.Payload)})
}

func finishEvent(e *stores.Event, bad string) { e.Bad = bad }

// eventList is callList for events.
const eventList = `n, step, type, time, format, key_id, prev, mac, payload`

func eventArrays(events []stores.Event) []any {
	return []any{
		each(events, func(e stores.Event) int64 { return e.N }),
		each(events, func(e stores.Event) int64 { return e.Step }),
		each(events, func(e stores.Event) string { return e.Type }),
		each(events, func(e stores.Event) int64 { return micro(e.Time) }),
		each(events, func(e stores.Event) int64 { return int64(e.Format) }),
		each(events, func(e stores.Event) string { return e.KeyID }),
		each(events, func(e stores.Event) []byte { return e.Prev }),
		each(events, func(e stores.Event) []byte { return e.MAC }),
		each(events, func(e stores.Event) []byte { return e.Payload }),
	}
}

func each[R, V any](rows []R, value func(R) V) []V {
	list := make([]V, len(rows))
	for i, r := range rows {
		list[i] = value(r)
	}
	return list
}
