"""Proof bundles: a journal in one signed file, which is checked elsewhere without the workspace and without Blender.

The file is lines of JSON: what the journal holds (`journal/audit/proof_lines.py`), then the digests of those lines, a thousand in a
line, then the signature over everything before it. So an edit is found by the signature, and its line by the digests and by the chain.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from blendwright.journal.audit.proof_lines import FORMAT
from blendwright.journal.store import as_json
from blendwright.proofs.check import MOST_LINES, ProofCheck
from blendwright.proofs.signing_keys import SigningKey, fingerprint_of, signing_key
from blendwright.records.audit import AuditHead
from blendwright.util.no_follow import open_directory, write_whole
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.policy_files import load_policy
from blendwright.workspace.reading import read_journal
from blendwright.workspace.settings import heads_directory

# Of each line the beginning of its sha256: it says where, and the signature says whether.
DIGEST, PER_LINE = 16, 1000
LONGEST_LINE = 64 << 20
MOST_PROBLEMS = 50
SIGNED = f"{FORMAT}\n".encode()
_HEX_KEY = re.compile("[0-9a-f]{64}")
_HEX_SIGNATURE = re.compile("[0-9a-f]{128}")


@dataclass(frozen=True, slots=True)
class WrittenBundle:
    file: Path
    size: int
    head: AuditHead
    fingerprint: str

    def to_json(self) -> dict[str, Any]:
        head = {"sequence": self.head.sequence, "hash": self.head.hash}
        return {"ok": True, "file": str(self.file), "bytes": self.size, "head": head, "fingerprint": self.fingerprint}


@dataclass(frozen=True, slots=True)
class BundleReport:
    """`problems` begin with the line that they are about. `trusted` says whether the key is one of those that were named, None where
    none was: then nobody has vouched for it. `not_covered` is how many commits and readings cannot be held against their records, since
    values are hidden in them or an older program wrote them; the signature covers them all the same."""

    head: AuditHead
    records: int
    commits: int
    fingerprint: str | None
    trusted: bool | None
    problems: tuple[str, ...]
    not_covered: int

    @property
    def ok(self) -> bool:
        return not self.problems and self.trusted is not False

    def to_json(self) -> dict[str, Any]:
        head = {"sequence": self.head.sequence, "hash": self.head.hash}
        return {
            "ok": self.ok, "head": head, "records": self.records, "commits": self.commits, "fingerprint": self.fingerprint,
            "trusted": self.trusted, "problems": list(self.problems), "not_covered": self.not_covered,
        }  # fmt: skip


def write_bundle(
    workspace: str | Path, file: Path, *, scenes: bool = False, overwrite: bool = False, key: SigningKey | None = None
) -> WrittenBundle:
    """Sign what the journal holds at this moment, with the user's key; `scenes` puts the saved scenes in too.

    Raises Refusal where there is no key, the file is there, or the audit chain does not hold; EnvironmentUnfit where it cannot be
    written."""
    key = key or signing_key()
    if file.exists() and not overwrite:
        raise Refusal.of(Fault.SCENE_CONFLICT, f"{file} is there already", "Name another file, or give --overwrite.")
    policy = load_policy(Path(workspace).resolve()).policy
    with read_journal(workspace) as journal, tempfile.TemporaryFile() as made:
        report = journal.audit.verify(heads_outside=heads_directory(policy))
        if not report.ok:
            cure = "See what is wrong: blendwright audit verify"
            raise Refusal.of(Fault.VERIFICATION_FAILED, f"the audit chain does not hold: {report.problems[0]}", cure)
        lines = journal.audit.proof_lines(key=key.public, hidden=policy.audit.redact, with_scenes=scenes)
        try:
            _write(made, lines, key)
            size = made.tell()
            made.seek(0)
            with open_directory(file.parent.resolve(), make=0o777) as directory:
                write_whole(directory, file.name, made)
        except OSError as error:
            raise EnvironmentUnfit(f"{file} cannot be written: {error.strerror}", cure="Name another place.") from error
    return WrittenBundle(file, size, report.head, key.fingerprint)


def _write(made: BinaryIO, lines: Iterator[bytes], key: SigningKey) -> None:
    whole = hashlib.sha256()
    digests: list[str] = []

    def put(line: bytes) -> None:
        whole.update(line + b"\n")
        made.write(line + b"\n")

    for line in lines:
        digests.append(line_digest(line))
        put(line)
    for at in range(0, len(digests), PER_LINE):
        put(as_json("the digests", {"digests": "".join(digests[at : at + PER_LINE])}).encode())
    signature = key.private.sign(SIGNED + whole.digest()).hex()
    made.write(as_json("the signature", {"signature": signature}).encode() + b"\n")


def verify_bundle(file: Path, *, keys: Sequence[str] = ()) -> BundleReport:
    """Check a bundle by itself. `keys` are fingerprints, or public keys, of those who are trusted to sign it.

    Raises EnvironmentUnfit where there is no such file. Nothing that is in it is run, and no more of it is held than its hashes."""
    trusted = {_fingerprint(key) for key in keys}
    try:
        with file.open("rb") as opened:
            return _Reader(opened).report(trusted)
    except OSError as error:
        raise EnvironmentUnfit(f"{file} cannot be read: {error.strerror}", cure="Check the path.") from error


def _fingerprint(key: str) -> str:
    """A public key and its fingerprint are equally long: a key is known by either."""
    text = key.strip().lower()
    if len(text) != 64 or not set(text) <= set("0123456789abcdef"):
        cure = "Give the fingerprint that `blendwright audit key` printed where the bundle was made."
        raise Refusal.of(Fault.ARGS_INVALID, f"'{key[:80]}' is no fingerprint of a key", cure)
    return text


class _Reader:
    """One pass over the lines."""

    def __init__(self, opened: BinaryIO) -> None:
        self._opened = opened
        self._check = ProofCheck()
        self._problems: list[str] = []
        self._digests: list[str] = []
        self._listed = 0
        self._whole = hashlib.sha256()

    def report(self, trusted: set[str]) -> BundleReport:
        signature = self._read()
        for problem in self._check.end():
            self._note(0, problem)
        if self._listed != len(self._digests):
            self._note(0, f"there are {len(self._digests)} lines, and digests of {self._listed}")
        if self._check.header is None:
            key = None
        else:
            key = str(self._check.header["key"])
        if key is not None and _HEX_KEY.fullmatch(key):
            fingerprint = fingerprint_of(key)
        else:
            fingerprint = None
        if signature is None:
            self._note(0, "it has no signature at its end: it was cut off")
        elif key is None or fingerprint is None:
            self._note(0, "the key that it names is no key: nobody has signed it")
        elif not _is_signed(key, signature, self._whole.digest()):
            self._note(0, "the signature is not that of this content by this key: something in it was changed")
        if not trusted:
            is_trusted = None
        else:
            is_trusted = bool({fingerprint, key} & trusted)
        if is_trusted is False:
            self._note(0, f"it is signed by another key than was named: {fingerprint}")
        counts = self._check.counts
        return BundleReport(
            self._check.head,
            counts["audit"],
            counts["commit"],
            fingerprint,
            is_trusted,
            tuple(self._problems[:MOST_PROBLEMS]),
            self._check.not_covered,
        )

    def _read(self) -> str | None:
        """The signature, where the last line is one."""
        number = 0
        while line := self._opened.readline(LONGEST_LINE + 1):
            number += 1
            if number > MOST_LINES + MOST_LINES // PER_LINE + 2 or len(line) > LONGEST_LINE:
                self._note(number, "the bundle is larger than any that is made")
                return None
            text = line[:-1]
            if not line.endswith(b"\n"):
                self._note(number, "it is cut off")
                return None
            found = _last_part(text)
            if found is None:
                self._digests.append(line_digest(text))
                for problem in self._check.take(text):
                    self._note(number, problem)
            elif found[0] == "signature":
                if self._opened.read(1):
                    self._note(number + 1, "there is something behind the signature")
                return found[1]
            else:
                self._compare(found[1])
            self._whole.update(line)
            if len(self._problems) > MOST_PROBLEMS:
                return None
        return None

    def _compare(self, listed: str) -> None:
        for at in range(0, len(listed), DIGEST):
            place = self._listed
            self._listed += 1
            if place >= len(self._digests) or self._digests[place] != listed[at : at + DIGEST]:
                self._note(place + 1, "the line is not the one that was signed")

    def _note(self, line: int, problem: str) -> None:
        if len(self._problems) <= MOST_PROBLEMS:
            self._problems.append(f"line {line}: {problem}" if line else problem)


def line_digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:DIGEST]


def _last_part(text: bytes) -> tuple[str, str] | None:
    """The name and the text of a line of digests or of the signature; None for any other."""
    if not text.startswith((b'{"digests":"', b'{"signature":"')):
        return None
    try:
        ((name, content),) = orjson.loads(text).items()
    except (ValueError, AttributeError):
        return None
    ours = isinstance(content, str) and as_json("a line", {name: content}).encode() == text
    if ours:
        return (name, content)
    return None


def _is_signed(key: str, signature: str, digest: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not _HEX_SIGNATURE.fullmatch(signature):
        return False  # the same one in other letters would be another file
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), SIGNED + digest)
    except (InvalidSignature, ValueError):
        return False
    return True
