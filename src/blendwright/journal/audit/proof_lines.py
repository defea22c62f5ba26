"""The content of a journal as the lines of a proof bundle, in canonical JSON, so that equal journals give equal
bytes.

Every line is an object with one key, which names its kind. The header comes first, then audit records, commits,
readings, moves of HEAD, branch events, merges and checkpoints, each in the order of the journal. The lines redact the
arguments that the policy hides.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from blendwright.journal.audit.log import read_head
from blendwright.journal.checkpoints.files import CheckpointFiles
from blendwright.journal.lines import branches
from blendwright.journal.store import Store, as_json, object_in
from blendwright.policy.redaction import redacted, redacted_receipt

FORMAT = "blendwright.proof.v1"
# The query for each kind of line, in the order of the bundle. The columns are the fields of the line.
SECTIONS: dict[str, str] = {
    "audit": "SELECT sequence, hash, record FROM audit ORDER BY sequence",
    "commit": """SELECT number, parent, kind, operation_key, request_id, operation_id, tool, tool_version, args, hash_before,
                 hash_after, replayable, receipt, audit_sequence, timestamp, generation FROM commits ORDER BY number""",
    "reading": """SELECT id, operation_key, request_id, operation_id, tool, tool_version, args, scene_hash, receipt, audit_sequence,
                  timestamp FROM readings ORDER BY id""",
    "move": "SELECT id, kind, from_commit, to_commit, timestamp FROM head_moves ORDER BY id",
    "branch": "SELECT id, branch, kind, number, timestamp FROM branch_moves ORDER BY id",
    "merge": "SELECT request_id, source, base, ours, theirs, timestamp FROM merges ORDER BY request_id",
    "checkpoint": "SELECT id, number, scene_hash, sha256, size FROM checkpoints ORDER BY id",
}
_TABLES = {
    "audit": "audit", "commit": "commits", "reading": "readings", "move": "head_moves", "branch": "branch_moves", "merge": "merges",
    "checkpoint": "checkpoints",
}  # fmt: skip


def proof_lines(
    store: Store, files: CheckpointFiles, *, key: str, hidden: Sequence[str], with_scenes: bool
) -> Iterator[bytes]:
    """Yield the lines of the bundle without line breaks.

    `key` is the public key that will sign the bundle. With `with_scenes`, the lines include the files of checkpoints.
    """
    with store.snapshot():
        counts = {name: store.one(f"SELECT count(*) FROM {table}")[0] for name, table in _TABLES.items()}
        head = read_head(store)
        yield _line("header", {
            "format": FORMAT, "key": key, "workspace": store.identity, "head": {"sequence": head.sequence, "hash": head.hash},
            "branch": branches.current(store), "counts": counts, "hidden": sorted(hidden), "scenes": with_scenes,
        })  # fmt: skip
        for name, sql in SECTIONS.items():
            fields = _fields(sql)
            for row in store.rows(sql):
                prepare = _PREPARED.get(name, _unchanged)
                yield _line(name, prepare(dict(zip(fields, row, strict=True)), hidden))
        if with_scenes:
            for (sha256,) in store.rows("SELECT DISTINCT sha256 FROM checkpoints ORDER BY sha256"):
                yield from _scene(files, sha256)


def _line(name: str, content: Mapping[str, Any]) -> bytes:
    return as_json(f"a line of the bundle ({name})", {name: content}).encode()


def _fields(sql: str) -> list[str]:
    return [name.strip() for name in sql.partition("SELECT")[2].partition("FROM")[0].split(",")]


def _unchanged(row: dict[str, Any], hidden: Sequence[str]) -> dict[str, Any]:
    return row


def _record(row: dict[str, Any], hidden: Sequence[str]) -> dict[str, Any]:
    return {"hash": row["hash"], "record": object_in("an audit record", row["record"])}


def _operation(row: dict[str, Any], hidden: Sequence[str]) -> dict[str, Any]:
    """Return a commit or reading with redacted arguments and receipt.

    The audit reference stays, because it proves the position in the chain.
    """
    receipt = object_in("a receipt", row["receipt"])
    shown = redacted_receipt(receipt, hidden) | {"audit": receipt.get("audit")}
    return {**row, "args": redacted(object_in("arguments", row["args"]), hidden), "receipt": shown}


_PREPARED: dict[str, Callable[[dict[str, Any], Sequence[str]], dict[str, Any]]] = {
    "audit": _record,
    "commit": _operation,
    "reading": _operation,
}


def _scene(files: CheckpointFiles, sha256: str) -> Iterator[bytes]:
    offset = 0
    for chunk in files.content(sha256):
        content = base64.b64encode(chunk).decode()
        yield _line("scene", {"sha256": sha256, "offset": offset, "content": content})
        offset += len(chunk)
