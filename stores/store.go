package stores

import (
	"context"
	"time"
)

// Store is the core protocol. Every call obeys its context.
type Store interface {
	// Info says what the store is. It reads, and never creates.
	Info(ctx context.Context) (Info, error)
	// Save writes one checkpoint and all that belongs to it, or nothing.
	// ErrConflict when the compare-and-set fails.
	Save(ctx context.Context, s Save) error
	// Latest returns the run's newest checkpoint (greatest step), payload
	// included, or ErrNotFound.
	Latest(ctx context.Context, k Key) (Checkpoint, error)
	// ListUnfinished returns the heads of all runs that are running or paused,
	// oldest update first. The owner may be AnyOwner.
	ListUnfinished(ctx context.Context, owner string) ([]Head, error)
	// Delete removes every row of a run. Deleting what is not there is ErrNotFound.
	Delete(ctx context.Context, k Key) error
	// RecordCall appends one record to the call log, with the events that
	// belong to it, in one transaction. A number that is taken is ErrConflict,
	// and so is a started record of a worker that was cut off.
	RecordCall(ctx context.Context, w CallWrite) error
	// Calls returns the call records with Step >= since, ordered by segment and
	// number. since 0 gives all.
	Calls(ctx context.Context, k Key, since int64) ([]Call, error)
	// Close releases the store. Closing twice is no error.
	Close() error
}

// Save is one compare-and-set write.
type Save struct {
	Checkpoint Checkpoint
	Head       Head
	Calls      []Call  // records that share the checkpoint's commit
	Events     []Event // events that belong to the checkpoint
	Graph      []byte  // topology for Checkpoint.Digest, stored once; may be nil
}

// CallWrite is one write to the call log.
type CallWrite struct {
	Call   Call
	Events []Event
}

// Info describes an opened store.
type Info struct {
	Format   string // "sqlite", "memory", …
	Location string // where it is, without any password
	ID       string // random id made when the store was created, "" before the first write
	Version  int    // schema version, 0 before the first write
	ReadOnly bool   // nothing can be written through this handle
	Why      string // why it is read-only, "" when it is not
}

// Filter selects runs. The zero Filter selects nothing by owner: set Owner to
// AnyOwner for all.
type Filter struct {
	Owner    string
	Statuses []Status // empty: any
	Open     bool     // only runs with calls that may be in doubt
	Flow     string   // exact, "" for any
	Text     string   // literal substring of the run id, case-insensitive for ASCII
}

// Query asks for one page of runs, newest update first (then owner, then run).
type Query struct {
	Filter
	Limit  int    // 1 to 1000; 0 means 100
	Cursor string // Page.Next of the page before, "" for the first
}

// Page is one page of heads. Next is "" on the last page.
type Page struct {
	Heads []Head
	Next  string
}

// Counts are numbers of runs by status. Open is part of Running.
type Counts struct {
	ByStatus map[Status]int64
	Open     int64
}

// Lister gives filtered, keyset-paged lists. A page costs the page and never
// reads a checkpoint's payload. A bad cursor is ErrInvalid.
type Lister interface {
	List(ctx context.Context, q Query) (Page, error)
	Count(ctx context.Context, f Filter) (Counts, error)
	// Head returns one run's head, or ErrNotFound.
	Head(ctx context.Context, k Key) (Head, error)
	// Owners returns every owner that has a run, sorted.
	Owners(ctx context.Context) ([]string, error)
}

// Auditor finds what no list shows.
type Auditor interface {
	// Orphans returns, sorted, the runs of an owner (or AnyOwner) that have rows
	// but no head. It may read every key of the store, and reads no payload.
	Orphans(ctx context.Context, owner string) ([]Key, error)
}

// HistoryQuery asks for saved steps in ascending order.
type HistoryQuery struct {
	From    int64 // first step
	Limit   int   // 0 means 1000
	Payload bool  // false leaves Payload nil and sets Size only
}

// Historian gives every saved step of a run.
type Historian interface {
	History(ctx context.Context, k Key, q HistoryQuery) ([]Checkpoint, error)
	// At returns one step with its payload, or ErrNotFound.
	At(ctx context.Context, k Key, step int64) (Checkpoint, error)
}

// EventLog gives a run's events.
type EventLog interface {
	// Events returns the events with N > after in order, at most limit (0 means 1000).
	Events(ctx context.Context, k Key, after int64, limit int) ([]Event, error)
}

// Grapher gives the topology of a flow by its digest, or ErrNotFound.
type Grapher interface {
	Graph(ctx context.Context, digest string) ([]byte, error)
}

// Watcher gives a notice for every change, coalesced: a slow reader gets one
// notice for many changes. The channel closes when ctx ends or the store closes.
type Watcher interface {
	Watch(ctx context.Context) (<-chan struct{}, error)
}

// Leaser says who works on a run now, by the store's clock.
type Leaser interface {
	// Acquire takes or extends the run's lease for holder. It is ErrConflict
	// while another holder's lease is live, unless force is set.
	Acquire(ctx context.Context, k Key, holder string, ttl time.Duration, force bool) (Lease, error)
	// Renew extends holder's lease; ErrConflict when another holder has it.
	Renew(ctx context.Context, k Key, holder string, ttl time.Duration) (Lease, error)
	// Release ends holder's lease; it is no error when holder has none.
	Release(ctx context.Context, k Key, holder string) error
	// Lease returns the run's lease, or nil when there is none.
	Lease(ctx context.Context, k Key) (*Lease, error)
}

// Remover deletes a run only as it was seen.
type Remover interface {
	// DeleteAt is Delete for a run whose newest checkpoint is still the one of
	// this incarnation and step. ErrConflict when it is another one,
	// ErrUnreadable when it cannot be read; then nothing is deleted.
	DeleteAt(ctx context.Context, k Key, incarnation string, step int64) error
}

// Importer takes over whole runs from other stores.
type Importer interface {
	// Import writes all rows of a run that is not there, or nothing. ErrConflict
	// when there is any row of a run of this owner and id, ErrInvalid when the
	// rows are not one whole run, see [Run.Check]. The rows are kept as they are,
	// though they may name another store. Head.Open is counted anew.
	Import(ctx context.Context, r Run) error
}

// Copy is a store that is a signed copy of runs of another one: a bundle.
type Copy interface {
	// Manifest returns what the copy says of itself.
	Manifest(ctx context.Context) (Manifest, error)
}

// Manifest says what a bundle holds. Its Seal covers Store, Runs, Created and
// the exact bytes of Payload; Prev is empty.
type Manifest struct {
	Store   string    // id of the store that the runs were copied from
	Created time.Time // when
	Runs    int64     // how many it names
	By      string
	Note    string
	Payload []byte // the manifest as it is stored
	Seal
	Bad string // why the manifest cannot be relied on, "" for a sound one
}

// Preparer makes an empty store ready for its first write: tables, and the id
// that Info reports. It is called by who is about to write, never by attaching.
type Preparer interface {
	Prepare(ctx context.Context) error
}

// Examiner tells what an operator has to know of a store beside its runs.
type Examiner interface {
	// Examine reads a little, and never writes.
	Examine(ctx context.Context) (Examination, error)
}

// Examination is how a store stands, as its driver sees it.
type Examination struct {
	Clock time.Time // of the store when it was asked; zero for one that uses the caller's
	Bytes int64     // that the store takes, -1 when that cannot be told
	Facts []Fact    // in the order in which they are told
}

// Fact is one thing about a store.
type Fact struct {
	Name    string
	Value   string
	Problem string // what is wrong with it and what to do, one sentence; "" for nothing
}

// Expirer tells when a store drops a run by itself.
type Expirer interface {
	// Expires returns when all rows of the run will be gone unless it is written
	// to before, by the store's clock. ok is false for a run that stays.
	// ErrNotFound when there is no such run. Asking does not make it live longer.
	Expires(ctx context.Context, k Key) (at time.Time, ok bool, err error)
}
