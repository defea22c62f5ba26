"""Checks the lines of a proof bundle against each other: the chain of audit records, commits and receipts against it, moves and checkpoints
against the commits. Needs nothing but the lines, and holds no more of them than their hashes; signatures are not its business.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import orjson

from blendwright.journal.audit.history_check import HistoryCheck
from blendwright.journal.audit.log import COMMIT_FIELDS, ENTRY_HASH, READING_FIELDS, entry_hash
from blendwright.journal.audit.proof_lines import FORMAT, SECTIONS
from blendwright.journal.audit.verification import record_problems
from blendwright.journal.schema import genesis
from blendwright.journal.store import as_json
from blendwright.policy.redaction import HIDDEN
from blendwright.records.audit import ACTS, AuditHead
from blendwright.values.errors import JournalError

# What one bundle may have: whoever made it may want to harm who checks it.
MOST_LINES = 5_000_000
ORDER = (*SECTIONS, "scene")
# The fields of a record that its commit or reading repeats, under the names of both.
_REPEATED = {"request_id": "request_id", "operation_id": "operation_id", "tool": "tool_name"}


class _Record(NamedTuple):
    """What of an audit record its commit or reading is compared with."""

    hash: str
    ends: tuple[Any, ...]
    status: str
    entry_hash: str | None


_NO_RECORD = _Record("", (), "", "")
# A value that is hidden, as it is written.
_MARK = as_json("hidden", {"": HIDDEN})[4:-1]


class ProofCheck:
    """Takes the lines in their order; `header` is the first, None while there is none that can be read."""

    def __init__(self) -> None:
        self.header: Mapping[str, Any] | None = None
        self.head = AuditHead(0, "")
        self.counts: Counter[str] = Counter()
        self.not_covered = 0
        """How many commits and readings have records that do not say what is in them: older programs wrote those."""
        self._records: dict[int, _Record] = {}
        self._owned: set[int] = set()
        self._history = HistoryCheck()
        self._scenes: dict[str, tuple[int, Any]] = {}
        self._wanted: dict[str, int] = {}
        self._section = 0

    def take(self, text: bytes) -> Iterator[str]:
        """What is wrong with one line, in sentences."""
        try:
            value: Any = orjson.loads(text)
            ((name, content),) = cast("dict[str, dict[str, Any]]", value).items()
            if as_json("a line", value).encode() != text:
                yield "it is not a line in canonical form"
                return
            if self.header is None:
                yield from self._begin(name, content)
                return
            self.counts[name] += 1
            yield from self._ordered(name)
            yield from _CHECKS[name](self, content)
        except (ValueError, TypeError, AttributeError, LookupError, JournalError):
            yield "it is not a line of a bundle"

    def end(self) -> Iterator[str]:
        """What is missing when there are no more lines."""
        if self.header is None:
            return
        for name, count in self.header["counts"].items():
            if self.counts[name] != count:
                yield f"the header says that there are {count} lines of the sort {name}, and there are {self.counts[name]}"
        said = AuditHead(self.header["head"]["sequence"], self.header["head"]["hash"])
        if self.head != said:
            yield f"the chain ends with record {self.head.sequence}, and the header says {said.sequence}:{said.hash}"
        for sequence, record in self._records.items():
            if record.status == "succeeded" and sequence not in self._owned:
                yield f"record {sequence} reports a success of which there is no commit and no reading"
        yield from self._history.end()
        if [*self._history.entered] != [name for name in (self.header["branch"],) if name is not None]:
            yield "the header names another branch than the moves of branches lead to"
        for sha256, size in self._wanted.items() if self.header["scenes"] else ():
            length, digest = self._scenes.get(sha256, (-1, None))
            if digest is None or length != size or digest.hexdigest() != sha256:
                yield f"the scene {sha256} is not in it as a checkpoint names it"

    def _begin(self, name: str, header: dict[str, Any]) -> Iterator[str]:
        if name != "header" or header["format"] != FORMAT:
            yield f"it is not the header of a bundle of the form {FORMAT}"
            return
        counts: dict[str, int] = {str(sort): int(count) for sort, count in header["counts"].items()}
        if counts.keys() != SECTIONS.keys() or not 0 <= sum(counts.values()) <= MOST_LINES or min(counts.values()) < 0:
            yield f"it says what no bundle has: at most {MOST_LINES} lines, of the sorts {', '.join(SECTIONS)}"
            return
        self.head = AuditHead(0, genesis(str(header["workspace"])))
        _ = (
            header["head"]["sequence"],
            header["head"]["hash"],
            header["branch"],
            header["scenes"],
            header["key"],
            header["hidden"],
        )
        self.header = header

    def _ordered(self, name: str) -> Iterator[str]:
        place = ORDER.index(name)
        if place < self._section:
            yield f"it is of the sort {name}, which is over"
        self._section = max(self._section, place)

    # ------------------------------------------------------------------ the sorts of lines

    def _audit(self, content: dict[str, Any]) -> Iterator[str]:
        record, hash = content["record"], content["hash"]
        sequence = self.head.sequence + 1
        yield from record_problems(sequence, hash, as_json("a record", record), self.head)
        self.head = AuditHead(sequence, hash)
        ends = _ends(record, "scene_hash_before", "scene_hash_after", _REPEATED.values())
        self._records[sequence] = _Record(hash, ends, record["status"], record.get(ENTRY_HASH))
        if record["tool_name"] in ACTS:
            self._owned.add(sequence)  # an act of a person belongs to no commit

    def _commit(self, content: dict[str, Any]) -> Iterator[str]:
        number, ends = content["number"], (content["hash_before"], content["hash_after"])
        yield from self._history.commit(number, content["parent"], content["generation"], *ends)
        ends = _ends(content, "hash_before", "hash_after", _REPEATED)
        yield from self._owner(f"commit {number}", content, ends, COMMIT_FIELDS)

    def _reading(self, content: dict[str, Any]) -> Iterator[str]:
        ends = _ends(content, "scene_hash", "scene_hash", _REPEATED)
        yield from self._owner(f"reading {content['id']}", content, ends, READING_FIELDS)

    def _owner(
        self, owner: str, content: dict[str, Any], ends: tuple[Any, ...], fields: tuple[str, ...]
    ) -> Iterator[str]:
        sequence = content["audit_sequence"]
        record = self._records.get(sequence, _NO_RECORD)
        self._owned.add(sequence)
        receipt = dict(content["receipt"])
        if receipt.pop("audit") != {"sequence": sequence, "hash": record.hash}:
            yield f"record {sequence} is not the one that the receipt of {owner} names"
        if record.ends != ends:
            yield f"record {sequence} and {owner} disagree"
        if record.entry_hash is None:
            self.not_covered += 1
            return
        args, text = as_json("the arguments", content["args"]), as_json("the receipt", receipt)
        if entry_hash([content[name] for name in fields], args, text) == record.entry_hash:
            return
        if self.header is not None and self.header["hidden"] and _MARK in args + text:
            self.not_covered += 1  # what is hidden cannot be hashed
        else:
            yield f"{owner} was edited: it is not what record {sequence} says that it is"

    def _move(self, content: dict[str, Any]) -> Iterator[str]:
        yield from self._history.move(content["id"], content["kind"], content["from_commit"], content["to_commit"])

    def _branch(self, content: dict[str, Any]) -> Iterator[str]:
        yield from self._history.branch(content["branch"], content["kind"], content["number"])

    def _merge(self, content: dict[str, Any]) -> Iterator[str]:
        yield from self._history.merge(content["request_id"], content["base"], content["ours"], content["theirs"])

    def _checkpoint(self, content: dict[str, Any]) -> Iterator[str]:
        yield from self._history.checkpoint(content["number"], content["scene_hash"])
        self._wanted[content["sha256"]] = content["size"]

    def _scene(self, content: dict[str, Any]) -> Iterator[str]:
        sha256 = content["sha256"]
        length, digest = self._scenes.get(sha256) or (0, hashlib.sha256())
        if sha256 not in self._wanted or content["offset"] != length:
            yield f"it is no part of a scene that a checkpoint names: {sha256}"
            return
        try:
            chunk = base64.b64decode(content["content"], validate=True)
        except binascii.Error:
            yield "it is no part of a file"
            return
        digest.update(chunk)
        self._scenes[sha256] = (length + len(chunk), digest)


_CHECKS: dict[str, Callable[[ProofCheck, dict[str, Any]], Iterator[str]]] = {
    name: getattr(ProofCheck, f"_{name}") for name in ORDER
}


def _ends(content: Mapping[str, Any], before: str, after: str, names: Any) -> tuple[Any, ...]:
    return (content[before], content[after], *(content[name] for name in names))
