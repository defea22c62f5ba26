"""Conversions from rows of journal.db to frozen values."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from blendwright.journal.store import TAMPERED, object_in
from blendwright.records.checkpoints import Checkpoint
from blendwright.records.commits import Commit, MatchedCommit, Reading
from blendwright.values.errors import JournalError

_SHA256 = re.compile(r"[0-9a-f]{64}")

# The columns of each query are the fields of its value, in the same order.
COMMIT = ", ".join(Commit._fields)
DONE = ", ".join(MatchedCommit._fields)
READING = ", ".join(Reading._fields)
CHECKPOINT = "c.id, c.number, k.generation, c.scene_hash, c.sha256, c.size, c.timestamp"

_ARGS, _REPLAYABLE, _RECEIPT = map(Commit._fields.index, ("args", "replayable", "receipt"))


def commit_of(row: tuple[Any, ...]) -> Commit:
    values = [*row]
    values[_ARGS] = object_in(f"the arguments of commit {values[0]}", values[_ARGS])
    values[_REPLAYABLE] = bool(values[_REPLAYABLE])
    values[_RECEIPT] = object_in(f"the receipt of commit {values[0]}", values[_RECEIPT])
    return Commit._make(values)


def done_of(row: tuple[Any, ...]) -> MatchedCommit:
    number, key, operation, tool, version, receipt, line, generation = row
    return MatchedCommit(
        number, key, operation, tool, version, object_in(f"the receipt of commit {number}", receipt), line, generation
    )


def reading_of(row: tuple[Any, ...]) -> Reading:
    key, request, operation, tool, version, scene_hash, receipt, sequence = row
    return Reading(
        key,
        request,
        operation,
        tool,
        version,
        scene_hash,
        object_in(f"the receipt of the reading {operation}", receipt),
        sequence,
    )


def checkpoint_of(row: tuple[Any, ...], directory: Path) -> Checkpoint:
    id, number, generation, scene_hash, sha256, size, timestamp = row
    return Checkpoint(id, number, generation, scene_hash, sha256, size, directory / file_name(sha256), timestamp)


def file_name(sha256: str) -> str:
    """Return the file name of a checkpoint with this content.

    Raise JournalError for anything but a hash, which could be any path.
    """
    if not _SHA256.fullmatch(sha256):
        raise JournalError(f"journal.db names a checkpoint with an invalid name: '{sha256[:80]}'", cure=TAMPERED)
    return f"{sha256}.blend"
