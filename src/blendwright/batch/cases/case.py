"""A case: one row of parameters for a program, identified by a key over everything that determines its result."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import rfc8785

from blendwright.values.errors import EnvironmentUnfit

# A new version makes the keys of older cases invalid. It is needed whenever a key would change or mean something else.
KEY_VERSION = 1
_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Case:
    """A row of parameters of a batch. Raises EnvironmentUnfit for an invalid key.

    The table of results gives a case its `number` when the case is first added, and never reuses the number. `source` names the
    position of the row for messages, as `table.csv:17`."""

    number: int
    key: str
    params: Mapping[str, Any]
    source: str = ""

    def __post_init__(self) -> None:
        require_key(self.key)

    @property
    def name(self) -> str:
        """Return the name that the files and folders of this case have."""
        return f"{self.number:06d}"


def case_key(identity: Mapping[str, Any], params: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the definition that all cases of a batch share and of this case's parameters, in canonical form."""
    content = {"key_version": KEY_VERSION, "batch": dict(identity), "params": dict(params)}
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()


def is_key(text: object) -> bool:
    """Return whether a value has the form of the keys that `case_key` returns."""
    return isinstance(text, str) and _KEY.fullmatch(text) is not None


def require_key(key: str) -> str:
    """Return the key, or raise EnvironmentUnfit if it does not have the form of a key.

    Keys become names of directories. Users pass tables of results on, so a manipulated key must not lead to another directory."""
    if not is_key(key):
        fix = "The table of results was changed. Restore it from a backup, or start again with another --out."
        raise EnvironmentUnfit(f"the table of results has a case with the invalid key '{key[:70]}'", cure=fix)
    return key
