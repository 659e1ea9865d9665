package postgres

import (
	"strings"
	"testing"

	"github.com/flowtui/flowtui/stores"
)

// populated has 20,000 runs, of which one in a hundred is open; status, owner
// and flow take turns.
func populated(t *testing.T) *Store {
	t.Helper()
	s := internalStore(t)
	for _, sql := range []string{
		`INSERT INTO {runs} (` + headColumns + `, open) SELECT 'owner' || (i % 10), 'run ' || i, 'store', 'first', 1, 1, 1, 'step',
			'flow' || (i % 7), 'digest', CASE i / 100 % 4 WHEN 0 THEN 'running' WHEN 1 THEN 'paused' WHEN 2 THEN 'done' ELSE 'failed' END,
			'', '', '', i, i * 1000, 1, 'key', repeat('m', 32)::bytea, repeat('m', 32)::bytea, repeat('p', 200)::bytea, (i % 100 = 0)::int
			FROM generate_series(0, 19999) AS i`,
		`INSERT INTO {leases} SELECT owner, run, 'worker', updated FROM {runs}`,
		`INSERT INTO {calls} (` + callColumns + `) SELECT 'o', 'run ' || i % 5, 'store', 'first', 1, i, i / 50, 'node', i, 'tool', false, 'done', i,
			1, 'key', '', repeat('m', 32)::bytea, '' FROM generate_series(1, 10000) AS i`,
		`INSERT INTO {checkpoints} (` + checkpointColumns + `, payload) SELECT 'o', 'run ' || i % 5, 'store', 'first', i, i, 1, 'step', 'flow', 'digest',
			'running', '', '', '', 0, 0, i, 1, 'key', '', repeat('m', 32)::bytea, '' FROM generate_series(1, 10000) AS i`,
		`ANALYZE {runs}`, `ANALYZE {leases}`, `ANALYZE {calls}`, `ANALYZE {checkpoints}`,
	} {
		if _, err := s.read(t.Context(), ask(sql)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func explain(t *testing.T, s *Store, sql string, args ...any) string {
	t.Helper()
	results, err := s.read(t.Context(), ask("EXPLAIN "+sql, args...))
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var plan strings.Builder
	for _, r := range results[0].Rows {
		plan.Write(r[0])
		plan.WriteByte('\n')
	}
	return plan.String()
}

// walks fails the test unless a plan reads indexes only, in their order.
func walks(t *testing.T, name, plan string) {
	t.Helper()
	for _, bad := range []string{"Sort", "Seq Scan", "Bitmap", "Hash"} {
		if strings.Contains(plan, bad) {
			t.Errorf("%s: there is a %s in the plan\n%s", name, bad, plan)
		}
	}
	if !strings.Contains(plan, "Index Scan") && !strings.Contains(plan, "Index Only Scan") {
		t.Errorf("%s: no index in the plan\n%s", name, plan)
	}
}

// TestListWalksAnIndex: no list sorts or reads the whole table, neither for the
// first page nor for a later one.
func TestListWalksAnIndex(t *testing.T) {
	s := populated(t)
	any := stores.AnyOwner
	at := int64(10_000_000)
	for name, f := range map[string]stores.Filter{
		"all":             {Owner: any},
		"status":          {Owner: any, Statuses: []stores.Status{stores.StatusPaused}},
		"two statuses":    {Owner: any, Statuses: []stores.Status{stores.StatusRunning, stores.StatusPaused}},
		"owner":           {Owner: "owner3"},
		"flow":            {Owner: any, Flow: "flow3"},
		"open":            {Owner: any, Open: true},
		"text":            {Owner: any, Text: "7"},
		"status and flow": {Owner: any, Statuses: []stores.Status{stores.StatusDone}, Flow: "flow3"},
	} {
		for page, after := range map[string]*cursor{"first": nil, "later": {&at, "owner3", "run 3"}} {
			sql, args := pageQuery(f, after, 101)
			plan := explain(t, s, sql, args...)
			walks(t, name+", "+page+" page", plan)
			if strings.Contains(plan, "checkpoints") {
				t.Errorf("%s: the list reads checkpoints:\n%s", name, plan)
			}
			if page == "later" && !strings.Contains(plan, "updated <= ") {
				t.Errorf("%s: a later page does not seek to its place:\n%s", name, plan)
			}
		}
	}
}

// TestInDoubtWalksAnIndex: that open runs are running does not make the planner
// read and sort them all, though it takes the two for independent of each other.
func TestInDoubtWalksAnIndex(t *testing.T) {
	s := populated(t)
	for _, sql := range []string{
		`UPDATE {runs} SET status = CASE WHEN created % 50 = 0 THEN 'running' ELSE 'done' END, open = (created % 50 = 0)::int`,
		`VACUUM ANALYZE {runs}`,
	} {
		if _, err := s.read(t.Context(), ask(sql)); err != nil {
			t.Fatal(err)
		}
	}
	for _, owner := range []string{stores.AnyOwner, "owner0"} {
		sql, args := pageQuery(stores.Filter{Owner: owner, Statuses: []stores.Status{stores.StatusRunning}, Open: true}, nil, 101)
		walks(t, "in doubt of "+owner, explain(t, s, sql, args...))
	}
}

// TestOneRunIsFoundByItsKey: what is read and written of one run does not
// depend on how many rows there are of others.
func TestOneRunIsFoundByItsKey(t *testing.T) {
	s := populated(t)
	for name, sql := range map[string]string{
		"latest":           `SELECT step FROM {checkpoints} WHERE owner = $1 AND run = $2 ORDER BY step DESC LIMIT 1`,
		"lock":             lockHead,
		"head":             selectHeads + `r.owner = $1 AND r.run = $2`,
		"history":          `SELECT step FROM {checkpoints} WHERE owner = $1 AND run = $2 AND step >= 9000 ORDER BY step LIMIT 100`,
		"record of a call": `SELECT status FROM {calls} WHERE owner = $1 AND run = $2 AND step = 100 AND node = 'node' AND ordinal = 5000`,
		"events":           `SELECT n FROM {events} WHERE owner = $1 AND run = $2 AND n > 5 ORDER BY n LIMIT 100`,
	} {
		walks(t, name, explain(t, s, sql, "o", "run 1"))
	}
}

// TestAWriteReadsTheCallsOfItsStep: neither a save nor a record reads the other
// calls of the run, also before the server has statistics.
func TestAWriteReadsTheCallsOfItsStep(t *testing.T) {
	place := stores.Place{Key: stores.Key{Owner: "o", Run: "run 1"}, Store: "store", Incarnation: "first"}
	one := []stores.Event{{Place: place}}
	next := stores.Checkpoint{Place: place, Step: 100, Status: stores.StatusRunning}
	for name, s := range map[string]*Store{"new": internalStore(t), "populated": populated(t)} {
		for what, st := range map[string]statement{
			"step":   saving(stores.Save{Checkpoint: next, Events: one}),
			"save":   saving(stores.Save{Checkpoint: next, Calls: make([]stores.Call, 1)}),
			"first":  saving(stores.Save{Checkpoint: stores.Checkpoint{Place: place, Status: stores.StatusRunning}}),
			"record": recording(stores.CallWrite{Call: stores.Call{Place: place, Step: 100, Node: "node", Ordinal: 5000}}),
			"told":   recording(stores.CallWrite{Call: stores.Call{Place: place, Step: 100, Node: "node", Ordinal: 5000}, Events: one}),
		} {
			plan := explain(t, s, st.sql, st.args...)
			if !strings.Contains(plan, "calls_step") || strings.Contains(plan, "calls_pkey") || strings.Contains(plan, "Seq Scan") {
				t.Errorf("%s store, %s: the plan is\n%s", name, what, plan)
			}
		}
	}
}
