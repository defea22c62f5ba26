"""The taxonomy of faults, and the code of each fault in each contract."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """A kind of failure; the value is its code in the operations contract's failure payload."""

    SCHEMA_INVALID = "SCHEMA_INVALID"
    ARGS_INVALID = "ARGS_INVALID"
    GRAPH_CYCLE = "GRAPH_CYCLE"
    DEPENDENCY_MISSING = "DEPENDENCY_MISSING"
    TOOL_NOT_ALLOWED = "TOOL_NOT_ALLOWED"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    CAPABILITY_MISSING = "CAPABILITY_MISSING"
    UNSUPPORTED_BLENDER = "UNSUPPORTED_BLENDER"
    POLICY_BLOCKED = "POLICY_BLOCKED"
    TARGET_NOT_FOUND = "TARGET_NOT_FOUND"
    SCENE_CONFLICT = "SCENE_CONFLICT"
    IDEMPOTENCY_CONFLICT = "IDEMPOTENCY_CONFLICT"
    TOOL_TIMEOUT = "TOOL_TIMEOUT"
    CANCELLED = "CANCELLED"
    NONDETERMINISTIC_REFUSED = "NONDETERMINISTIC_REFUSED"
    EXECUTION_FAILED = "EXECUTION_FAILED"
    VERIFICATION_FAILED = "VERIFICATION_FAILED"
    WORKER_LOST = "WORKER_LOST"
    ROLLBACK_FAILED = "ROLLBACK_FAILED"
    INTERNAL_ERROR = "INTERNAL_ERROR"


@dataclass(frozen=True, slots=True)
class Rendering:
    """The codes of a fault in the execution model and in the core model, and the repair that a planner may try."""

    tool_result: str
    core: str
    recoverable: bool
    repair: str | None


RENDERINGS: dict[Fault, Rendering] = {
    Fault.SCHEMA_INVALID: Rendering("invalid_input", "invalid_arguments", True, "replace_args"),
    Fault.ARGS_INVALID: Rendering("invalid_input", "invalid_arguments", True, "replace_args"),
    Fault.GRAPH_CYCLE: Rendering("invalid_input", "invalid_arguments", True, "drop"),
    Fault.DEPENDENCY_MISSING: Rendering("invalid_input", "invalid_arguments", True, "insert_precondition"),
    Fault.TOOL_NOT_ALLOWED: Rendering("policy_refused", "contract_violation", True, "drop"),
    Fault.LIMIT_EXCEEDED: Rendering("policy_refused", "contract_violation", True, "replace_args"),
    Fault.CAPABILITY_MISSING: Rendering("capability_missing", "capability_missing", True, "drop"),
    Fault.UNSUPPORTED_BLENDER: Rendering("capability_missing", "unsupported_blender_version", True, "drop"),
    Fault.POLICY_BLOCKED: Rendering("policy_refused", "contract_violation", True, "drop"),
    Fault.TARGET_NOT_FOUND: Rendering("not_found", "not_found", True, "insert_precondition"),
    Fault.SCENE_CONFLICT: Rendering("conflict", "execution_failed", True, "replace_args"),
    Fault.IDEMPOTENCY_CONFLICT: Rendering("conflict", "contract_violation", True, "replace_args"),
    Fault.TOOL_TIMEOUT: Rendering("timeout", "timeout", True, "replace_args"),
    Fault.CANCELLED: Rendering("timeout", "timeout", True, "retry"),
    Fault.NONDETERMINISTIC_REFUSED: Rendering("nondeterministic_refused", "contract_violation", True, "replace_args"),
    Fault.EXECUTION_FAILED: Rendering("internal_error", "execution_failed", True, "replace_args"),
    Fault.VERIFICATION_FAILED: Rendering("conflict", "execution_failed", True, "replace_args"),
    Fault.WORKER_LOST: Rendering("internal_error", "internal_error", True, "replace_args"),
    Fault.ROLLBACK_FAILED: Rendering("internal_error", "internal_error", False, None),
    Fault.INTERNAL_ERROR: Rendering("internal_error", "internal_error", False, None),
}

# Faults that refuse a call before anything runs. The command line exits with 2 for them.
REFUSALS = frozenset(
    {
        Fault.SCHEMA_INVALID,
        Fault.ARGS_INVALID,
        Fault.GRAPH_CYCLE,
        Fault.DEPENDENCY_MISSING,
        Fault.TOOL_NOT_ALLOWED,
        Fault.LIMIT_EXCEEDED,
        Fault.CAPABILITY_MISSING,
        Fault.UNSUPPORTED_BLENDER,
        Fault.POLICY_BLOCKED,
        Fault.NONDETERMINISTIC_REFUSED,
    }
)
