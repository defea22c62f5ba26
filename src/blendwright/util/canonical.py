"""Stable JSON bytes for fingerprints of our own documents (catalogue, snapshot).

Both sides of such a comparison are this code, so sorted keys and the shortest spelling suffice. Operation keys, which others
may recompute, are RFC 8785 and belong to the core.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any


def stable_json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def digest(value: Any) -> str:
    """sha256 of the stable JSON of a value."""
    return hashlib.sha256(stable_json(value)).hexdigest()
