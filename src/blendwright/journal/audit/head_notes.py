"""The head of the audit chain, noted in a second place: a small file beside journal.db, and one outside where the user wants it.

A note is written behind every transaction that adds records, without waiting for the disk, and made durable with every checkpoint and on
closing. So it never names a record that the journal has not: one that is not in the journal, or is another there, says that an older
copy was put in its place, or that records are gone. A crash of the process loses no note; a power cut may leave an older one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from blendwright.journal.audit.log import read_head
from blendwright.journal.checkpoints.files import DIRECTORY as CHECKPOINTS
from blendwright.journal.store import FILE as JOURNAL
from blendwright.journal.store import Store
from blendwright.records.audit import AuditHead
from blendwright.values.errors import EnvironmentUnfit

FILE = "audit.head"
ACCEPT = "blendwright recover --accept-restored"


@dataclass(frozen=True, slots=True)
class Note:
    """What a file says of a chain; a file that is not readable as one says nothing that fits any chain."""

    file: Path
    workspace: str
    head: AuditHead


def read_note(file: Path) -> Note | None:
    """None where there is no such file, or nothing in it."""
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        text = b"?"
    if not text:
        return None  # a process was killed between making the file and writing it
    try:
        value: dict[str, Any] = orjson.loads(text)
        return Note(file, str(value["workspace"]), AuditHead(int(value["sequence"]), str(value["hash"])))
    except (ValueError, TypeError, KeyError):
        return Note(file, "", AuditHead(-1, ""))


def note_files(store: Store, outside: Path | None) -> tuple[Path, ...]:
    """Where the head of a workspace is noted; outside, each workspace has a file of its own."""
    return (store.directory / FILE, *(() if outside is None else (outside / f"{store.identity}.head",)))


def contradictions(store: Store, outside: Path | None, notes: tuple[Note, ...] | None = None) -> list[str]:
    """How the notes and the chain contradict each other, in sentences. Notes are read first: the chain may only be further on."""
    if notes is None:
        notes = read_notes(store, outside)
    with store.snapshot():
        identity, end = store.identity, read_head(store)
        return [problem for note in notes if (problem := _contradiction(store, note, identity, end)) is not None]


def read_notes(store: Store, outside: Path | None) -> tuple[Note, ...]:
    found = (read_note(file) for file in note_files(store, outside))
    return tuple(note for note in found if note is not None)


def _contradiction(store: Store, note: Note, identity: str, end: AuditHead) -> str | None:
    if note.head.sequence == 0 or (note.workspace == identity and note.head == end):
        return None
    if note.head.sequence < 0:
        return f"{note.file} is damaged: it must name the last record of the audit chain"
    if note.workspace != identity:
        return f"{note.file} is of another workspace ({note.workspace}) than journal.db ({identity})"
    row = store.row("SELECT hash FROM audit WHERE sequence = ?", (note.head.sequence,))
    if row is not None and row[0] == note.head.hash:
        return None
    if row is None:
        what = "is missing"
    else:
        what = "is another one"
    return (
        f"record {note.head.sequence} of the audit chain, which {note.file} names, {what} in journal.db, which ends with record"
        f" {end.sequence}: an older copy was put in its place, or the chain was cut off or went on elsewhere"
    )


def require_no_contradiction(problems: list[str]) -> None:
    """Raise EnvironmentUnfit where something contradicts the journal."""
    if problems:
        cure = f"Put the newest copy back. Where the older one is meant, as after a restore from a backup: `{ACCEPT}`."
        raise EnvironmentUnfit("; ".join(problems), cure=cure, details={"contradictions": problems})


def require_unused(workspace: Path) -> None:
    """Before a journal is begun: raise EnvironmentUnfit where the directory has been a workspace before, which has lost its own."""
    note = read_note(workspace / FILE)
    saved = sorted((workspace / CHECKPOINTS).glob("*.blend"), key=lambda path: path.stat().st_mtime)
    if (note is None or note.head.sequence == 0) and not saved:
        return
    if saved:
        way_on = f" To go on without its history: `blendwright new --workspace DIR --scene {saved[-1]}`."
    else:
        way_on = ""
    raise EnvironmentUnfit(
        f"{workspace} has been used, and its {JOURNAL} is missing or empty",
        cure=f"Restore {JOURNAL} from a backup; where that is an older one, then `{ACCEPT}`.{way_on}",
    )
