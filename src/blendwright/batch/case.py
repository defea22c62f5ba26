"""A case: one row of parameters for a program, known by a key that follows from everything that decides what comes of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import rfc8785

# Raised whenever equal cases would get another key, or the same key would mean something else.
KEY_VERSION = 1


@dataclass(frozen=True, slots=True)
class Case:
    """`number` is given when a case is first added to a table of results, and never to another one. `source` says where its row
    stands, for messages, as `table.csv:17`."""

    number: int
    key: str
    params: Mapping[str, Any]
    source: str = ""

    @property
    def name(self) -> str:
        """As files and folders of it are called."""
        return f"{self.number:06d}"


def case_key(identity: Mapping[str, Any], params: Mapping[str, Any]) -> str:
    """sha256 over what all cases of a batch have in common and the parameters of this one, in canonical form."""
    content = {"key_version": KEY_VERSION, "batch": dict(identity), "params": dict(params)}
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()
