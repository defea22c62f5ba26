"""The tables of journal.db, version by version.

History (commits, lines, moves of HEAD and of branches, merges, audit, readings, rollbacks, attempts of planners, programs) is
append-only, and the database itself refuses to change it. Only what describes the present may change: checkpoints, tags, states of
intents, boundaries, approvals and quarantine, and the one row of `state`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

VERSION = 5
# "BWjl": says whose file this is to tools that read the header of a SQLite file.
APPLICATION_ID = 0x42576A6C

_TABLES = """
CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    workspace TEXT NOT NULL,
    fence INTEGER NOT NULL,
    audit_sequence INTEGER NOT NULL,
    audit_hash TEXT NOT NULL
);

-- A line is a run of commits without a fork; the first commit of a line has generation fork_generation + 1.
CREATE TABLE lines (
    id INTEGER PRIMARY KEY,
    parent_line INTEGER REFERENCES lines (id),
    fork_generation INTEGER NOT NULL
);

CREATE TABLE commits (
    number INTEGER PRIMARY KEY,
    parent INTEGER REFERENCES commits (number),
    kind TEXT NOT NULL CHECK (kind IN ('baseline', 'operation', 'adopt', 'rebaseline')),
    operation_key TEXT,
    request_id TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    tool_version INTEGER NOT NULL,
    args TEXT NOT NULL,
    hash_before TEXT NOT NULL,
    hash_after TEXT NOT NULL,
    replayable INTEGER NOT NULL,
    receipt TEXT NOT NULL,
    audit_sequence INTEGER NOT NULL REFERENCES audit (sequence),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL,
    line INTEGER NOT NULL REFERENCES lines (id),
    generation INTEGER NOT NULL
);
CREATE UNIQUE INDEX commits_on_line ON commits (line, generation);
CREATE UNIQUE INDEX one_baseline ON commits (kind) WHERE kind = 'baseline';
CREATE INDEX commits_by_key ON commits (operation_key) WHERE operation_key IS NOT NULL;
CREATE INDEX commits_by_name ON commits (request_id, operation_id);
CREATE INDEX adoptions ON commits (generation) WHERE kind = 'adopt';
CREATE INDEX not_replayable ON commits (generation) WHERE replayable = 0;

CREATE TABLE readings (
    id INTEGER PRIMARY KEY,
    operation_key TEXT NOT NULL,
    request_id TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    tool_version INTEGER NOT NULL,
    args TEXT NOT NULL,
    scene_hash TEXT NOT NULL,
    receipt TEXT NOT NULL,
    audit_sequence INTEGER NOT NULL REFERENCES audit (sequence),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
);
CREATE INDEX readings_by_name ON readings (request_id, operation_id);

-- HEAD is where the last move leads; there is no second place that says so.
CREATE TABLE head_moves (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('commit', 'checkout', 'undo', 'redo', 'rollback')),
    from_commit INTEGER REFERENCES commits (number),
    to_commit INTEGER NOT NULL REFERENCES commits (number),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
);

CREATE TABLE rolled_back (
    number INTEGER PRIMARY KEY REFERENCES commits (number),
    move INTEGER NOT NULL REFERENCES head_moves (id)
);

-- The record is stored as the very bytes that were hashed.
CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    record TEXT NOT NULL
);

CREATE TABLE intents (
    id INTEGER PRIMARY KEY,
    operation_key TEXT NOT NULL,
    request_id TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    effect TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'settled', 'indeterminate', 'resolved')),
    note TEXT,
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
);
CREATE INDEX pending_intents ON intents (state) WHERE state IN ('open', 'indeterminate');

CREATE TABLE boundaries (
    id INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL,
    base INTEGER NOT NULL REFERENCES commits (number),
    state TEXT NOT NULL CHECK (state IN ('open', 'kept', 'rolled_back')),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
);
CREATE UNIQUE INDEX one_open_boundary ON boundaries (state) WHERE state = 'open';

CREATE TABLE checkpoints (
    id INTEGER PRIMARY KEY,
    number INTEGER NOT NULL REFERENCES commits (number),
    scene_hash TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
);
CREATE INDEX checkpoints_by_commit ON checkpoints (number);

CREATE TABLE tags (
    name TEXT PRIMARY KEY,
    number INTEGER NOT NULL REFERENCES commits (number)
) WITHOUT ROWID;

CREATE TABLE quarantines (
    id INTEGER PRIMARY KEY,
    reason TEXT NOT NULL,
    expected TEXT NOT NULL,
    found TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    ended TEXT
);
CREATE UNIQUE INDEX one_quarantine ON quarantines ((ended IS NULL)) WHERE ended IS NULL;
"""

# Since version 2: what a session was held to, and the approvals that people gave.
_SESSIONS = """
-- The contract of a session, without what differs from session to session; equal ones are kept once.
CREATE TABLE contracts (
    fingerprint TEXT PRIMARY KEY,
    contract TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    contract TEXT NOT NULL REFERENCES contracts (fingerprint),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
) WITHOUT ROWID;

-- Times are seconds since the epoch: whether one is over is for the database to say.
CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    operation_hash TEXT NOT NULL,
    request TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'declined', 'used')),
    given_by TEXT,
    asked REAL NOT NULL,
    expires REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX approvals_by_operation ON approvals (operation_hash);
"""

# Since version 3: what planners were asked and what came of it.
_ATTEMPTS = """
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    asked TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    model TEXT NOT NULL,
    usage TEXT NOT NULL,
    plan TEXT,
    outcome TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    fence INTEGER NOT NULL
);
CREATE INDEX attempts_by_request ON attempts (request_id);
"""

# Since version 4: the programs that plans come from.
_PROGRAMS = """
CREATE TABLE programs (
    id INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL,
    hash TEXT NOT NULL,
    program TEXT NOT NULL,
    params TEXT NOT NULL,
    libraries TEXT NOT NULL,
    timestamp TEXT NOT NULL,
    fence INTEGER NOT NULL
);
CREATE UNIQUE INDEX programs_by_request ON programs (request_id, hash);
"""

# Since version 5: branches, and which commits of one were run again on another line.
_BRANCHES = """
-- Where each branch was left last; the one that was entered and not left is where HEAD is.
CREATE TABLE branch_moves (
    id INTEGER PRIMARY KEY,
    branch TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('created', 'entered', 'left', 'deleted')),
    number INTEGER REFERENCES commits (number),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
);
CREATE INDEX moves_of_branch ON branch_moves (branch, id);

-- Written before the first commit of the merge: `request_id` is theirs. What was taken is in their operation ids.
CREATE TABLE merges (
    request_id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    base INTEGER NOT NULL REFERENCES commits (number),
    ours INTEGER NOT NULL REFERENCES commits (number),
    theirs INTEGER NOT NULL REFERENCES commits (number),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
) WITHOUT ROWID;
"""

# A new journal, and one of a version without branches, is on the branch main.
ENTER_MAIN = "".join(
    f"""
INSERT INTO branch_moves (branch, kind, number, fence, timestamp) VALUES (
    'main', '{kind}', (SELECT to_commit FROM head_moves ORDER BY id DESC LIMIT 1),
    (SELECT fence FROM state), strftime('%Y-%m-%dT%H:%M:%f', 'now') || '000Z'
);
"""
    for kind in ("created", "entered")
)

APPEND_ONLY = (
    "lines",
    "commits",
    "readings",
    "head_moves",
    "rolled_back",
    "audit",
    "contracts",
    "sessions",
    "attempts",
    "programs",
    "branch_moves",
    "merges",
)


def _guards(tables: Iterable[str]) -> str:
    return "".join(
        f"""
CREATE TRIGGER {table}_stay_{verb} BEFORE {verb} ON {table} BEGIN
    SELECT RAISE(ABORT, '{table} never change');
END;
"""
        for table in tables
        for verb in ("UPDATE", "DELETE")
    )


# What makes a journal of a version one of the next.
UPGRADES: dict[int, str] = {
    1: _SESSIONS + _guards(("contracts", "sessions")),
    2: _ATTEMPTS + _guards(("attempts",)),
    3: _PROGRAMS + _guards(("programs",)),
    4: _BRANCHES + ENTER_MAIN + _guards(("branch_moves", "merges")),
}

# The oldest version that can be opened still.
OLDEST = min(UPGRADES)

_HEADER = f"PRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {VERSION};\n"
CREATE = f"{_TABLES}{_SESSIONS}{_ATTEMPTS}{_PROGRAMS}{_BRANCHES}{_guards(APPEND_ONLY)}{_HEADER}"


def genesis(workspace: str) -> str:
    """What the first record names as the one before it: no chain fits another workspace."""
    return hashlib.sha256(f"blendwright.audit.v1:{workspace}".encode()).hexdigest()
