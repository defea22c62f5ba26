"""Notes of the audit head in files: `audit.head` next to journal.db, and optionally one file outside the workspace.

The journal writes a note after every transaction that adds records, without waiting for the disk. Each checkpoint and
the closing of the journal sync the note. A note therefore never names a record that the journal lacks. If the named
record is missing or differs, an older copy replaced the journal, or records were removed. A crash of the process
loses no note; a power cut may leave an older one.
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
    """The chain end that a note file names. An unreadable file has sequence -1, which fits no chain."""

    file: Path
    workspace: str
    head: AuditHead


def read_note(file: Path) -> Note | None:
    """Return the note in a file, or None when the file is missing or empty."""
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        text = b"?"
    if not text:
        return None  # a crash between creating the file and writing to it leaves it empty
    try:
        value: dict[str, Any] = orjson.loads(text)
        return Note(file, str(value["workspace"]), AuditHead(int(value["sequence"]), str(value["hash"])))
    except (ValueError, TypeError, KeyError):
        return Note(file, "", AuditHead(-1, ""))


def note_files(store: Store, outside: Path | None) -> tuple[Path, ...]:
    """Return the note files of a workspace: the one inside, and the one in the directory `outside`, named by
    workspace.
    """
    inside = store.directory / FILE
    if outside is None:
        return (inside,)
    return (inside, outside / f"{store.identity}.head")


def contradictions(store: Store, outside: Path | None, notes: tuple[Note, ...] | None = None) -> list[str]:
    """Return a sentence for each note that contradicts the chain.

    Read the notes before the chain: the chain may grow in between, and a longer chain contradicts no note.
    """
    if notes is None:
        notes = read_notes(store, outside)
    with store.snapshot():
        identity, end = store.identity, read_head(store)
        problems = (_contradiction(store, note, identity, end) for note in notes)
        return [problem for problem in problems if problem is not None]


def read_notes(store: Store, outside: Path | None) -> tuple[Note, ...]:
    notes = (read_note(file) for file in note_files(store, outside))
    return tuple(note for note in notes if note is not None)


def _contradiction(store: Store, note: Note, identity: str, end: AuditHead) -> str | None:
    if note.head.sequence == 0 or (note.workspace == identity and note.head == end):
        return None
    if note.head.sequence < 0:
        return f"{note.file} is damaged: it must name the last record of the audit chain"
    if note.workspace != identity:
        return f"{note.file} belongs to another workspace ({note.workspace}) than journal.db ({identity})"
    row = store.row("SELECT hash FROM audit WHERE sequence = ?", (note.head.sequence,))
    if row is not None and row[0] == note.head.hash:
        return None
    if row is None:
        difference = "is missing"
    else:
        difference = "is a different record"
    return (
        f"{note.file} names record {note.head.sequence} of the audit chain. That record {difference} in journal.db, which ends with record"
        f" {end.sequence}: an older copy replaced the journal, or the chain was cut off or continued elsewhere"
    )


def require_no_contradiction(problems: list[str]) -> None:
    """Raise EnvironmentUnfit when there is any contradiction."""
    if problems:
        fix = (
            f"Put the newest copy back. If you restored an older one on purpose, for example from a backup: `{ACCEPT}`."
        )
        raise EnvironmentUnfit("; ".join(problems), cure=fix, details={"contradictions": problems})


def require_unused(workspace: Path) -> None:
    """Raise EnvironmentUnfit when the directory was a workspace before and has lost its journal.

    Call it before creating a journal.
    """
    note = read_note(workspace / FILE)
    saved = sorted((workspace / CHECKPOINTS).glob("*.blend"), key=lambda path: path.stat().st_mtime)
    if (note is None or note.head.sequence == 0) and not saved:
        return
    if saved:
        restart_hint = f" To continue without its history: `blendwright new --workspace DIR --scene {saved[-1]}`."
    else:
        restart_hint = ""
    raise EnvironmentUnfit(
        f"{workspace} has been used, and its {JOURNAL} is missing or empty",
        cure=f"Restore {JOURNAL} from a backup. If the backup is older than the last change, then also run `{ACCEPT}`.{restart_hint}",
    )
