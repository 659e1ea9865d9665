CREATE TABLE {meta} (
	key   text COLLATE "C" PRIMARY KEY NOT NULL,
	value text COLLATE "C" NOT NULL
);

CREATE TABLE {checkpoints} (
	owner       text COLLATE "C" NOT NULL,
	run         text COLLATE "C" NOT NULL,
	store       text COLLATE "C" NOT NULL,
	incarnation text COLLATE "C" NOT NULL,
	step        bigint  NOT NULL,
	base        bigint  NOT NULL,
	segment     bigint  NOT NULL,
	kind        text COLLATE "C" NOT NULL,
	flow        text COLLATE "C" NOT NULL,
	digest      text COLLATE "C" NOT NULL,
	status      text COLLATE "C" NOT NULL,
	"user"      text COLLATE "C" NOT NULL,
	thread      text COLLATE "C" NOT NULL,
	principal   text COLLATE "C" NOT NULL,
	calls       bigint  NOT NULL,
	events      bigint  NOT NULL,
	time        bigint  NOT NULL, -- microseconds since 1970, UTC, as everywhere
	format      bigint  NOT NULL,
	key_id      text COLLATE "C" NOT NULL,
	prev        bytea   NOT NULL,
	mac         bytea   NOT NULL,
	payload     bytea   NOT NULL,
	PRIMARY KEY (owner, run, step)
);

-- The head of every run: what lists show.
CREATE TABLE {runs} (
	owner       text COLLATE "C" NOT NULL,
	run         text COLLATE "C" NOT NULL,
	store       text COLLATE "C" NOT NULL,
	incarnation text COLLATE "C" NOT NULL,
	step        bigint  NOT NULL,
	base        bigint  NOT NULL,
	segment     bigint  NOT NULL,
	kind        text COLLATE "C" NOT NULL,
	flow        text COLLATE "C" NOT NULL,
	digest      text COLLATE "C" NOT NULL,
	status      text COLLATE "C" NOT NULL,
	"user"      text COLLATE "C" NOT NULL,
	thread      text COLLATE "C" NOT NULL,
	principal   text COLLATE "C" NOT NULL,
	created     bigint  NOT NULL,
	updated     bigint  NOT NULL,
	format      bigint  NOT NULL,
	key_id      text COLLATE "C" NOT NULL,
	prev        bytea   NOT NULL,
	mac         bytea   NOT NULL,
	open        bigint  NOT NULL, -- calls that may be in doubt, not signed
	payload     bytea   NOT NULL,
	PRIMARY KEY (owner, run)
);

-- One index per way to list: each gives a page in its order, without a sort.
CREATE INDEX {runs_updated} ON {runs} (updated DESC, owner, run);
CREATE INDEX {runs_status}  ON {runs} (status, updated DESC, owner, run);
CREATE INDEX {runs_owner}   ON {runs} (owner, updated DESC, run);
CREATE INDEX {runs_flow}    ON {runs} (flow, updated DESC, owner, run);
CREATE INDEX {runs_open}    ON {runs} (updated DESC, owner, run) WHERE open > 0;

CREATE TABLE {calls} (
	owner       text COLLATE "C" NOT NULL,
	run         text COLLATE "C" NOT NULL,
	store       text COLLATE "C" NOT NULL,
	incarnation text COLLATE "C" NOT NULL,
	segment     bigint  NOT NULL,
	n           bigint  NOT NULL,
	step        bigint  NOT NULL,
	node        text COLLATE "C" NOT NULL,
	ordinal     bigint  NOT NULL,
	tool        text COLLATE "C" NOT NULL,
	idempotent  boolean NOT NULL,
	status      text COLLATE "C" NOT NULL,
	time        bigint  NOT NULL,
	format      bigint  NOT NULL,
	key_id      text COLLATE "C" NOT NULL,
	prev        bytea   NOT NULL,
	mac         bytea   NOT NULL,
	payload     bytea   NOT NULL,
	PRIMARY KEY (owner, run, segment, n)
);

CREATE INDEX {calls_step} ON {calls} (owner, run, step, node, ordinal);

CREATE TABLE {events} (
	owner       text COLLATE "C" NOT NULL,
	run         text COLLATE "C" NOT NULL,
	store       text COLLATE "C" NOT NULL,
	incarnation text COLLATE "C" NOT NULL,
	n           bigint  NOT NULL,
	step        bigint  NOT NULL,
	type        text COLLATE "C" NOT NULL,
	time        bigint  NOT NULL,
	format      bigint  NOT NULL,
	key_id      text COLLATE "C" NOT NULL,
	prev        bytea   NOT NULL,
	mac         bytea   NOT NULL,
	payload     bytea   NOT NULL,
	PRIMARY KEY (owner, run, n)
);

CREATE TABLE {graphs} (
	digest text COLLATE "C" PRIMARY KEY NOT NULL,
	graph  bytea NOT NULL
);

CREATE TABLE {leases} (
	owner   text COLLATE "C" NOT NULL,
	run     text COLLATE "C" NOT NULL,
	holder  text COLLATE "C" NOT NULL,
	expires bigint  NOT NULL,
	PRIMARY KEY (owner, run)
);
