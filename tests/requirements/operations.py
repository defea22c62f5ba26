"""Requirements of the operations contract."""

from __future__ import annotations

DOCUMENT = "000 operations contract"

REQUIREMENTS: dict[str, tuple[str, str]] = {
    # ---- planner output
    "OPS-SCHEMA-01": (
        "Planner Output Schema, 34",
        "Planner output conforms exactly to the planner schema: fields, types, patterns, enums.",
    ),
    "OPS-SCHEMA-02": (
        "Planner Output Schema, 34",
        "Additional properties are forbidden at every level; only args is open.",
    ),
    "OPS-SCHEMA-03": ("Planner Output Schema, 64-68", "operation_id is unique within the request."),
    "OPS-SCHEMA-04": ("Phase 1, 16", "Planner output is strict JSON; anything else is refused."),
    "OPS-SCHEMA-05": (
        "Phase 1, 17-24",
        "Only validated input goes on: invalid plans are rejected before execution.",
    ),
    "OPS-SCHEMA-06": (
        "Planner Output Schema, 36-40",
        "The planner schema is published as JSON Schema of draft 2020-12, with an $id and a title.",
    ),
    "OPS-FIELD-01": ("Planner Output Schema, 43-49", "request_id is required and a non-empty string."),
    "OPS-FIELD-02": ("Planner Output Schema, 43-52", "operations is required and has at least one item."),
    "OPS-FIELD-03": (
        "Planner Output Schema, 57-66",
        "operation_id is required: 1 to 128 letters, digits and _ . : -.",
    ),
    "OPS-FIELD-04": ("Planner Output Schema, 58-71", "tool_name is required and a non-empty string."),
    "OPS-FIELD-05": ("Planner Output Schema, 59-76", "args is required and an object."),
    "OPS-FIELD-06": ("Planner Output Schema, 60-85", "depends_on is required: operation ids, none of them twice."),
    "OPS-FIELD-07": (
        "Planner Output Schema, 61-90",
        "safety_level is required: read_only, safe_write or destructive.",
    ),
    "OPS-FIELD-08": ("Planner Output Schema, 81-84", "The items of depends_on have the pattern of operation_id."),
    "OPS-ARGS-01": ("Planner Output Schema, 77", "args are validated against the tool's contract."),
    "OPS-ARGS-02": (
        "Planner Output Schema, 76",
        "args take any property that the tool knows: the plan schema leaves them open.",
    ),
    "OPS-TOOL-01": ("Phase 1, 21", "Plans with tools outside the contract are rejected before execution."),
    "OPS-TOOL-02": ("Phase 1, 21", "Plans with tools that the policy denies are rejected before execution."),
    "OPS-TOOL-03": ("Planner Output Schema, 72", "tool_name is the identifier of a tool that is registered for MCP."),
    "OPS-SAFETY-01": (
        "Planner Output Schema, 91",
        "The declared safety_level is held against the tool's own by the policy gate.",
    ),
    "OPS-SAFETY-02": (
        "Planner Output Schema, 91",
        "The safety level decides about approvals: a destructive operation runs only when a person said yes.",
    ),
    "OPS-VERSION-01": (
        "Normative Adoption, 177",
        "Schemas are published under a version, so that a breaking change gets a new one.",
    ),
    "OPS-VERSION-02": ("Normative Adoption, 177", "A breaking change comes with a migration note."),
    "OPS-COMPLY-01": (
        "Normative Adoption, 177",
        "A new tool cannot be added without what the contract needs to know of it.",
    ),
    "OPS-COMPLY-02": (
        "Normative Adoption, 177",
        "What any planner says is held to the same contract before anything runs.",
    ),
    # ---- graph and order
    "OPS-GRAPH-01": (
        "Phase 1, 18-20",
        "Operations are the nodes and depends_on the edges of a directed acyclic graph.",
    ),
    "OPS-GRAPH-02": ("Phase 1, 21", "Plans with missing dependencies are rejected before execution."),
    "OPS-GRAPH-03": ("Phase 1, 21", "Plans with cycles are rejected before execution."),
    "OPS-GRAPH-04": ("Phase 1, 21", "A rejection names everything that is wrong at once."),
    "OPS-ORDER-01": (
        "1) Deterministic Order, 105",
        "Equal graph, registry version and baseline hash give an equal schedule.",
    ),
    "OPS-ORDER-02": (
        "1) Deterministic Order, 106",
        "Ties of the topological sort are broken by operation_id in ascending lexical order.",
    ),
    "OPS-ORDER-03": (
        "1) Deterministic Order, 107",
        "Non-deterministic tool calls are forbidden unless seed, time and environment are pinned.",
    ),
    "OPS-ORDER-04": ("Phase 2, 25", "Operations are executed in schedule order."),
    "OPS-ORDER-05": (
        "1) Deterministic Order, 107",
        "What pins a call gives it seed, time and environment: the same code gets the same values again.",
    ),
    "OPS-DEP-01": (
        "Planner Output Schema, 86",
        "An operation runs only when its prerequisites have completed successfully.",
    ),
    "OPS-EXEC-01": ("Phase 2, 26", "Operations are tool calls that change the scene of a real Blender."),
    # ---- idempotency
    "OPS-IDEM-01": ("2) Idempotency, 110", "The operation key is request_id, operation_id and normalised args."),
    "OPS-IDEM-02": ("2) Idempotency, 112", "A committed, compatible receipt is returned and the mutation skipped."),
    "OPS-IDEM-03": ("2) Idempotency, 113", "An incompatible one gives IDEMPOTENCY_CONFLICT with recovery hints."),
    "OPS-IDEM-04": ("2) Idempotency, 114", "Retried requests do not duplicate side effects."),
    "OPS-IDEM-05": ("2) Idempotency, 111", "The journal is asked for a committed receipt before anything is executed."),
    # ---- rollback
    "OPS-ROLL-01": (
        "3) Rollback Semantics, 117",
        "Checkpoints are staged per rollback boundary, by default per operation.",
    ),
    "OPS-ROLL-02": ("3) Rollback Semantics, 119", "A failed read_only operation needs no rollback."),
    "OPS-ROLL-03": (
        "3) Rollback Semantics, 120",
        "A failed mutating operation is reversed or restored from a checkpoint.",
    ),
    "OPS-ROLL-04": (
        "3) Rollback Semantics, 121",
        "ROLLBACK_FAILED returns the latest consistent checkpoint's metadata.",
    ),
    "OPS-ROLL-05": (
        "3) Rollback Semantics, 122",
        "No full success when a mutation failed without a consistency point.",
    ),
    "OPS-ROLL-06": (
        "3) Rollback Semantics, 117",
        "Another boundary than the operation can be declared: a plan that is kept whole or not at all.",
    ),
    # ---- results and failures
    "OPS-RESULT-01": ("Phase 2, 29", "A success is emitted with execution receipts."),
    "OPS-RESULT-02": ("3) Rollback Semantics, 122", "No report claims success with an operation that was not done."),
    "OPS-RESULT-03": (
        "Phase 2, 28-30",
        "A run emits one of two documents: a success with receipts, or the failure payload.",
    ),
    "OPS-FAIL-01": ("Failure Contract, 126", "Every failure is answered by the payload of exactly four fields."),
    "OPS-FAIL-02": ("Field Requirements, 143", "error_code is a machine-readable enum that has the named codes."),
    "OPS-FAIL-03": (
        "Failure Contract, 136",
        "Actions are retry, replace_args, drop or insert_precondition, each for its own fault.",
    ),
    "OPS-FAIL-04": (
        "Field Requirements, 144-145",
        "recoverable says whether a follow-up plan is safe; retry_hint is concise and actionable.",
    ),
    "OPS-FAIL-05": (
        "Field Requirements, 146",
        "minimal_repair_plan is the smallest operation-level diff that makes the plan executable.",
    ),
    "OPS-FAIL-06": ("Failure Contract, 133-138", "An entry of minimal_repair_plan has operation_id and action."),
    # ---- correlation
    "OPS-CORR-01": (
        "Propagation Rules, 157",
        "gemini_request_id is required in planner output as request_id and carried along.",
    ),
    "OPS-CORR-02": ("Propagation Rules, 158", "Each invocation has an mcp_call_id linked to one operation_id."),
    "OPS-CORR-03": (
        "Propagation Rules, 159",
        "Each mutation logs blender_mutation_id with mcp_call_id and operation_id.",
    ),
    "OPS-CORR-04": ("Propagation Rules, 160", "Logs, metrics and audit events have all ids that apply."),
    "OPS-CORR-05": (
        "Correlation and Traceability, 150",
        "The ids of a request are the same in receipt, audit and log.",
    ),
    "OPS-CORR-06": (
        "Correlation and Traceability, 152",
        "A request has its id from the moment it comes in; where it brings none, it is given one.",
    ),
    "OPS-CORR-07": ("Correlation and Traceability, 153", "No two tool invocations have the same mcp_call_id."),
    "OPS-CORR-08": (
        "Correlation and Traceability, 154",
        "A blender_mutation_id belongs to one committed mutation; what was not committed has none.",
    ),
    # ---- journal and audit
    "OPS-JOURNAL-01": ("Phase 2, 27", "Every mutation is recorded in a journal, with its correlation ids."),
    "OPS-AUDIT-01": (
        "Minimum Audit Record, 163-173",
        "Each executed operation has the minimum audit record, field by field.",
    ),
    "OPS-AUDIT-02": (
        "Minimum Audit Record, 171",
        "The audit status is succeeded, failed, rolled_back or skipped_idempotent.",
    ),
    "OPS-AUDIT-03": ("Minimum Audit Record, 168", "blender_mutation_id of a record is null for read-only operations."),
    "OPS-AUDIT-04": (
        "Minimum Audit Record, 173",
        "scene_hash_after of a record may be null where it failed before any mutation.",
    ),
}
