"""The key that signs proof bundles: Ed25519, one per user, in a file that only the user can read."""

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
MAKE = "Create one: blendwright audit key"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A signing key. `public` is the public key in hexadecimal, `fingerprint` is for comparison by people, `made`
    means newly created.
    """

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
    """Return the user's key, or create it with `create`.

    Raise Refusal when it does not exist, and EnvironmentUnfit if others can read it.
    """
    file = user_file().with_name(FILE)
    if create and not file.exists():
        with unfit_on_os_error(f"{file} cannot be created", "Check the permissions there."):
            private = _make(file)
        return SigningKey(file, _public(private), private, made=True)
    if not file.exists():
        raise Refusal.of(Fault.TARGET_NOT_FOUND, "there is no signing key", MAKE)
    return _read(file)


def _make(file: Path) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    require_own_directory(file.parent, f"no key is stored in {file.parent}")
    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    # Write a temporary file first, so that other processes never see an incomplete key.
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
        status = os.fstat(opened.fileno())
        text = opened.read(10_000)
    if hasattr(os, "geteuid") and (stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid != os.geteuid()):
        fix = f"If no other user has read it, `chmod 600 {file}`. Otherwise remove it and create another: blendwright audit key"
        raise EnvironmentUnfit(f"{file} can be read by other users", cure=fix)
    try:
        key = load_pem_private_key(text, password=None)
    except (ValueError, TypeError) as error:
        raise EnvironmentUnfit(f"{file} does not contain a key", cure=f"Remove it. {MAKE}") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise EnvironmentUnfit(f"{file} contains another kind of key than Ed25519", cure=f"Remove it. {MAKE}")
    return SigningKey(file, _public(key), key)


def _public(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()
