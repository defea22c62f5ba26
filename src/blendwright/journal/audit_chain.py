"""One audit record and its place in the chain. Pure: no database.

A record is exactly the minimum audit record of the operations contract, plus its number and the hash of the record before it; that of
an operation about which a person was asked says also what was answered, and how.
Its hash is the sha256 of its RFC 8785 form, so anyone can check a chain from the records alone.
"""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

FIELDS = (
    "timestamp",
    "request_id",
    "operation_id",
    "mcp_call_id",
    "blender_mutation_id",
    "tool_name",
    "safety_level",
    "status",
    "scene_hash_before",
    "scene_hash_after",
)
KEYS: frozenset[str] = frozenset((*FIELDS, "sequence", "prev"))
APPROVED_KEYS: frozenset[str] = KEYS | {"approval_id", "approval_answer", "approval_by"}


def genesis(workspace: str) -> str:
    """What the first record names as the one before it: no chain fits another workspace."""
    return hashlib.sha256(f"blendwright.audit.v1:{workspace}".encode()).hexdigest()


def canonical(record: dict[str, Any]) -> bytes:
    """RFC 8785. For a flat object with ASCII keys, strings, nulls and a small integer sorted JSON is that form, 40 times faster."""
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


def digest(record: bytes) -> str:
    return hashlib.sha256(record).hexdigest()
