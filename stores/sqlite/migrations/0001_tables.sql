-- Tables are not STRICT and have few constraints: a row that somebody spoiled
-- must stay readable as far as possible. Payloads come last, so that reading
-- the columns before them touches no overflow page.

CREATE TABLE meta (
	key   TEXT PRIMARY KEY NOT NULL,
	value NOT NULL
) WITHOUT ROWID;

CREATE TABLE checkpoints (
	owner       TEXT    NOT NULL,
	run         TEXT    NOT NULL,
	store       TEXT    NOT NULL,
	incarnation TEXT    NOT NULL,
	step        INTEGER NOT NULL,
	base        INTEGER NOT NULL,
	segment     INTEGER NOT NULL,
	kind        TEXT    NOT NULL,
	flow        TEXT    NOT NULL,
	digest      TEXT    NOT NULL,
	status      TEXT    NOT NULL,
	user        TEXT    NOT NULL,
	thread      TEXT    NOT NULL,
	principal   TEXT    NOT NULL,
	calls       INTEGER NOT NULL,
	events      INTEGER NOT NULL,
	time        INTEGER NOT NULL, -- microseconds since 1970, UTC, as everywhere
	format      INTEGER NOT NULL,
	key_id      TEXT    NOT NULL,
	prev        BLOB    NOT NULL,
	mac         BLOB    NOT NULL,
	payload     BLOB    NOT NULL,
	PRIMARY KEY (owner, run, step)
);

-- The head of every run: what lists show.
CREATE TABLE runs (
	owner       TEXT    NOT NULL,
	run         TEXT    NOT NULL,
	store       TEXT    NOT NULL,
	incarnation TEXT    NOT NULL,
	step        INTEGER NOT NULL,
	base        INTEGER NOT NULL,
	segment     INTEGER NOT NULL,
	kind        TEXT    NOT NULL,
	flow        TEXT    NOT NULL,
	digest      TEXT    NOT NULL,
	status      TEXT    NOT NULL,
	user        TEXT    NOT NULL,
	thread      TEXT    NOT NULL,
	principal   TEXT    NOT NULL,
	created     INTEGER NOT NULL,
	updated     INTEGER NOT NULL,
	format      INTEGER NOT NULL,
	key_id      TEXT    NOT NULL,
	prev        BLOB    NOT NULL,
	mac         BLOB    NOT NULL,
	open        INTEGER NOT NULL, -- calls that may be in doubt, not signed
	payload     BLOB    NOT NULL,
	PRIMARY KEY (owner, run)
);

-- One index per way to list: each gives a page in its order, without a sort.
CREATE INDEX runs_updated ON runs (updated DESC, owner, run);
CREATE INDEX runs_status  ON runs (status, updated DESC, owner, run);
CREATE INDEX runs_owner   ON runs (owner, updated DESC, run);
CREATE INDEX runs_flow    ON runs (flow, updated DESC, owner, run);
CREATE INDEX runs_open    ON runs (updated DESC, owner, run) WHERE open > 0;

CREATE TABLE calls (
	owner       TEXT    NOT NULL,
	run         TEXT    NOT NULL,
	store       TEXT    NOT NULL,
	incarnation TEXT    NOT NULL,
	segment     INTEGER NOT NULL,
	n           INTEGER NOT NULL,
	step        INTEGER NOT NULL,
	node        TEXT    NOT NULL,
	ordinal     INTEGER NOT NULL,
	tool        TEXT    NOT NULL,
	idempotent  INTEGER NOT NULL,
	status      TEXT    NOT NULL,
	time        INTEGER NOT NULL,
	format      INTEGER NOT NULL,
	key_id      TEXT    NOT NULL,
	prev        BLOB    NOT NULL,
	mac         BLOB    NOT NULL,
	payload     BLOB    NOT NULL,
	PRIMARY KEY (owner, run, segment, n)
) WITHOUT ROWID;

CREATE INDEX calls_step ON calls (owner, run, step, node, ordinal);

CREATE TABLE events (
	owner       TEXT    NOT NULL,
	run         TEXT    NOT NULL,
	store       TEXT    NOT NULL,
	incarnation TEXT    NOT NULL,
	n           INTEGER NOT NULL,
	step        INTEGER NOT NULL,
	type        TEXT    NOT NULL,
	time        INTEGER NOT NULL,
	format      INTEGER NOT NULL,
	key_id      TEXT    NOT NULL,
	prev        BLOB    NOT NULL,
	mac         BLOB    NOT NULL,
	payload     BLOB    NOT NULL,
	PRIMARY KEY (owner, run, n)
) WITHOUT ROWID;

CREATE TABLE graphs (
	digest TEXT PRIMARY KEY NOT NULL,
	graph  BLOB NOT NULL
);

CREATE TABLE leases (
	owner   TEXT    NOT NULL,
	run     TEXT    NOT NULL,
	holder  TEXT    NOT NULL,
	expires INTEGER NOT NULL,
	PRIMARY KEY (owner, run)
) WITHOUT ROWID;
