"""One audit record and its place in the chain. Pure: no database.

A record is the minimum audit record of the operations contract, why it failed and how long it took, plus its number and the hash
of the record before it; that of an operation about which a person was asked says also what was answered, and how.
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
# Beyond the minimum: the code of the failure, and what each phase inside Blender took, in microseconds; all of them nullable.
MORE = ("error_code", "plan_us", "execute_us", "verify_us")
KEYS: frozenset[str] = frozenset((*FIELDS, *MORE, "sequence", "prev"))
APPROVED_KEYS: frozenset[str] = KEYS | {"approval_id", "approval_answer", "approval_by"}
# Journals of the first schema have records without MORE; they are never written any more, and stay as they are.
FIRST_KEYS: frozenset[str] = KEYS - {*MORE}


def genesis(workspace: str) -> str:
    """What the first record names as the one before it: no chain fits another workspace."""
    return hashlib.sha256(f"blendwright.audit.v1:{workspace}".encode()).hexdigest()


def canonical(record: dict[str, Any]) -> bytes:
    """RFC 8785. For a flat object with ASCII keys, strings, nulls and small integers sorted JSON is that form, 40 times faster."""
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


def digest(record: bytes) -> str:
    return hashlib.sha256(record).hexdigest()
