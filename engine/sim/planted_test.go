package sim

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// planted is one fault of the engine or of the rules for stores that the
// simulation must find, and what it must say of it.
type planted struct {
	name, file string
	old, new   string // old occurs once in the file
	want       string // a regular expression
}

// Not here, because another rule makes it harmless: that an approval is not
// bound to its base step (the decisions of a superstep end with it), that a
// lost lease does not stop a worker (fencing and the compare-and-set do), that a
// conflict of a save is tried again without a look at the run (the next try is a
// conflict too), and that a stop counts as the outcome of a superstep (it is
// saved with the context that has ended).
var faults = []planted{
	{
		"a worker that was cut off still starts calls", "stores/check.go",
		"case r.Status == CallStarted && r.Segment != last.Segment:", "case false:",
		"which was cut off",
	},
	{
		"the outcome of a worker that was cut off is refused", "stores/check.go",
		"case r.Status == CallStarted && r.Segment != last.Segment:", "case r.Segment != last.Segment && r.Status != CallResolved:",
		"outcome of call .* is not in the log",
	},
	{
		"the compare-and-set is off", "stores/check.go",
		"case c.Step != last.Step+1:", "case false:",
		"was saved after step",
	},
	{
		"a worker goes on with a run that was deleted and started anew", "stores/check.go",
		"case c.Incarnation != last.Incarnation:", "case false:",
		"of a run that was deleted|does not verify|is forged",
	},
	{
		"a call is not logged before it runs", "engine/calls.go",
		"if err := s.record(ctx, p); err != nil {\n\t\ts.stop(err)\n\t\treturn nil, err\n\t}\n\tvar value any", "var value any",
		"without a started record",
	},
	{
		"the context's end is recorded as the call's failure", "engine/calls.go",
		"case err == nil || ctx.Err() == nil || ", "case true || ",
		"ended as|which cannot be",
	},
	{
		"the outcome of a worker that must stop is dropped", "engine/calls.go",
		"if p.status == stores.CallStarted {\n\t\tif err := s.stopped()", "if true {\n\t\tif err := s.stopped()",
		"outcome of call .* was dropped",
	},
	{
		"a call record whose reply is lost counts as written", "engine/calls.go",
		"return err == nil && slices.ContainsFunc(rows,", "return err == nil || slices.ContainsFunc(rows,",
		"without a started record|is not in the log|nothing is stored|does not verify",
	},
	{
		"a call record whose reply is lost counts as not written", "engine/calls.go",
		"return err == nil && slices.ContainsFunc(rows,", "return err != nil && slices.ContainsFunc(rows,",
		"lost reply was not looked up",
	},
	{
		"the idempotency key depends on the worker", "engine/calls.go",
		"s.place.Incarnation, strconv.FormatInt(p.base, 10)", "s.place.Incarnation + fmt.Sprint(s.segment), strconv.FormatInt(p.base, 10)",
		"two idempotency keys",
	},
	{
		"the idempotency key does not depend on the call's place", "engine/calls.go",
		"p.node, strconv.FormatInt(p.nth, 10), p.tool.Name", "p.tool.Name",
		"share an idempotency key",
	},
	{
		"the idempotency key depends on the attempt", "engine/calls.go",
		"p.node, strconv.FormatInt(p.nth, 10), p.tool.Name", "p.node, strconv.FormatInt(p.ordinal, 10), p.tool.Name",
		"two idempotency keys",
	},
	{
		"a call begins though its worker was stopped, or lost the run, since its start was logged", "engine/calls.go",
		"err = s.mayBegin(ctx, p)", "err = nil",
		"though it has to stop",
	},
	{
		"a save whose reply is lost counts as written", "engine/session.go",
		"return err == nil && bytes.Equal(now.MAC, c.MAC)", "return err == nil || len(now.MAC)+len(c.MAC) > 0",
		"not stored|is stored|which cannot be|was told",
	},
	{
		"a save whose reply is lost counts as not written", "engine/session.go",
		"return err == nil && bytes.Equal(now.MAC, c.MAC)", "return err == nil && len(now.MAC)+len(c.MAC) == 0",
		"lost reply was not looked up",
	},
	{
		"a save whose reply is lost is tried again", "engine/session.go",
		"if err == nil || s.landed(ctx, w.Checkpoint, err) {", "if err != nil && !certain(err) && try < 5 {\n\t\t\tcontinue\n\t\t}\n\t\tif err == nil {",
		"somebody else did",
	},
	{
		"a decision is spent before it is stored", "engine/resume.go",
		"return s, q, s.save(ctx, q)", "if g.byID != nil {\n\t\treturn s, q, nil\n\t}\n\treturn s, q, s.save(ctx, q)",
		"without a stored approval|it is not stored|which was cut off",
	},
	{
		"a decision on what was seen is taken on what is there", "engine/resume.go",
		`if d.Version != "" && d.Version != l.version() {`, "if false {",
		"having seen step",
	},
	{
		"a resolution of what was seen is taken for what is there", "engine/resume.go",
		`if res.Version != "" && res.Version != l.version() {`, "if false {",
		"acted 2 times|without a decision|ended as|nothing is stored|has the result",
	},
	{
		"who loses a race is not told who won", "engine/resume.go",
		"lastDecision(ctx, r.store, r.keys, l.key, l.events.N, d.ID)", `""`,
		"was not told who won",
	},
	{
		"a replay ignores the arguments", "engine/nodestate.go",
		"old.Tool == p.tool.Name && old.Digest == p.body.Digest", "old.Tool == p.tool.Name",
		"has the result",
	},
	{
		"a call with other arguments is not reported", "engine/nodestate.go",
		"n.note(&n.unreplayed, p.id())", "_ = p",
		"does not report it as unreplayed",
	},
	{
		"finished calls are not replayed", "engine/nodestate.go",
		"ok && old.Finished() {", "ok && old.Finished() && false {",
		"which is done, runs again|which is not open",
	},
	{
		"an approval is not bound to the arguments", "engine/nodestate.go",
		"if d.ID != p.id() || d.Tool != p.tool.Name || d.Base != n.s.base || d.Digest != p.body.Digest {", "if d.ID != p.id() || d.Tool != p.tool.Name || d.Base != n.s.base {",
		"without a stored approval",
	},
	{
		"an approval is not bound to the call", "engine/nodestate.go",
		"if d.ID != p.id() || d.Tool != p.tool.Name || d.Base != n.s.base || d.Digest != p.body.Digest {", "if d.Base != n.s.base || d.Digest != p.body.Digest {",
		"without a stored approval|for a decision|ended as",
	},
	{
		"what is denied runs", "engine/nodestate.go",
		"return false, &DeniedError{Tool: p.tool.Name, By: d.By, Note: d.Note}", "return true, nil",
		"had decided: deny",
	},
	{
		"what is denied at once runs", "engine/approver.go",
		"\t\treturn p.body.Denied.err()\n", "\t\treturn nil\n",
		"without a stored approval",
	},
	{
		"a yes is not logged before the call runs", "engine/approver.go",
		"if err := s.record(ctx, p); err != nil {", "if err := error(nil); err != nil {",
		"a yes that was not logged",
	},
	{
		"calls in doubt run again without a decision", "engine/recover.go",
		"if !mayRerun.means(c) {", "if false {",
		"runs again without a decision",
	},
	{
		"a claim does not read the call log again", "engine/recover.go",
		"return s, s.lookAgain(ctx, b, mayRerun)", "return s, nil",
		"runs again|does not report it as unreplayed",
	},
	// That a call which starts at the last moment counts as one that may run
	// again shows once in some ten thousand seeds: engine's
	// TestRerunMeansWhatWasInDoubt sets that moment up.
	{
		"a claim has no segment of its own", "engine/recover.go",
		"\ts.segment++\n\ts.calls, s.callMAC = 0, nil\n", "",
		"without a claim",
	},
	{
		"an approval of a call that did not run is dropped", "engine/superstep.go",
		"d.Type == DecideApprove && slices.ContainsFunc(outcomes, func(o outcome) bool { return o.state.ran[d.ID] })", "d.Type == DecideApprove",
		"which is not open",
	},
	{
		"an approval of a call that failed lets it run again", "engine/execute.go",
		"s.decisions, s.again = s.unspent(outcomes), s.stillAgain(outcomes)", "s.again = s.stillAgain(outcomes)",
		"without a stored approval",
	},
	{
		"what a run is held for is not tried again", "engine/execute.go",
		"&& slices.Contains(b.Again, c.ID)", "&& slices.Contains(b.Again, c.ID+b.Worker)",
		"does not come to an end|is held at",
	},
	{
		"a failed call that an error edge took runs again after a hold", "engine/execute.go",
		"if !s.g.hasErrorEdge(o.run.Node) {", "if o.run.Node != \"\" {",
		"whose error an edge takes",
	},
	{
		"whoever brings on all runs tries what is not idempotent again", "engine/recover.go",
		"\to.Unattended = true\n", "",
		"which is not idempotent",
	},
	{
		"a pause forgets what a hold was made of", "engine/superstep.go",
		"s.decisions, s.again = s.unspent(outcomes), s.stillAgain(outcomes)", "s.decisions, s.again = s.unspent(outcomes), nil",
		"is held by an old error",
	},
	{
		"who said no is asked again by the next attempt", "engine/nodestate.go",
		"|| t.Approval == tool.ApprovalRequired", "|| t.Approval == tool.ApprovalRequired && false",
		"ended as|which cannot be",
	},
	{
		"two items of a map share the names of their calls", "engine/map.go",
		"fmt.Sprint(i), i, 0)", "fmt.Sprint(0), i, 0)",
		"without a started record|acted 2 times|which is done|ended as|which cannot be|has the result",
	},
	{
		"the rest of a reply runs after a no", "engine/loop_nodes.go",
		"if denied != nil {\n\t\t\ttext =", "if denied != nil && s == nil {\n\t\t\ttext =",
		"ended as|which cannot be",
	},
	{
		"a later visit in a container has the names of the first", "engine/nodestate.go",
		"	if visits > 0 {", "	if visits < 0 {",
		"without a started record|ended as|which cannot be|has the result",
	},
	{
		"a container goes on beside a wait in it", "engine/subflow.go",
		"return errors.Is(err, errPaused) }) {", "return err != nil && errors.Is(err, errClosed) }) {",
		"ended as|which cannot be|without a stored approval",
	},
	{
		"half of a run that came and went is read", "engine/verify.go",
		"after == before && !ended && (l.life == after && l.last != nil || try == lives)", "after == before && (ended || !ended)",
		"does not verify|finds gap",
	},
	{
		"half of a resolution is read", "engine/chain.go",
		"e.Type == EventResolved && !c.newer && decodeBody", "e.Type == EventResolved && decodeBody",
		"does not verify|finds gap",
	},
}

// plantedSeeds is how many seeds each planted fault may stay hidden.
const plantedSeeds = "8000"

// TestPlantedFaultsFitTheCode: who changes a line that a fault is planted in
// learns it at once.
func TestPlantedFaultsFitTheCode(t *testing.T) {
	for _, f := range faults {
		if _, n := f.read(t); n != 1 {
			t.Errorf("%s: %s has the text to change %d times, bring the fault up to date:\n%s", f.name, f.file, n, f.old)
		}
	}
}

// read returns the real file, and how often the text to change is in it.
func (f planted) read(t *testing.T) (string, int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(f.file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text), strings.Count(string(text), f.old)
}

// TestPlantedFaultsAreFound: a simulation that finds nothing proves nothing. The
// compiler gets the changed file in place of the real one, so the engine needs
// no hooks.
func TestPlantedFaultsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the engine once for each fault")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := simulateWith(t, root, map[string]string{}, "50"); err != nil {
		t.Fatalf("without a planted fault: %v\n%s", err, out)
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			real := filepath.Join(root, filepath.FromSlash(f.file))
			text, n := f.read(t)
			if n != 1 {
				t.Fatalf("%s has the text to change %d times", f.file, n)
			}
			changed := filepath.Join(t.TempDir(), filepath.Base(real))
			if err := os.WriteFile(changed, []byte(strings.Replace(text, f.old, f.new, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := simulateWith(t, root, map[string]string{real: changed}, plantedSeeds)
			found := regexp.MustCompile(`(?m)seed \d+: .*`).FindString(out)
			switch {
			case err == nil:
				t.Errorf("it is not found in %s seeds", plantedSeeds)
			case found == "":
				t.Errorf("it fails for another reason: %v\n%s", err, out)
			case !regexp.MustCompile("(?s)seed \\d+: [^\\n]*?(" + f.want + ")").MatchString(out):
				t.Errorf("it is found as %q, want %q", found, f.want)
			default:
				t.Log(found)
			}
		})
	}
}

// withDrivers are the files that need the drivers, which would all be built
// anew for each planted fault.
var withDrivers = []string{"stores_test.go", "stores_planted_test.go"}

// simulateWith runs the simulation with some files of the module replaced.
func simulateWith(t *testing.T, root string, replace map[string]string, seeds string) (string, error) {
	t.Helper()
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	all := maps.Clone(replace)
	for _, name := range withDrivers {
		all[filepath.Join(root, "engine", "sim", name)] = "" // as if it were not there
	}
	list, err := json.Marshal(map[string]any{"Replace": all})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-run", "^TestSimulation$", "-count=1", "-vet=off", "./engine/sim", "-sim.seeds", seeds)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}
