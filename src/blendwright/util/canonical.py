"""Stable JSON bytes for fingerprints of Blendwright's own documents (catalogue, snapshot).

Only this code computes such fingerprints, so sorted keys and the shortest spelling suffice. Other programs may
recompute operation keys, so those use RFC 8785 in the core.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any


def stable_json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def digest(value: Any) -> str:
    """Return the sha256 of a value's stable JSON."""
    return hashlib.sha256(stable_json(value)).hexdigest()
