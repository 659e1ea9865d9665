package viewer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// recordBundle is what a finding about the manifest of a bundle is about.
const recordBundle = "bundle"

// bundleState is the manifest of a bundle and what it is worth.
type bundleState struct {
	manifest stores.Manifest
	verdict  Verdict
	why      string
}

// bundled checks the manifest of a bundle, once: it never changes while it is
// open. It is nil for a store that is no bundle.
func (s *Service) bundled(ctx context.Context, a *attachment) *bundleState {
	file, ok := a.store.(stores.Copy)
	if !ok {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bundle != nil {
		return a.bundle
	}
	m, err := file.Manifest(ctx)
	if err != nil {
		return &bundleState{m, Unreadable, "the manifest of the bundle: " + err.Error()}
	}
	verdict, why := engine.CheckManifest(s.o.Keys, m)
	a.bundle = &bundleState{m, Verdict(verdict), why}
	return a.bundle
}

// verifyManifests finds what is wrong with the manifests of attached bundles.
func (s *Service) verifyManifests(ctx context.Context) (found []Finding) {
	for _, a := range s.stores {
		if b := s.bundled(ctx, a); b != nil && b.verdict != Verified {
			found = append(found, Finding{Record: recordBundle, Verdict: b.verdict, Reason: b.why})
		}
	}
	return found
}

// Warnings say what is wrong with the attached stores as a whole: one that was
// given twice, and a bundle whose manifest was changed, which still opens, but
// runs may be missing in it.
func (s *Service) Warnings(ctx context.Context) []string {
	list := slices.Clone(s.twice)
	for _, a := range s.stores {
		if b := s.bundled(ctx, a); b != nil && b.verdict.Bad() {
			list = append(list, a.label+": "+b.why)
		}
	}
	return out(s, list, false)
}

// BundleWriter makes a bundle file.
type BundleWriter interface {
	Add(r stores.Run) error
	Finish(sign func(stores.Manifest) (stores.Seal, error)) (stores.Manifest, error)
	Abort()
}

// ExportRequest says what goes into a bundle.
type ExportRequest struct {
	Refs []Ref
	Note string
	// Create begins the file, for runs of the store with this id.
	Create func(store string, created time.Time, by, note string) (BundleWriter, error)
}

// Exported is a bundle that was made. Its JSON is the contract of `flowtui
// export`, which adds the file.
type Exported struct {
	Store    string        `json:"store"`    // id of the store that the runs are from
	Manifest string        `json:"manifest"` // its SHA-256, hex
	Runs     []ExportedRun `json:"runs"`
	Failed   []Removed     `json:"failed"`
}

// ExportedRun is a run in a bundle. Its verdict is that of the rows, which are
// copied as they are: a run that was tampered with is tampered with there too.
type ExportedRun struct {
	Owner   string  `json:"owner"`
	Run     string  `json:"run"`
	Status  string  `json:"status"`
	Step    int64   `json:"step"`
	Verdict Verdict `json:"verdict"`
}

// Export copies runs of the first attached store into a bundle, each as it was
// at one moment. A run that cannot be copied does not stop the others; when none
// can, there is no bundle.
func (s *Service) Export(ctx context.Context, r ExportRequest, progress func(done, total int)) (Exported, error) {
	a := s.stores[0]
	reader, ok := a.store.(stores.Reader)
	switch {
	case !ok || a.format.Unsigned:
		return Exported{}, Problem{Code: codeRefused, Message: fmt.Sprintf("runs of a %s store cannot be exported: a bundle holds signed runs with their history", a.format.Name)}
	case s.o.Keys == nil:
		return Exported{}, Problem{Code: codeRefused, Message: "a bundle is signed, and no key was given", Hint: "give the key with --key-file, --key-env, --key-cmd or FLOWTUI_KEY_FILE"}
	}
	id := a.id(ctx)
	w, err := r.Create(id, s.now(), s.o.By, r.Note)
	if err != nil {
		return Exported{}, err
	}
	defer w.Abort()
	e := Exported{Store: id, Runs: []ExportedRun{}, Failed: []Removed{}}
	var first error
	for i, ref := range r.Refs {
		if progress != nil {
			progress(i, len(r.Refs))
		}
		run, err := s.export(ctx, a, reader, ref, w)
		if ctx.Err() != nil {
			return Exported{}, ctx.Err()
		}
		if err != nil {
			p := explain(err)
			e.Failed = append(e.Failed, Removed{ref.Owner, ref.Run, &p})
			if first == nil {
				first = err
			}
			continue
		}
		e.Runs = append(e.Runs, run)
	}
	if len(e.Runs) == 0 && first != nil {
		return Exported{}, first
	}
	m, err := w.Finish(func(m stores.Manifest) (stores.Seal, error) { return engine.SignManifest(s.o.Keys, m) })
	if err != nil {
		return Exported{}, err
	}
	e.Manifest = manifestDigest(m)
	return out(s, e, false), nil
}

func manifestDigest(m stores.Manifest) string {
	sum := sha256.Sum256(m.Payload)
	return hex.EncodeToString(sum[:])
}

func (s *Service) export(ctx context.Context, a *attachment, reader stores.Reader, ref Ref, w BundleWriter) (ExportedRun, error) {
	k := stores.Key{Owner: ref.Owner, Run: ref.Run}
	run, err := stores.ReadRun(ctx, reader, k)
	if err != nil {
		return ExportedRun{}, s.absent(ctx, a, k, err)
	}
	if err := run.Check(); err != nil {
		return ExportedRun{}, Problem{Code: codeCorrupt, Run: k.Run, Message: "it cannot be copied as one whole run: " + err.Error(), Hint: "verify lists what is wrong with it"}
	}
	verdict := Verdict(engine.VerifyRun(s.o.Keys, a.id(ctx), run).Verdict)
	return ExportedRun{k.Owner, k.Run, string(run.Head.Status), run.Head.Step, verdict}, w.Add(run)
}
