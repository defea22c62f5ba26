"""The tables of journal.db, by schema version.

The history is append-only, and triggers refuse to change it: commits, lines, moves of HEAD, branch events, merges,
audit, readings, rollbacks, planner attempts and programs. Only tables about the present may change: checkpoints,
tags, states of intents, boundaries, approvals and quarantine, and the single row of `state`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

VERSION = 5
# "BWjl": identifies the file to tools that read the header of a SQLite file.
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

-- HEAD is the target of the last move; no other row repeats it.
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

-- The record has exactly the bytes of which `hash` is the hash.
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

# Since version 2: the contracts of sessions, and the approvals by people.
_SESSIONS = """
-- The contract of a session, without the fields that differ from session to session. Equal contracts share one row.
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

-- Times are seconds since the epoch, so that a query can compare them.
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

# Since version 3: the requests to planners and their results.
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

# Since version 4: the programs that produced plans.
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

# Since version 5: branches and merges.
_BRANCHES = """
-- The latest row of a branch has its commit. A branch that was entered and not left is at HEAD.
CREATE TABLE branch_moves (
    id INTEGER PRIMARY KEY,
    branch TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('created', 'entered', 'left', 'deleted')),
    number INTEGER REFERENCES commits (number),
    fence INTEGER NOT NULL,
    timestamp TEXT NOT NULL
);
CREATE INDEX moves_of_branch ON branch_moves (branch, id);

-- Written before the first commit of the merge, with its `request_id`. The operation ids of these commits name the merged commits.
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

# A new journal starts on the branch main, and so does a journal of a version without branches.
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


# The statements that upgrade a journal from a version to the next.
UPGRADES: dict[int, str] = {
    1: _SESSIONS + _guards(("contracts", "sessions")),
    2: _ATTEMPTS + _guards(("attempts",)),
    3: _PROGRAMS + _guards(("programs",)),
    4: _BRANCHES + ENTER_MAIN + _guards(("branch_moves", "merges")),
}

# The oldest version that this program can open.
OLDEST = min(UPGRADES)

_HEADER = f"PRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {VERSION};\n"
CREATE = f"{_TABLES}{_SESSIONS}{_ATTEMPTS}{_PROGRAMS}{_BRANCHES}{_guards(APPEND_ONLY)}{_HEADER}"


def genesis(workspace: str) -> str:
    """Return the hash that the first record names as its predecessor.

    It depends on the workspace, so no chain fits another workspace.
    """
    return hashlib.sha256(f"blendwright.audit.v1:{workspace}".encode()).hexdigest()
