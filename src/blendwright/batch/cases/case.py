"""A case: one row of parameters for a program, known by a key that follows from everything that decides what comes of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import rfc8785

from blendwright.values.errors import EnvironmentUnfit

# Raised whenever equal cases would get another key, or the same key would mean something else.
KEY_VERSION = 1
_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Case:
    """`number` is given when a case is first added to a table of results, and never to another one. `source` says where its row
    stands, for messages, as `table.csv:17`. Raises EnvironmentUnfit for a key that is none."""

    number: int
    key: str
    params: Mapping[str, Any]
    source: str = ""

    def __post_init__(self) -> None:
        require_key(self.key)

    @property
    def name(self) -> str:
        """As files and folders of it are called."""
        return f"{self.number:06d}"


def case_key(identity: Mapping[str, Any], params: Mapping[str, Any]) -> str:
    """sha256 over what all cases of a batch have in common and the parameters of this one, in canonical form."""
    content = {"key_version": KEY_VERSION, "batch": dict(identity), "params": dict(params)}
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()


def is_key(text: object) -> bool:
    """Whether this is a key as `case_key` makes them."""
    return isinstance(text, str) and _KEY.fullmatch(text) is not None


def require_key(key: str) -> str:
    """Directories are named by keys, and tables of results are passed on: one that somebody has tampered with must not name another
    place. Raises EnvironmentUnfit."""
    if not is_key(key):
        cure = "Somebody has changed the table of results: restore it from a backup, or begin anew with another --out."
        raise EnvironmentUnfit(f"the table of results has a case whose key is none: '{key[:70]}'", cure=cure)
    return key
