"""The key that proof bundles are signed with: Ed25519, one for each user, in a file that nobody else can read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.workspace.locations import user_file
from blendwright.workspace.ownership import require_own_directory
from blendwright.workspace.scratch import unfit_on_os_error

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FILE = "audit_key.pem"
MAKE = "Make one: blendwright audit key"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """`public` is the key in hexadecimal, which anybody may know; `fingerprint` is what people compare. `made`: it is new."""

    file: Path
    public: str
    private: Ed25519PrivateKey
    made: bool = False

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(self.public)

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": True,
            "file": str(self.file),
            "public": self.public,
            "fingerprint": self.fingerprint,
            "made": self.made,
        }


def fingerprint_of(public: str) -> str:
    return hashlib.sha256(bytes.fromhex(public)).hexdigest()


def signing_key(*, create: bool = False) -> SigningKey:
    """The user's key; where there is none, a new one if wanted, else Refusal. Raises EnvironmentUnfit where others can read it."""
    file = user_file().with_name(FILE)
    if create and not file.exists():
        with unfit_on_os_error(f"{file} cannot be made", "Check the permissions there."):
            made = _make(file)
        return SigningKey(file, _public(made), made, made=True)
    if not file.exists():
        raise Refusal.of(Fault.TARGET_NOT_FOUND, "there is no key to sign with", MAKE)
    return _read(file)


def _make(file: Path) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    require_own_directory(file.parent, f"no key is kept in {file.parent}")
    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    # Beside it first: whoever finds a key finds a whole one.
    part = file.with_name(f".{FILE}.{os.getpid()}")
    with contextlib.ExitStack() as undo:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            undo.callback(part.unlink, missing_ok=True)
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        os.link(part, file)
    return key


def _read(file: Path) -> SigningKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    with unfit_on_os_error(f"{file} cannot be read", "Check its permissions."), file.open("rb") as opened:
        found = os.fstat(opened.fileno())
        text = opened.read(10_000)
    if hasattr(os, "geteuid") and (stat.S_IMODE(found.st_mode) & 0o077 or found.st_uid != os.geteuid()):
        cure = (
            f"If it may not have been read, `chmod 600 {file}`; else remove it and make another: blendwright audit key"
        )
        raise EnvironmentUnfit(f"{file} can be read by others than you", cure=cure)
    try:
        key = load_pem_private_key(text, password=None)
    except (ValueError, TypeError) as error:
        raise EnvironmentUnfit(f"{file} is no key", cure=f"Remove it. {MAKE}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise EnvironmentUnfit(f"{file} is a key of another sort than Ed25519", cure=f"Remove it. {MAKE}")
    return SigningKey(file, _public(key), key)


def _public(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()
