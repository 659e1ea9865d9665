package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/stores"
)

// populate inserts heads only, straight into the table. One run in a hundred
// is open, and status, owner and flow take turns.
func populate(t testing.TB, n int) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), Options{Create: true, Synchronous: "NORMAL"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	err = s.write(t.Context(), "populate", stores.Key{}, func(x tx) error {
		_, err := x.exec(`WITH RECURSIVE i (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM i WHERE i < ? - 1)
			INSERT INTO runs (`+headColumns+`)
			SELECT 'owner' || (i % 10), 'run ' || i, 'store', 'first', 1, 1, 1, 'step', 'flow' || (i % 7), 'digest',
				CASE i % 4 WHEN 0 THEN 'running' WHEN 1 THEN 'paused' WHEN 2 THEN 'done' ELSE 'failed' END,
				'', '', '', i, i * 1000, 1, 'key', zeroblob(32), zeroblob(32), i % 100 = 0, zeroblob(200) FROM i`, n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// listedBy are the ways to list that must not cost more than a page.
var listedBy = map[string]stores.Filter{
	"all":              {Owner: stores.AnyOwner},
	"status":           {Owner: stores.AnyOwner, Statuses: []stores.Status{stores.StatusPaused}},
	"owner":            {Owner: "owner3"},
	"flow":             {Owner: stores.AnyOwner, Flow: "flow3"},
	"open":             {Owner: stores.AnyOwner, Open: true},
	"owner and status": {Owner: "owner3", Statuses: []stores.Status{stores.StatusFailed}},
	"owner and done":   {Owner: "owner3", Statuses: []stores.Status{stores.StatusDone}},
	"owner and open":   {Owner: "owner3", Statuses: []stores.Status{stores.StatusRunning}, Open: true},
	"several":          {Owner: "owner4", Flow: "flow3", Statuses: []stores.Status{stores.StatusRunning}, Open: true},
}

// TestListWalksAnIndex: no list sorts or reads the whole table, neither for
// the first page nor for a later one.
func TestListWalksAnIndex(t *testing.T) {
	s := populate(t, 1000)
	for name, f := range listedBy {
		for _, after := range []*cursor{nil, {int64(500_000), "owner3", "run 3"}} {
			query, args := pageQuery(f, statuses(f)[0], after, 101)
			plan := explain(t, s, query, args...)
			if strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN r\n") {
				t.Errorf("%s: the plan is\n%s", name, plan)
			}
			if seeks := strings.Contains(plan, "SEARCH r USING INDEX"); after != nil && !seeks {
				t.Errorf("%s: a later page does not seek to its place:\n%s", name, plan)
			}
			if strings.Contains(plan, "checkpoints") {
				t.Errorf("%s: the list reads checkpoints:\n%s", name, plan)
			}
		}
	}
}

// TestOwnersTabsWalkFewRows: the many runs of an owner that are done are not
// walked for the few that are not, nor the runs of all owners for one's that are done.
func TestOwnersTabsWalkFewRows(t *testing.T) {
	s := populate(t, 1)
	for status, index := range map[stores.Status]string{
		stores.StatusRunning: "runs_status", stores.StatusPaused: "runs_status", stores.StatusFailed: "runs_status", stores.StatusDone: "runs_owner",
	} {
		query, args := pageQuery(stores.Filter{Owner: "owner0"}, status, nil, 101)
		if plan := explain(t, s, query, args...); !strings.Contains(plan, "USING INDEX "+index+" (") {
			t.Errorf("%s: want the index %s, the plan is\n%s", status, index, plan)
		}
	}
}

// TestCallLogUsesItsIndex: neither reading the calls of the last step nor
// recording one more depends on how many calls the run has.
func TestCallLogUsesItsIndex(t *testing.T) {
	s := create(t, Options{})
	plan := explain(t, s, `SELECT status FROM calls INDEXED BY calls_step
		WHERE owner = 'o' AND run = 'r' AND step = 1 AND node = 'n' AND ordinal = 1 ORDER BY segment DESC, n DESC LIMIT 1`)
	if strings.Contains(plan, "TEMP B-TREE") || !strings.Contains(plan, "ordinal=?") {
		t.Errorf("the newest record of a call is found by\n%s", plan)
	}
	plan = explain(t, s, `SELECT status FROM calls INDEXED BY calls_step WHERE owner = 'o' AND run = 'r' AND step >= 1`)
	if !strings.Contains(plan, "step>?") {
		t.Errorf("the calls of the last steps are found by\n%s", plan)
	}
}

func explain(t testing.TB, s *Store, query string, args ...any) string {
	t.Helper()
	var plan strings.Builder
	err := s.read(t.Context(), "explain", stores.Key{}, func(ctx context.Context, db *sql.DB) error {
		rows, err := db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return err
			}
			plan.WriteString(detail + "\n")
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
