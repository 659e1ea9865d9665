#!/usr/bin/env python3
"""Check every row of a flowtui store in SQLite, without flowtui.

    check-store.py STORE.db KEYFILE

It is written from docs/store-format.md and docs/signing.md alone, with nothing
but Python's standard library, so that what flowtui verify says can be checked
by something that shares no line with it. It prints what flowtui verify --json
prints. The exit code is 0 when every row is sound, 6 when one is not, 7 when
rows could not be checked for want of their key, 1 when it cannot work at all.
"""
import base64
import hashlib
import hmac
import json
import pathlib
import sqlite3
import struct
import sys

FORMAT = 1
NUMBERS = {"step", "base", "segment", "n", "ordinal", "idempotent", "calls", "events", "created", "updated", "time", "format"}
BYTES = {"prev", "mac", "payload"}
# Which fields a record has beside store, owner, run, incarnation, time and prev.
FIELDS = {
    "checkpoint": ["step", "base", "segment", "kind", "flow", "digest", "status", "user", "thread", "principal", "calls", "events"],
    "head": ["step", "base", "segment", "kind", "flow", "digest", "status", "user", "thread", "principal", "created"],
    "call": ["step", "segment", "n", "node", "ordinal", "tool", "idempotent", "status"],
    "event": ["step", "n", "type"],
}
TABLES = {"checkpoint": "checkpoints", "head": "runs", "call": "calls", "event": "events"}
STATUSES = {"running", "paused", "done", "failed"}


def hkdf(secret, label, length):
    """HKDF-SHA256 (RFC 5869) without salt, of at most 32 bytes."""
    extracted = hmac.digest(bytes(32), secret, "sha256")
    return hmac.digest(extracted, label.encode() + b"\x01", "sha256")[:length]


class Key:
    def __init__(self, secret):
        if len(secret) < 32:
            raise ValueError("a key has at least 32 bytes")
        self.id = hkdf(secret, "flowtui/v1/key-id", 8).hex()
        self.macs = {kind: hkdf(secret, "flowtui/v1/" + kind, 32) for kind in FIELDS}


def read_keys(path):
    keys = {}
    for line in pathlib.Path(path).read_bytes().split(b"\n"):
        line = line.strip()
        if not line or line.startswith(b"#"):
            continue
        if line.startswith(b"hex:"):
            line = bytes.fromhex(line[4:].decode())
        elif line.startswith(b"base64:"):
            line = base64.b64decode(line[7:], validate=True)
        key = Key(line)
        keys[key.id] = key
    return keys


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack(">I", len(raw)) + raw


def number(value):
    return struct.pack(">Iq", 8, value)


def message(kind, row):
    """The bytes that the MAC of a row covers."""
    field = {name: row[name] for name in FIELDS[kind]}

    def t(name):
        return text(field.get(name, ""))

    def n(name):
        return number(field.get(name, 0))

    parts = [b"flowtui", bytes([FORMAT]), text(row["key_id"]), text(kind)]
    parts += [text(row[name]) for name in ("store", "owner", "run", "incarnation")]
    parts += [n("step"), n("base"), n("segment"), n("n")]
    parts += [t("kind"), t("flow"), t("digest"), t("status"), t("user"), t("thread"), t("principal")]
    parts += [t("node"), n("ordinal"), t("tool"), n("idempotent"), t("type")]
    parts += [n("calls"), n("events"), n("created")]
    parts += [number(row["updated"] if kind == "head" else row["time"]), text(row["prev"])]
    return b"".join(parts) + struct.pack(">Q", len(row["payload"])) + row["payload"]


def spoiled(kind, row):
    """Why a row cannot be read, or None: somebody may have put anything anywhere."""
    for name in row:
        value = row[name]
        if name in NUMBERS:
            if type(value) is not int or value < 0 and name not in ("created", "updated", "time"):
                return f"{name} is {value!r}"
        elif name in BYTES:
            if isinstance(value, str):
                row[name] = value.encode("utf-8", "surrogateescape")
            elif not isinstance(value, bytes):
                return f"{name} is {value!r}"
        elif name != "open":
            try:
                value.encode()  # text that is UTF-8
            except (AttributeError, UnicodeEncodeError):
                return f"{name} is {value!r}"
    if kind in ("checkpoint", "head") and row["status"] not in STATUSES:
        return f"status is {row['status']!r}"
    if kind == "call" and row["idempotent"] > 1:
        return f"idempotent is {row['idempotent']}"
    for name in ("created", "updated", "time"):  # the years that can be shown
        if name in row and not -62135596800000000 <= row[name] <= 253402300799999999:
            return f"{name} is {row[name]}"
    return None


SOUND, UNCERTAIN, REJECTED = "sound", "uncertain", "rejected"


class Run:
    """One run's rows, and what is found in them."""

    def __init__(self, keys, store, owner, run, rows):
        self.keys, self.store, self.owner, self.run = keys, store, owner, run
        self.rows = rows
        self.bad = {id(r): spoiled(kind, r) for kind in rows for r in rows[kind]}
        self.findings, self.keyless = [], []
        self.sounds = 0
        self.origins = []
        self.life = self.vote()

    def find(self, record, step, n, verdict, reason, segment=0):
        self.findings.append(
            {"owner": self.owner, "run": self.run, "record": record, "step": step, "n": n, "verdict": verdict, "reason": reason, "segment": segment}
        )

    def mac_fits(self, kind, row):
        """None without the key, else whether the MAC is right."""
        key = self.keys.get(row["key_id"])
        if key is None:
            return None
        return hmac.compare_digest(row["mac"], hmac.digest(key.macs[kind], message(kind, row), "sha256"))

    def signed(self, kind, row):
        return self.bad[id(row)] is None and row["format"] == FORMAT and bool(row["mac"]) and self.mac_fits(kind, row) is True

    def vote(self):
        """The run's incarnation, by its newest checkpoint, its first one and its head."""
        steps, head = self.rows["checkpoint"], self.rows["head"]
        votes = {}
        for kind, row in [("checkpoint", r) for r in steps[-1:] + [r for r in steps[:1] if len(steps) > 1]] + [("head", r) for r in head]:
            if self.signed(kind, row):
                votes[row["incarnation"]] = votes.get(row["incarnation"], 0) + 1
        return max(votes, key=votes.get) if votes else None

    def read_imports(self):
        """Where the run was before it was imported, as far as that leads to this store."""
        at, origins = None, []
        for e in self.rows["event"]:
            if e["type"] != "operator.import" or not self.signed("event", e) or e["incarnation"] != self.life:
                continue
            body = json.loads(e["payload"])
            if at is not None and body["from"] != at:
                return
            at = e["store"]
            ends = {c["segment"]: c for c in body.get("calls", [])}
            origins.append({"store": body["from"], "step": body["step"], "mac": body["mac"], "ends": ends, "events": e["n"] - 1})
        if at == self.store:
            self.origins = origins

    def home(self, kind, row):
        """The store that a row must name."""
        for o in self.origins:
            if (
                kind == "checkpoint" and row["step"] <= o["step"]
                or kind == "call" and row["n"] <= o["ends"].get(row["segment"], {"calls": 0})["calls"]
                or kind == "event" and row["n"] <= o["events"]
            ):
                return o["store"]
        return self.store

    def judge(self, kind, row):
        def found(verdict, reason):
            numbers = {k: row[k] if k in row and type(row[k]) is int else 0 for k in ("step", "n", "segment")}
            self.find(kind, numbers["step"], numbers["n"], verdict, reason, numbers["segment"])
            return REJECTED

        if self.bad[id(row)]:
            return found("unreadable", self.bad[id(row)])
        if not row["mac"] or row["format"] < 1:
            return found("forged", "it carries no signature")
        if row["format"] != FORMAT:
            return found("unreadable", f"signing format {row['format']}")
        fits = self.mac_fits(kind, row)
        if fits is None:
            self.keyless.append((kind, row))
            return UNCERTAIN
        if not fits:
            return found("forged", "it was changed after it was signed")
        if row["store"] != self.home(kind, row):
            return found("forged", f"it was signed for the store {row['store']}")
        if self.life is not None and row["incarnation"] != self.life:
            return found("forged", "it belongs to another life of the run")
        self.sounds += 1
        return SOUND

    def counts(self, trust, want, n, missing):
        """Whether a row stands in the order; tells what is missing before it."""
        if n < want or trust == REJECTED and n != want:
            return False
        for m in range(want, min(n, want + 20)):
            missing(m)
        return True

    def verify(self):
        self.read_imports()
        self.checkpoints()
        self.calls()
        self.events()
        self.ends()
        self.head()
        if self.last is None:
            self.find("checkpoint", 0, 0, "gap", "no checkpoint is stored, but other rows of the run are")
        elif self.beyond > self.last["step"]:
            self.find("checkpoint", self.last["step"], 0, "regressed", f"other rows refer to step {self.beyond}")
        self.without_key()
        return self.findings

    def checkpoints(self):
        self.last, last_ok = None, False
        self.claimed, self.pinned, self.vouched, self.beyond, self.macs = {}, {}, 0, 0, {}
        for o in self.origins:
            for segment, end in o["ends"].items():
                self.pinned[segment] = end
                self.claimed[segment] = max(self.claimed.get(segment, 0), end["calls"])
        for row in self.rows["checkpoint"]:
            trust = self.judge("checkpoint", row)
            want = 0 if self.last is None else self.last["step"] + 1
            step = row["step"] if type(row["step"]) is int else -1
            if not self.counts(trust, want, step, lambda s: self.find("checkpoint", s, 0, "gap", f"step {s} is missing")):
                continue
            if trust == SOUND:
                if self.last is not None and last_ok and step == want and row["prev"] != self.last["mac"]:
                    self.find("checkpoint", step, 0, "forged", "it was not made after the step before it")
                if any(o["step"] == step and o["mac"] != row["mac"].hex() for o in self.origins):
                    self.find("checkpoint", step, 0, "forged", "it is not the step that was imported")
                self.vouch(row)
            self.last, last_ok = row, trust == SOUND

    def vouch(self, row):
        """Take over what a sound checkpoint says of the logs."""
        self.macs[row["step"]] = row["mac"]
        self.claimed[row["segment"]] = max(self.claimed.get(row["segment"], 0), row["calls"])
        self.vouched = max(self.vouched, row["events"])
        for end in json.loads(row["payload"]).get("log") or []:
            self.pinned[end["segment"]] = end
            self.claimed[end["segment"]] = max(self.claimed.get(end["segment"], 0), end["calls"])

    def calls(self):
        self.tails, self.resolved = {}, {}
        tail_ok = {}
        for row in self.rows["call"]:
            trust = self.judge("call", row)
            segment = row["segment"]
            tail = self.tails.get(segment)
            want = 1 if tail is None else tail["n"] + 1
            n = row["n"] if type(row["n"]) is int else -1
            step = row["step"]
            if not self.counts(trust, want, n, lambda m: self.find("call", step, m, "gap", f"call record {m} of segment {segment} is missing", segment)):
                continue
            if trust == SOUND:
                before = b"" if tail is None else tail["mac"]
                if tail_ok.get(segment, True) and n == want and row["prev"] != before:
                    self.find("call", step, n, "forged", "it was not made after the record before it", segment)
                pin = self.pinned.get(segment)
                if pin and pin["calls"] == n and pin["mac"] != row["mac"].hex():
                    self.find("call", step, n, "forged", "it is not the record that was there when the segment ended", segment)
                self.beyond = max(self.beyond, step)
                if row["status"] == "resolved":
                    event = json.loads(row["payload"]).get("event", 0)
                    if event > 0:
                        self.resolved[(segment, n)] = event
            self.tails[segment], tail_ok[segment] = row, trust == SOUND
        for segment, claimed in sorted(self.claimed.items()):
            tail = self.tails.get(segment, {"n": 0, "step": 0})
            for n in range(tail["n"] + 1, min(claimed, tail["n"] + 20) + 1):
                self.find("call", tail["step"], n, "gap", f"call record {n} of segment {segment} is missing", segment)

    def events(self):
        self.event, event_ok, self.told = {"n": 0, "mac": b""}, True, set()
        for row in self.rows["event"]:
            trust = self.judge("event", row)
            want = self.event["n"] + 1
            n = row["n"] if type(row["n"]) is int else -1
            if not self.counts(trust, want, n, lambda m: self.find("event", row["step"], m, "gap", f"event {m} is missing")):
                continue
            if trust == SOUND:
                if (event_ok or want == 1) and n == want and row["prev"] != self.event["mac"]:
                    self.find("event", row["step"], n, "forged", "it was not made after the event before it")
                self.beyond = max(self.beyond, row["step"])
                if row["type"] == "operator.resolved":
                    body = json.loads(row["payload"])
                    if body.get("record", 0) > 0:
                        self.told.add((body.get("segment", 0), body["record"]))
            self.event, event_ok = row, trust == SOUND

    def ends(self):
        """Cut ends of the event log, and resolutions of which one half is gone."""
        if self.last is not None:
            for n in range(self.event["n"] + 1, min(self.vouched, self.event["n"] + 20) + 1):
                self.find("event", self.last["step"], n, "gap", f"event {n} is missing")
        for segment, record in sorted(self.told):
            tail = self.tails.get(segment, {"n": 0, "step": 0})
            if (segment, record) not in self.resolved and tail["n"] < record:
                self.find("call", tail["step"], record, "gap", "the record of a resolution is missing", segment)
        for (segment, record), event in sorted(self.resolved.items()):
            if (segment, record) not in self.told and event > self.event["n"]:
                self.find("event", self.tails[segment]["step"], event, "gap", "the event that tells who resolved a call is missing")

    def head(self):
        if not self.rows["head"]:
            if self.last is not None:
                self.find("head", self.last["step"], 0, "gap", "the run's list entry is missing")
            return
        row = self.rows["head"][0]
        if self.last is None:
            return
        trust = self.judge("head", row)
        if trust == REJECTED:
            return
        if row["step"] < self.last["step"]:
            self.find("head", row["step"], 0, "regressed", f"the newest checkpoint is step {self.last['step']}")
        elif row["step"] > self.last["step"]:
            self.beyond = max(self.beyond, row["step"])
        elif trust == SOUND and row["step"] in self.macs and row["prev"] != self.macs[row["step"]]:
            self.find("head", row["step"], 0, "forged", "it does not sum up the newest checkpoint")

    def without_key(self):
        for kind, row in self.keyless:
            self.find(kind, row["step"], row.get("n", 0), "unknown-key", f"signed with key {row['key_id']}", row.get("segment", 0))


def read_rows(db):
    """Every row by its run, in the order of its chain."""
    runs = {}
    order = {"checkpoint": "step", "head": "step", "call": "segment, n", "event": "n"}
    for kind, table in TABLES.items():
        for row in db.execute(f"SELECT * FROM {table} ORDER BY owner, run, {order[kind]}"):
            rows = runs.setdefault((row["owner"], row["run"]), {k: [] for k in TABLES})
            rows[kind].append(dict(row))
    return runs


def main(args):
    if len(args) != 2:
        print(__doc__, file=sys.stderr)
        return 1
    keys = read_keys(args[1])
    path = pathlib.Path(args[0]).resolve()
    # Without a -wal file nobody writes; then SQLite must not make one, nor wait.
    still = "" if pathlib.Path(str(path) + "-wal").exists() else "&immutable=1"
    db = sqlite3.connect(path.as_uri() + "?mode=ro" + still, uri=True)
    db.row_factory = sqlite3.Row
    db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    if db.execute("PRAGMA application_id").fetchone()[0] != 0x666C7774 or db.execute("PRAGMA user_version").fetchone()[0] != 1:
        print(f"{args[0]} is no flowtui store of version 1", file=sys.stderr)
        return 1
    store = db.execute("SELECT value FROM meta WHERE key = 'store'").fetchone()[0]
    db.execute("BEGIN")  # all rows of one moment
    runs = read_rows(db)
    findings, verified = [], 0
    for (owner, run), rows in sorted(runs.items(), key=lambda item: [str(name) for name in item[0]]):
        found = Run(keys, store, owner, run, rows).verify()
        verified += not found
        findings += found
    print(json.dumps({"runs": len(runs), "verified": verified, "findings": findings}, ensure_ascii=True))
    if any(f["verdict"] != "unknown-key" for f in findings):
        return 6
    return 7 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
