"""Proof bundles: a journal in one signed file, which can be verified elsewhere without the workspace and without
Blender.

The file has lines of JSON: the content of the journal (`journal/audit/proof_lines.py`), the digests of these lines, a
thousand per line, and the signature of everything before it. The signature reveals an edit; the digests and the chain
show its line.
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

# The number of hexadecimal digits per digest, and the number of digests per line. Digests only locate an edit, so a part of the
# SHA-256 is enough: the signature proves the content.
DIGEST_DIGITS, DIGESTS_PER_LINE = 16, 1000
# The maximum length of a line in bytes.
LONGEST_LINE = 64 << 20
# The number of problems that a report lists.
MAX_PROBLEMS = 50
SIGNED_PREFIX = f"{FORMAT}\n".encode()
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
    """The verification of a bundle. `problems` begin with the number of their line. `trusted` says whether the key is
    a trusted one.

    `trusted` is None if the caller named no key. `not_covered` counts the commits and readings that cannot be checked
    against their records, because values are hidden or an older version wrote the records. The signature covers them
    nevertheless.
    """

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
    """Write the current content of the journal to a signed bundle, with the user's key. `scenes` adds the saved
    scenes.

    Raise Refusal when the key is missing, the file exists, or the audit chain is broken, and EnvironmentUnfit when
    the file cannot be written.
    """
    key = key or signing_key()
    if file.exists() and not overwrite:
        raise Refusal.of(Fault.SCENE_CONFLICT, f"{file} exists already", "Name another file, or give --overwrite.")
    policy = load_policy(Path(workspace).resolve()).policy
    with read_journal(workspace) as journal, tempfile.TemporaryFile() as output:
        report = journal.audit.verify(heads_outside=heads_directory(policy))
        if not report.ok:
            fix = "List the problems: blendwright audit verify"
            raise Refusal.of(Fault.VERIFICATION_FAILED, f"the audit chain is broken: {report.problems[0]}", fix)
        lines = journal.audit.proof_lines(key=key.public, hidden=policy.audit.redact, with_scenes=scenes)
        try:
            _write(output, lines, key)
            size = output.tell()
            output.seek(0)
            with open_directory(file.parent.resolve(), make=0o777) as directory:
                write_whole(directory, file.name, output)
        except OSError as error:
            raise EnvironmentUnfit(f"{file} cannot be written: {error.strerror}", cure="Name another path.") from error
    return WrittenBundle(file, size, report.head, key.fingerprint)


def _write(output: BinaryIO, lines: Iterator[bytes], key: SigningKey) -> None:
    content_hash = hashlib.sha256()
    digests: list[str] = []

    def put(line: bytes) -> None:
        content_hash.update(line + b"\n")
        output.write(line + b"\n")

    for line in lines:
        digests.append(line_digest(line))
        put(line)
    for at in range(0, len(digests), DIGESTS_PER_LINE):
        put(as_json("the digests", {"digests": "".join(digests[at : at + DIGESTS_PER_LINE])}).encode())
    signature = key.private.sign(SIGNED_PREFIX + content_hash.digest()).hex()
    output.write(as_json("the signature", {"signature": signature}).encode() + b"\n")


def verify_bundle(file: Path, *, keys: Sequence[str] = ()) -> BundleReport:
    """Verify a bundle without its workspace. `keys` are fingerprints or public keys of trusted signers.

    Raise EnvironmentUnfit when the file cannot be read. Verification runs nothing from the bundle and keeps only its
    hashes in memory.
    """
    trusted = {_fingerprint(key) for key in keys}
    try:
        with file.open("rb") as opened:
            return _Reader(opened).report(trusted)
    except OSError as error:
        raise EnvironmentUnfit(f"{file} cannot be read: {error.strerror}", cure="Check the path.") from error


def _fingerprint(key: str) -> str:
    """Return a key or fingerprint in canonical form, after checking its format.

    Both have the same length, and either identifies a key.
    """
    text = key.strip().lower()
    if len(text) != 64 or not set(text) <= set("0123456789abcdef"):
        fix = "Give the fingerprint that `blendwright audit key` prints on the machine of the signer."
        raise Refusal.of(Fault.ARGS_INVALID, f"'{key[:80]}' is not a fingerprint of a key", fix)
    return text


class _Reader:
    """A verifier that reads the lines of a bundle once."""

    def __init__(self, opened: BinaryIO) -> None:
        self._opened = opened
        self._check = ProofCheck()
        self._problems: list[str] = []
        self._digests: list[str] = []
        self._digest_count = 0
        self._content_hash = hashlib.sha256()

    def report(self, trusted: set[str]) -> BundleReport:
        signature = self._read()
        for problem in self._check.end():
            self._note(0, problem)
        if self._digest_count != len(self._digests):
            self._note(0, f"the bundle has {len(self._digests)} lines, but digests of {self._digest_count}")
        if self._check.header is None:
            key = None
        else:
            key = str(self._check.header["key"])
        if key is not None and _HEX_KEY.fullmatch(key):
            fingerprint = fingerprint_of(key)
        else:
            fingerprint = None
        if signature is None:
            self._note(0, "the bundle has no signature at its end: it was cut off")
        elif key is None or fingerprint is None:
            self._note(0, "the header does not name a valid key, so no signature can be checked")
        elif not _is_signed(key, signature, self._content_hash.digest()):
            self._note(0, "the signature does not match the content and the key: the bundle was changed")
        if not trusted:
            is_trusted = None
        else:
            is_trusted = bool({fingerprint, key} & trusted)
        if is_trusted is False:
            self._note(0, f"the bundle is signed by a key that is not trusted: {fingerprint}")
        counts = self._check.counts
        return BundleReport(
            self._check.head,
            counts["audit"],
            counts["commit"],
            fingerprint,
            is_trusted,
            tuple(self._problems[:MAX_PROBLEMS]),
            self._check.not_covered,
        )

    def _read(self) -> str | None:
        """Read all lines, and return the signature, or None if the bundle has none."""
        number = 0
        while line := self._opened.readline(LONGEST_LINE + 1):
            number += 1
            if number > MOST_LINES + MOST_LINES // DIGESTS_PER_LINE + 2 or len(line) > LONGEST_LINE:
                self._note(number, "the bundle is larger than any that Blendwright writes")
                return None
            text = line[:-1]
            if not line.endswith(b"\n"):
                self._note(number, "the line is cut off")
                return None
            ending = _last_part(text)
            if ending is None:
                self._digests.append(line_digest(text))
                for problem in self._check.take(text):
                    self._note(number, problem)
            elif ending[0] == "signature":
                if self._opened.read(1):
                    self._note(number + 1, "there is content after the signature")
                return ending[1]
            else:
                self._compare(ending[1])
            self._content_hash.update(line)
            if len(self._problems) > MAX_PROBLEMS:
                return None
        return None

    def _compare(self, digests: str) -> None:
        for at in range(0, len(digests), DIGEST_DIGITS):
            index = self._digest_count
            self._digest_count += 1
            if index >= len(self._digests) or self._digests[index] != digests[at : at + DIGEST_DIGITS]:
                self._note(index + 1, "the line differs from the signed one")

    def _note(self, line: int, problem: str) -> None:
        if len(self._problems) > MAX_PROBLEMS:
            return
        if line:
            problem = f"line {line}: {problem}"
        self._problems.append(problem)


def line_digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:DIGEST_DIGITS]


def _last_part(text: bytes) -> tuple[str, str] | None:
    """Return name and content of a line of digests or of the signature, or None for any other line."""
    if not text.startswith((b'{"digests":"', b'{"signature":"')):
        return None
    try:
        ((name, content),) = orjson.loads(text).items()
    except (ValueError, AttributeError):
        return None
    is_canonical = isinstance(content, str) and as_json("a line", {name: content}).encode() == text
    if is_canonical:
        return (name, content)
    return None


def _is_signed(key: str, signature: str, digest: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if not _HEX_SIGNATURE.fullmatch(signature):
        return False  # uppercase digits would be a second file with the same signature
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), SIGNED_PREFIX + digest)
    except (InvalidSignature, ValueError):
        return False
    return True
