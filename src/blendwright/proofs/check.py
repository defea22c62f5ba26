"""A check of the lines of a proof bundle against each other, from the lines alone.

It checks the chain of audit records, commits and receipts against the chain, and moves and checkpoints against the
commits. It keeps only hashes of the lines in memory, and does not check signatures.
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

# The number of lines of one bundle. The limit protects against bundles that are made to harm their verifier.
MOST_LINES = 5_000_000
LINE_ORDER = (*SECTIONS, "scene")
# The fields of a record that its commit or reading repeats, under the names of both.
_REPEATED = {"request_id": "request_id", "operation_id": "operation_id", "tool": "tool_name"}


class _Record(NamedTuple):
    """The fields of an audit record for the comparison with its commit or reading."""

    hash: str
    ends: tuple[Any, ...]
    status: str
    entry_hash: str | None


_NO_RECORD = _Record("", (), "", "")
# The JSON text of a hidden value.
_MARK = as_json("hidden", {"": HIDDEN})[4:-1]


class ProofCheck:
    """A check that takes the lines in order. `header` is None until the first readable header line."""

    def __init__(self) -> None:
        self.header: Mapping[str, Any] | None = None
        self.head = AuditHead(0, "")
        self.counts: Counter[str] = Counter()
        self.not_covered = 0
        """The number of commits and readings whose records have no hash of them, because an older version wrote the records."""
        self._records: dict[int, _Record] = {}
        self._owned: set[int] = set()
        self._history = HistoryCheck()
        self._scenes: dict[str, tuple[int, Any]] = {}
        self._wanted: dict[str, int] = {}
        self._section = 0

    def take(self, text: bytes) -> Iterator[str]:
        """Yield the problems of one line as sentences."""
        try:
            value: Any = orjson.loads(text)
            ((name, content),) = cast("dict[str, dict[str, Any]]", value).items()
            if as_json("a line", value).encode() != text:
                yield "the line is not in canonical form"
                return
            if self.header is None:
                yield from self._begin(name, content)
                return
            self.counts[name] += 1
            yield from self._ordered(name)
            yield from _CHECKS[name](self, content)
        except (ValueError, TypeError, AttributeError, LookupError, JournalError):
            yield "the line does not belong in a bundle"

    def end(self) -> Iterator[str]:
        """Yield the problems that show only after the last line."""
        if self.header is None:
            return
        for name, count in self.header["counts"].items():
            if self.counts[name] != count:
                yield f"the header promises {count} lines of the kind {name}, but the bundle has {self.counts[name]}"
        expected_head = AuditHead(self.header["head"]["sequence"], self.header["head"]["hash"])
        if self.head != expected_head:
            yield f"the chain ends with record {self.head.sequence}, but the header names {expected_head.sequence}:{expected_head.hash}"
        for sequence, record in self._records.items():
            if record.status == "succeeded" and sequence not in self._owned:
                yield f"record {sequence} reports a success, but its commit or reading is missing"
        yield from self._history.end()
        expected_branches = []
        if self.header["branch"] is not None:
            expected_branches = [self.header["branch"]]
        if [*self._history.entered] != expected_branches:
            yield "the header names another branch than the branch events lead to"
        if not self.header["scenes"]:
            return
        for sha256, size in self._wanted.items():
            length, digest = self._scenes.get(sha256, (-1, None))
            if digest is None or length != size or digest.hexdigest() != sha256:
                yield f"the scene {sha256} is missing or differs from its checkpoint"

    def _begin(self, name: str, header: dict[str, Any]) -> Iterator[str]:
        if name != "header" or header["format"] != FORMAT:
            yield f"the first line is not the header of a bundle in the format {FORMAT}"
            return
        counts: dict[str, int] = {str(sort): int(count) for sort, count in header["counts"].items()}
        if counts.keys() != SECTIONS.keys() or not 0 <= sum(counts.values()) <= MOST_LINES or min(counts.values()) < 0:
            yield f"the header has impossible counts: a bundle has at most {MOST_LINES} lines, of the kinds {', '.join(SECTIONS)}"
            return
        self.head = AuditHead(0, genesis(str(header["workspace"])))
        # Raise KeyError for a missing field.
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
        position = LINE_ORDER.index(name)
        if position < self._section:
            yield f"the line is of the kind {name}, whose section has ended"
        self._section = max(self._section, position)

    # ------------------------------------------------------------------ the kinds of lines

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
            self.not_covered += 1  # the hash of a row with hidden values cannot be computed
        else:
            yield f"{owner} was edited: it does not have the content that record {sequence} proves"

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
            yield f"the line belongs to a scene that no checkpoint names, or is out of order: {sha256}"
            return
        try:
            chunk = base64.b64decode(content["content"], validate=True)
        except binascii.Error:
            yield "the line does not have valid Base64 content"
            return
        digest.update(chunk)
        self._scenes[sha256] = (length + len(chunk), digest)


_CHECKS: dict[str, Callable[[ProofCheck, dict[str, Any]], Iterator[str]]] = {
    name: getattr(ProofCheck, f"_{name}") for name in LINE_ORDER
}


def _ends(content: Mapping[str, Any], before: str, after: str, names: Any) -> tuple[Any, ...]:
    return (content[before], content[after], *(content[name] for name in names))
