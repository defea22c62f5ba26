"""The audit chain for readers: its records, its verification, and its lines in a proof bundle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from blendwright.journal.audit import head_notes, verification
from blendwright.journal.audit.log import read_head
from blendwright.journal.audit.proof_lines import proof_lines
from blendwright.journal.checkpoints.files import CheckpointFiles
from blendwright.journal.store import Store
from blendwright.records.audit import AuditHead, AuditRecord, AuditReport


class AuditReader:
    """A reader of the hash-chained record of every operation that ran or failed."""

    def __init__(self, store: Store, files: CheckpointFiles) -> None:
        self._store = store
        self._files = files

    @property
    def head(self) -> AuditHead:
        """The end of the audit chain."""
        return read_head(self._store)

    def records(self, *, after: int = 0, limit: int = 100, **fields: str) -> tuple[AuditRecord, ...]:
        """Return records in order, starting after `after`. Only records whose fields have these values are included."""
        return verification.records(self._store, after, limit, fields)

    def verify(self, known_heads: Sequence[AuditHead] = (), *, heads_outside: Path | None = None) -> AuditReport:
        """Check the whole chain, and check that it contains the heads in receipts, in notes, and in `known_heads`.

        `heads_outside` is the directory outside the workspace that holds notes of the head.
        """
        notes = head_notes.read_notes(self._store, heads_outside)
        report = verification.verify(self._store, known_heads)
        contradictions = head_notes.contradictions(self._store, heads_outside, notes)
        return replace(report, problems=(*report.problems, *contradictions))

    def proof_lines(self, *, key: str, hidden: Sequence[str], with_scenes: bool = False) -> Iterator[bytes]:
        """Return the journal as the lines of a proof bundle, as of one moment."""
        return proof_lines(self._store, self._files, key=key, hidden=hidden, with_scenes=with_scenes)
