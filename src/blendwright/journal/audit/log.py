"""An appender of records to the audit chain, inside a transaction of the caller.

A record holds the minimum audit record of the operations contract, the error code, the duration of each phase, its
number, and the hash of the previous record. If a person approved or declined the operation, the record includes the
answer, its kind and its author. If the operation has a commit or a reading, the record includes the hash of that row
(`entry_hash`). The hash of a record is the SHA-256 of its RFC 8785 form, so the records alone suffice to check a
chain.
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
# In addition to the minimum: the error code, and the duration of each phase inside Blender in microseconds. All are nullable.
MORE = ("error_code", "plan_us", "execute_us", "verify_us")
KEYS: frozenset[str] = frozenset((*FIELDS, *MORE, "sequence", "prev"))
APPROVED_KEYS: frozenset[str] = KEYS | {"approval_id", "approval_answer", "approval_by"}
# Journals of the first schema have records without MORE. The program no longer writes such records and leaves them unchanged.
FIRST_KEYS: frozenset[str] = KEYS - {*MORE}
# The field with one hash over the whole row of the commit or reading that a record belongs to.
ENTRY_HASH = "entry_hash"
# The columns that neither the record nor the arguments and the receipt repeat, in the order in which `entry_hash` reads them.
COMMIT_FIELDS = ("number", "parent", "kind", "operation_key", "tool_version", "replayable", "timestamp", "generation")
READING_FIELDS = ("operation_key", "tool_version", "timestamp")

# The sets of keys that a record may have, with and without the hash of an entry.
SHAPES = (KEYS, APPROVED_KEYS, FIRST_KEYS, KEYS | {ENTRY_HASH}, APPROVED_KEYS | {ENTRY_HASH})


def read_head(store: Store) -> AuditHead:
    return AuditHead(*store.one("SELECT audit_sequence, audit_hash FROM state"))


class AuditAppender:
    """A writer that chains records in memory and inserts them with `flush`.

    `head` is the end of the chain after the flush, and `records` are the added records.
    """

    def __init__(self, store: Store, now: str) -> None:
        self._store = store
        self._now = now
        self._rows: list[tuple[int, str, str]] = []
        self.records: list[Mapping[str, Any]] = []
        self.head = read_head(store)
        last = store.row("SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1")
        if (last or (0, self.head.hash)) != (self.head.sequence, self.head.hash):
            raise JournalError(
                "the audit chain does not end at the record that the journal names as its head",
                cure="Run `blendwright audit verify`.",
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
        """Chain one record and return the new head. The appender takes ownership of `fields` and changes them."""
        sequence = self.head.sequence + 1
        fields["sequence"], fields["prev"] = sequence, self.head.hash
        # For a flat object with ASCII keys, strings, nulls and small integers, sorted JSON equals RFC 8785 and is 40 times faster.
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
    """Return the hash of a row: the fields listed above, the arguments and the receipt as they are written, without
    its audit record.

    One line of JSON contains no line break, so no content can move between the three parts unnoticed.
    """
    digest = hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE))
    digest.update(f"{args}\n{receipt}".encode())
    return digest.hexdigest()


def without_record(receipt: str, record: AuditHead) -> str | None:
    """Return the receipt as it was before it named this record, or None when it does not end with that name."""
    for is_empty in (False, True):
        ending = _ending(is_empty, record)
        if receipt.endswith(ending) and (receipt == f"{{{ending}") == is_empty:
            return f"{receipt[: -len(ending)]}}}"
    return None


def _ending(is_empty: bool, record: AuditHead) -> str:
    separator = ","
    if is_empty:
        separator = ""
    return f'{separator}"audit":{{"hash":"{record.hash}","sequence":{record.sequence}}}}}'


# Bytes. Every note has this length, so that overwriting one is a single write of one block.
NOTE_LENGTH = 256


class HeadNotes:
    """The files in which an open journal notes the head of its chain; `head_notes.py` explains their purpose.

    `write` never raises: the commits are already durable, and a failed note does not change that.
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
        if not self._durable:
            return
        for descriptor in self._descriptors:
            with contextlib.suppress(OSError):
                os.fsync(descriptor)

    def close(self) -> None:
        """Stop the command, sync and close the files. A second call does nothing."""
        if self._command is not None:
            self._command.close()
        self.sync()
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()
