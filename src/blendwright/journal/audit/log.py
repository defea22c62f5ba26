"""Appends records to the audit chain, inside a transaction that someone else holds.

A record is the minimum audit record of the operations contract, why it failed and how long it took, plus its number and the hash
of the record before it; that of an operation about which a person was asked says also what was answered, and how, and that of one that
has a commit or a reading has the hash of that (`entry_hash`).
Its hash is the sha256 of its RFC 8785 form, so anyone can check a chain from the records alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from blendwright.journal.audit.head_command import HeadCommand
from blendwright.journal.file_modes import FILE_MODE
from blendwright.journal.store import Store, as_json, sync_directory, translate_errors
from blendwright.records.audit import AuditHead, Status
from blendwright.records.commits import Entry
from blendwright.util import crash_points
from blendwright.values.errors import JournalError

FIELDS = (
    "timestamp",
    "request_id",
    "operation_id",
    "mcp_call_id",
    "blender_mutation_id",
    "tool_name",
    "safety_level",
    "status",
    "scene_hash_before",
    "scene_hash_after",
)
# Beyond the minimum: the code of the failure, and what each phase inside Blender took, in microseconds; all of them nullable.
MORE = ("error_code", "plan_us", "execute_us", "verify_us")
KEYS: frozenset[str] = frozenset((*FIELDS, *MORE, "sequence", "prev"))
APPROVED_KEYS: frozenset[str] = KEYS | {"approval_id", "approval_answer", "approval_by"}
# Journals of the first schema have records without MORE; they are never written any more, and stay as they are.
FIRST_KEYS: frozenset[str] = KEYS - {*MORE}
# What a record says of the commit or reading that it belongs to: one hash over everything that the row holds.
ENTRY_HASH = "entry_hash"
# The columns that neither the record itself nor arguments and receipt say, in the order in which they are hashed.
COMMIT_FIELDS = ("number", "parent", "kind", "operation_key", "tool_version", "replayable", "timestamp", "generation")
READING_FIELDS = ("operation_key", "tool_version", "timestamp")

# What a record may have, for each of those with the hash of an entry and without.
SHAPES = (KEYS, APPROVED_KEYS, FIRST_KEYS, KEYS | {ENTRY_HASH}, APPROVED_KEYS | {ENTRY_HASH})


def read_head(store: Store) -> AuditHead:
    return AuditHead(*store.one("SELECT audit_sequence, audit_hash FROM state"))


class AuditAppender:
    """Chains records in memory and writes them in one go by `flush`; `head` is where the chain will end, `records` what was added."""

    def __init__(self, store: Store, now: str) -> None:
        self._store = store
        self._now = now
        self._rows: list[tuple[int, str, str]] = []
        self.records: list[Mapping[str, Any]] = []
        self.head = read_head(store)
        last = store.row("SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1")
        if (last or (0, self.head.hash)) != (self.head.sequence, self.head.hash):
            raise JournalError(
                "the audit chain does not end where the journal says it does", cure="Run `blendwright audit verify`."
            )

    def append(
        self, entry: Entry, status: Status, before: str, after: str | None, entry_hash: str | None = None
    ) -> AuditHead:
        details = entry.audit
        fields: dict[str, Any] = {
            "timestamp": details.timestamp or self._now,
            "request_id": entry.request_id,
            "operation_id": entry.operation_id,
            "mcp_call_id": details.mcp_call_id,
            "blender_mutation_id": details.blender_mutation_id,
            "tool_name": entry.tool,
            "safety_level": details.safety_level,
            "status": status,
            "scene_hash_before": before,
            "scene_hash_after": after,
            "error_code": details.error_code,
            "plan_us": details.phases_us[0],
            "execute_us": details.phases_us[1],
            "verify_us": details.phases_us[2],
        }
        if (approval := details.approval) is not None:
            fields["approval_id"] = approval.id
            fields["approval_answer"] = approval.answer.value
            fields["approval_by"] = approval.by
        if entry_hash is not None:
            fields[ENTRY_HASH] = entry_hash
        return self.append_fields(fields)

    def append_fields(self, fields: dict[str, Any]) -> AuditHead:
        """`fields` become the record itself: they are the appender's from now on."""
        sequence = self.head.sequence + 1
        fields["sequence"], fields["prev"] = sequence, self.head.hash
        # RFC 8785: of a flat object with ASCII keys, texts, nulls and small integers, sorted JSON is that form, 40 times faster.
        record = as_json("an audit record", fields)
        self.head = AuditHead(sequence, hashlib.sha256(record.encode()).hexdigest())
        self._rows.append((sequence, self.head.hash, record))
        self.records.append(fields)
        return self.head

    def flush(self) -> None:
        if self._rows:
            self._store.change_many("INSERT INTO audit VALUES (?, ?, ?)", self._rows)
            self._store.change(
                "UPDATE state SET audit_sequence = ?, audit_hash = ?", (self.head.sequence, self.head.hash)
            )
            self._rows.clear()


def entry_hash(fields: Sequence[Any], args: str, receipt: str) -> str:
    """Of the fields above, and of arguments and receipt as they are written, the latter without its record. No line of JSON has an end
    of line in it, so nothing can be moved from one of the three to another."""
    digest = hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE))
    digest.update(f"{args}\n{receipt}".encode())
    return digest.hexdigest()


def without_record(receipt: str, record: AuditHead) -> str | None:
    """The receipt as it was before it had the name of this record; None where it does not end with that."""
    for empty in (False, True):
        ending = _ending(empty, record)
        if receipt.endswith(ending) and (receipt == f"{{{ending}") == empty:
            return f"{receipt[: -len(ending)]}}}"
    return None


def _ending(empty: bool, record: AuditHead) -> str:
    return f'{"" if empty else ","}"audit":{{"hash":"{record.hash}","sequence":{record.sequence}}}}}'


# Always as long, so that writing a note again in place is one write of one block.
NOTE_LENGTH = 256


class HeadNotes:
    """The files in which an open journal notes the head of its chain; `head_notes.py` says what for.

    `write` never fails: what is committed is committed, whatever became of a note.
    """

    def __init__(self, store: Store, files: Sequence[Path], command: HeadCommand | None = None) -> None:
        self._beginning = as_json("the workspace", {"workspace": store.identity})[:-1].encode()
        self._durable = store.durable
        self._descriptors: list[int] = []
        for file in files:
            with translate_errors(f"noting the head of the audit chain in {file}"):
                is_new = not file.exists()
                self._descriptors.append(os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, FILE_MODE))
                if is_new and store.durable:
                    sync_directory(file.parent)
        self._command: HeadCommand | None = None
        head = read_head(store)
        self.write(head)
        crash_points.reach("head_notes.before_sync")
        self.sync()
        if command is not None:
            try:
                command.require(self._text(head))
            except BaseException:
                self.close()
                raise
            self._command = command

    def _text(self, head: AuditHead) -> bytes:
        return b'%s,"sequence":%d,"hash":"%s"}' % (self._beginning, head.sequence, head.hash.encode())

    def write(self, head: AuditHead) -> None:
        text = self._text(head)
        if self._command is not None:
            self._command.tell(text)
        for descriptor in self._descriptors:
            with contextlib.suppress(OSError):
                os.pwrite(descriptor, text.ljust(NOTE_LENGTH - 1) + b"\n", 0)

    def sync(self) -> None:
        for descriptor in self._descriptors if self._durable else ():
            with contextlib.suppress(OSError):
                os.fsync(descriptor)

    def close(self) -> None:
        """A second time does nothing."""
        if self._command is not None:
            self._command.close()
        self.sync()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()
