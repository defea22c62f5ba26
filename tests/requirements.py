"""Every requirement of the published contracts, under a stable id, with the seed it comes from.

A test says which it proves: `@pytest.mark.proves("EXEC-IDEMP-01")`. `tests/test_requirements.py` fails when an id of REQUIREMENTS
has no test, or a test names an id that is not here.
"""

from __future__ import annotations

OPERATIONS = "000 operations contract"
EXECUTION = "001 execution model"
CORE = "002 core model"
GEONODES = "003 geonodes protocol"
STEPS = "004 steps contract"

REQUIREMENTS: dict[str, tuple[str, str]] = {
    # ---- operations: planner output
    "OPS-SCHEMA-01": (
        OPERATIONS,
        "Planner output conforms exactly to the planner schema: fields, types, patterns, enums.",
    ),
    "OPS-SCHEMA-02": (OPERATIONS, "Additional properties are forbidden at every level; only args is open."),
    "OPS-SCHEMA-03": (OPERATIONS, "operation_id is unique within the request."),
    "OPS-SCHEMA-04": (OPERATIONS, "Planner output is strict JSON; anything else is refused."),
    "OPS-SCHEMA-05": (OPERATIONS, "Only validated input goes on: invalid plans are rejected before execution."),
    "OPS-FIELD-01": (OPERATIONS, "request_id is required and a non-empty string."),
    "OPS-FIELD-02": (OPERATIONS, "operations is required and has at least one item."),
    "OPS-FIELD-03": (OPERATIONS, "operation_id is required: 1 to 128 letters, digits and _ . : -."),
    "OPS-FIELD-04": (OPERATIONS, "tool_name is required and a non-empty string."),
    "OPS-FIELD-05": (OPERATIONS, "args is required and an object."),
    "OPS-FIELD-06": (OPERATIONS, "depends_on is required: operation ids, none of them twice."),
    "OPS-FIELD-07": (OPERATIONS, "safety_level is required: read_only, safe_write or destructive."),
    "OPS-ARGS-01": (OPERATIONS, "args are validated against the tool's contract."),
    "OPS-TOOL-01": (OPERATIONS, "Plans with tools outside the contract are rejected before execution."),
    "OPS-SAFETY-01": (OPERATIONS, "The declared safety_level is held against the tool's own by the policy gate."),
    "OPS-VERSION-01": (OPERATIONS, "Schemas are published under a version, so that a breaking change gets a new one."),
    # ---- operations: graph and order
    "OPS-GRAPH-01": (OPERATIONS, "Operations are the nodes and depends_on the edges of a directed acyclic graph."),
    "OPS-GRAPH-02": (OPERATIONS, "Plans with missing dependencies are rejected before execution."),
    "OPS-GRAPH-03": (OPERATIONS, "Plans with cycles are rejected before execution."),
    "OPS-GRAPH-04": (OPERATIONS, "A rejection names everything that is wrong at once."),
    "OPS-ORDER-01": (OPERATIONS, "Equal graph, registry version and baseline hash give an equal schedule."),
    "OPS-ORDER-02": (OPERATIONS, "Ties of the topological sort are broken by operation_id in ascending lexical order."),
    "OPS-ORDER-03": (
        OPERATIONS,
        "Non-deterministic tool calls are forbidden unless seed, time and environment are pinned.",
    ),
    "OPS-ORDER-04": (OPERATIONS, "Operations are executed in schedule order."),
    "OPS-DEP-01": (OPERATIONS, "An operation runs only when its prerequisites have completed successfully."),
    # ---- operations: idempotency
    "OPS-IDEM-01": (OPERATIONS, "The operation key is request_id, operation_id and normalised args."),
    "OPS-IDEM-02": (OPERATIONS, "A committed, compatible receipt is returned and the mutation skipped."),
    "OPS-IDEM-03": (OPERATIONS, "An incompatible one gives IDEMPOTENCY_CONFLICT with recovery hints."),
    "OPS-IDEM-04": (OPERATIONS, "Retried requests do not duplicate side effects."),
    # ---- operations: rollback
    "OPS-ROLL-01": (OPERATIONS, "Checkpoints are staged per rollback boundary, by default per operation."),
    "OPS-ROLL-02": (OPERATIONS, "A failed read_only operation needs no rollback."),
    "OPS-ROLL-03": (OPERATIONS, "A failed mutating operation is reversed or restored from a checkpoint."),
    "OPS-ROLL-04": (OPERATIONS, "ROLLBACK_FAILED returns the latest consistent checkpoint's metadata."),
    "OPS-ROLL-05": (OPERATIONS, "No full success when a mutation failed without a consistency point."),
    # ---- operations: results and failures
    "OPS-RESULT-01": (OPERATIONS, "A success is emitted with execution receipts."),
    "OPS-RESULT-02": (OPERATIONS, "No report claims success with an operation that was not done."),
    "OPS-FAIL-01": (OPERATIONS, "Every failure is answered by the payload of exactly four fields."),
    "OPS-FAIL-02": (OPERATIONS, "error_code is a machine-readable enum that has the named codes."),
    "OPS-FAIL-03": (
        OPERATIONS,
        "Actions are retry, replace_args, drop or insert_precondition, each for its own fault.",
    ),
    "OPS-FAIL-04": (
        OPERATIONS,
        "recoverable says whether a follow-up plan is safe; retry_hint is concise and actionable.",
    ),
    "OPS-FAIL-05": (
        OPERATIONS,
        "minimal_repair_plan is the smallest operation-level diff that makes the plan executable.",
    ),
    "OPS-CORR-01": (OPERATIONS, "gemini_request_id is required in planner output as request_id and carried along."),
    # ---- operations: journal and audit
    "OPS-JOURNAL-01": (OPERATIONS, "Every mutation is recorded in a journal, with its correlation ids."),
    "OPS-AUDIT-01": (OPERATIONS, "Each executed operation has the minimum audit record, field by field."),
    "OPS-AUDIT-02": (OPERATIONS, "The audit status is succeeded, failed, rolled_back or skipped_idempotent."),
    "OPS-AUDIT-03": (OPERATIONS, "blender_mutation_id of a record is null for read-only operations."),
    "OPS-AUDIT-04": (OPERATIONS, "scene_hash_after of a record may be null where it failed before any mutation."),
    "OPS-CORR-02": (OPERATIONS, "Each invocation has an mcp_call_id linked to one operation_id."),
    "OPS-CORR-03": (OPERATIONS, "Each mutation logs blender_mutation_id with mcp_call_id and operation_id."),
    "OPS-CORR-04": (OPERATIONS, "Logs, metrics and audit events have all ids that apply."),
    # ---- geonodes: payloads
    "GN-PAYLOAD-01": (
        GEONODES,
        "NODE_TREE: a target of three names and operations create_node, delete_node, set_input_default, set_property, link, "
        "unlink, set_group_io with the printed fields.",
    ),
    "GN-PAYLOAD-02": (
        GEONODES,
        "GN_OPS: v 1, a target and ops ensure_target, ensure_single_group_io, add_node, remove_node, link, unlink, set_input, "
        "cleanup_unused with the printed fields.",
    ),
    "GN-PAYLOAD-03": (GEONODES, "An op outside the lists of version 1 is rejected."),
    "GN-STRICT-01": (GEONODES, "Unknown fields of a payload are rejected, at every level."),
    # ---- geonodes: trees and gates
    "GN-TREE-01": (
        GEONODES,
        "The target of NODE_TREE is an object, its modifier and the node group, made where missing.",
    ),
    "GN-TREE-02": (GEONODES, "A payload is applied as a whole: where an operation fails, the tree is as it was."),
    "GN-TREE-03": (
        GEONODES,
        "Sockets are addressed by name or identifier; what is ambiguous is an error that lists them.",
    ),
    "GN-TREE-04": (GEONODES, "link joins an output and an input; a multi-input socket keeps the order of its links."),
    "GN-TREE-05": (GEONODES, "set_property reaches every property of a node, zones and their items included."),
    "GN-TREE-06": (GEONODES, "set_group_io adds, changes, orders and removes the sockets of the group."),
    "GN-OPS-01": (GEONODES, "GN_OPS is a deterministic patch: applied twice, it gives the same tree and hash."),
    "GN-INSPECT-01": (GEONODES, "A tree that is exported and built again as NODE_TREE is equal."),
    "GN-GATE-01": (
        GEONODES,
        "The verifier gives success, failed_gates and messages; each gate fails and passes for its reason.",
    ),
    "GN-GATE-02": (GEONODES, "A gate that builds on a failed one is not judged; stale warnings prove nothing."),
    "GN-EXAMPLE-01": (GEONODES, "Plans that build trees pass their gates and give equal scenes in two processes."),
    "GN-GATE-03": (GEONODES, "Curves, points, volumes and instances count as geometry."),
    # ---- execution model: phases
    "EXEC-PHASE-00": (
        EXECUTION,
        "JSON-RPC requests are parsed; malformed ones are answered by the JSON-RPC error envelope.",
    ),
    "EXEC-PHASE-01": (EXECUTION, "Arguments are validated against the tool's schema: required keys, types, ranges."),
    "EXEC-PHASE-02": (
        EXECUTION,
        "Arguments are brought to a canonical form: trimmed strings, normalised paths, floats.",
    ),
    "EXEC-PHASE-03": (EXECUTION, "Invalid input gives ok=false with error_code invalid_input."),
    "EXEC-PHASE-04": (
        EXECUTION,
        "The gate checks headless or UI, Blender version, restricted features and unsafe operators.",
    ),
    "EXEC-PHASE-05": (EXECUTION, "What is missing or forbidden is refused with capability_missing or policy_refused."),
    "EXEC-PHASE-06": (EXECUTION, "Pre-flight checks run before anything is changed."),
    "EXEC-PHASE-07": (
        EXECUTION,
        "Verification relies on data, never on the user interface, and mutating tools always verify.",
    ),
    "EXEC-PHASE-08": (EXECUTION, "verify=true may be asked of any call."),
    "EXEC-PHASE-09": (EXECUTION, "Every call returns a ToolResult, with its phases traced."),
    # ---- execution model: safety modes
    "EXEC-MODE-01": (
        EXECUTION,
        "Every tool declares headless_safe, ui_assisted or unsafe_ops; there is no silent default.",
    ),
    "EXEC-MODE-02": (EXECUTION, "unsafe_ops needs an explicit opt-in."),
    "EXEC-MODE-03": (EXECUTION, "ui_assisted is refused where Blender has no user interface."),
    # ---- execution model: idempotence and partial work
    "EXEC-IDEMP-01": (EXECUTION, "Idempotent tools give the same end state when repeated."),
    "EXEC-IDEMP-02": (EXECUTION, "Accumulating tools disclose that repeats add."),
    "EXEC-IDEMP-03": (EXECUTION, "Non-idempotent tools return stable handles."),
    "EXEC-PARTIAL-01": (EXECUTION, "Partial work is reported with ok=false and a clear error_code."),
    # ---- execution model: time
    "EXEC-TIME-01": (EXECUTION, "A time budget of the caller is respected."),
    "EXEC-TIME-02": (EXECUTION, "Past the budget the answer is timeout, with a summary of partial work."),
    # ---- execution model: codes
    "EXEC-CODE-01": (EXECUTION, "The eight error codes are used, each for its own cause."),
    "EXEC-CODE-02": (EXECUTION, "Messages are actionable."),
    "EXEC-CODE-03": (EXECUTION, "nondeterministic_refused when determinism is demanded and cannot be honoured."),
    # ---- execution model: determinism, snapshots
    "EXEC-DET-01": (EXECUTION, "A successful result names its determinism class."),
    "EXEC-DET-02": (EXECUTION, "A seeded result echoes its seed."),
    "EXEC-DET-03": (EXECUTION, "A tolerance is named where one applies."),
    "EXEC-DET-04": (EXECUTION, "Deterministic and seeded tools give equal results in different processes."),
    "EXEC-SNAP-01": (EXECUTION, "A snapshot can be asked for after an action."),
    "EXEC-SNAP-02": (EXECUTION, "Snapshots have a published format and a fingerprint."),
    "EXEC-PROFILE-01": (EXECUTION, "The Blender profile states version, headless or UI, engines and sandbox."),
    "EXEC-PROFILE-02": (EXECUTION, "The host profile states transport, payload, streaming and cancellation."),
    "EXEC-PROFILE-03": (EXECUTION, "Host profile and Blender profile give the contract of the session."),
    "EXEC-TIME-03": (EXECUTION, "A time budget that the host provides holds for every call."),
    # ---- core model
    "CORE-CONTRACT-01": (CORE, "The contract is negotiated, and equal input gives an equal contract."),
    "CORE-CONTRACT-02": (CORE, "What is negotiated can only be stricter than what is allowed."),
    "CORE-CONTRACT-03": (CORE, "Flags that do not exist are refused by name."),
    "CORE-CONTRACT-04": (CORE, "A fingerprint that no longer holds is a contract_violation."),
    "CORE-CONTRACT-05": (CORE, "What exceeds the limits of the contract is refused with contract_violation."),
    "CORE-UI-01": (CORE, "UI actions are gated by explicit contract flags; the default is no UI."),
    "CORE-HEADLESS-01": (CORE, "Tools work headless; the user interface is never used by default."),
    "CORE-PHASE-01": (CORE, "Invalid arguments are rejected with invalid_arguments."),
    "CORE-PHASE-02": (
        CORE,
        "A tool outside the registry is refused with contract_violation, a missing capability with capability_missing.",
    ),
    "CORE-PHASE-03": (CORE, "Pre-flight checks have no side effects."),
    "CORE-PHASE-04": (CORE, "Execution is deterministic and data-first: no context, no implicit selection."),
    "CORE-PHASE-05": (CORE, "Verification reads back what was written."),
    "CORE-PHASE-06": (CORE, "Answers use the error envelope, without stack traces."),
    "CORE-ATOMIC-01": (CORE, "A tool call is atomic: all of its effects apply or none."),
    "CORE-IDEMP-01": (CORE, "Idempotence is declared per tool."),
    "CORE-TIME-01": (
        CORE,
        "A call observes the negotiated timeout and answers timeout; partial effects are in details.",
    ),
    "CORE-TIME-02": (CORE, "Cancellation stops further effects and answers with details.cancelled=true."),
    "CORE-REFUSE-01": (CORE, "Outside blender_min and blender_max the refusal is unsupported_blender_version."),
    "CORE-REFUSE-02": (CORE, "Refusals use the envelope and have no side effects."),
    "CORE-DET-01": (CORE, "Every tool declares its determinism class; seeds are inputs and are echoed."),
    "CORE-DET-02": (CORE, "Snapshots that are returned carry fingerprints."),
    # ---- steps: payload
    "STEPS-PAYLOAD-01": (
        STEPS,
        "A payload contains steps, each with step_id, dependencies, tool and optionally a title.",
    ),
    "STEPS-PAYLOAD-02": (STEPS, "tool is a non-empty name, or an object with name and args."),
    "STEPS-PAYLOAD-03": (STEPS, "step_id is unique and non-empty."),
    "STEPS-PAYLOAD-04": (STEPS, "dependencies is a list of valid step_ids."),
    "STEPS-PAYLOAD-05": (STEPS, "args is an object."),
    "STEPS-PAYLOAD-06": (STEPS, "step.args and tool.args are not mixed."),
    "STEPS-PAYLOAD-07": (STEPS, "Ids like step_1 start from step_1 and are sequential and contiguous."),
    # ---- steps: semantics
    "STEPS-ORDER-01": (STEPS, "The plan is executed step by step, in payload order where dependencies allow."),
    "STEPS-SEM-01": (STEPS, "A dependency that does not exist fails fast: nothing runs."),
    "STEPS-SEM-02": (STEPS, "A step whose dependency failed is skipped."),
    "STEPS-SEM-03": (STEPS, "A step whose dependency was skipped is skipped."),
    "STEPS-SEM-04": (STEPS, "A step whose tool is not found fails."),
    "STEPS-SEM-05": (STEPS, "A step whose tool raises fails."),
    "STEPS-TOOL-01": (STEPS, "A tool that is not found does not reject the plan: its step fails."),
    # ---- steps: results
    "STEPS-RESULT-01": (
        STEPS,
        "Every step result has step_id, tool, ok, skipped, reason and error, and may have an output.",
    ),
    "STEPS-RESULT-02": (STEPS, "skipped = true needs ok = false."),
    "STEPS-RESULT-03": (STEPS, "ok = true needs error = null."),
    "STEPS-RESULT-04": (STEPS, "ok = false without skipped needs an error or a reason."),
    "STEPS-META-01": (STEPS, "__meta__ is there, as the last entry."),
    "STEPS-META-02": (
        STEPS,
        "__meta__ has ok, skipped = false, reason, task_status, stats, blocked_steps and failed_steps.",
    ),
    "STEPS-META-03": (STEPS, "stats has total_steps, ok, skipped and failed, and they are right."),
    "STEPS-META-04": (STEPS, "task_status is COMPLETED, PARTIAL, FAILED or BLOCKED, each by its own meaning."),
    "STEPS-META-05": (STEPS, "The result validator finds a task_status that is invalid or not what the entries say."),
    # ---- steps: validators and version
    "STEPS-VALID-01": (STEPS, "A payload validator checks shape, dependencies, tool field and uniqueness."),
    "STEPS-VALID-02": (STEPS, "A result validator checks shape, __meta__, consistency, task_status and stats."),
    "STEPS-VALID-03": (STEPS, "Results are validated before anyone sees them."),
    "STEPS-VALID-04": (
        STEPS,
        "Both validators can be run on files, also on what others produced, and fail a build by their exit code.",
    ),
    "STEPS-VERSION-01": (STEPS, "The contract has a semantic version and regression cases."),
    "STEPS-VERSION-02": (STEPS, "Semantics do not change silently: what a case had as findings, it has."),
    # ---- geonodes: Python
    "GN-PY-01": (GEONODES, "A PYTHON payload has mode, code and timeout_ms; what the code prints is returned."),
    "GN-PY-02": (GEONODES, "safe is the default mode if omitted."),
    "GN-PY-03": (GEONODES, "Code that runs past timeout_ms is ended, and the scene is as before."),
    "GN-PY-04": (GEONODES, "What code may not do is told before it runs, with its line."),
    "GN-PY-05": (GEONODES, "Code that raises fails with its line, and the scene is as before."),
    "GN-PY-06": (GEONODES, "Code has a length limit from the settings, 20,000 characters by default."),
    "GN-PY-07": (GEONODES, "trusted requires explicit confirmation by the user: bound to the code, good once."),
    "GN-PY-08": (GEONODES, "Hostile code in safe mode reaches nothing outside, and leaves the scene as before."),
    # ---- geonodes: the protocol
    "GN-PLAN-01": (
        GEONODES,
        "A plan is strict JSON: version 1.0, steps, done, final_message and meta, and nothing else.",
    ),
    "GN-PLAN-02": (GEONODES, "A missing final_message is rejected."),
    "GN-PLAN-03": (GEONODES, "Unknown fields are rejected at every level of a plan, with their place."),
    "GN-STEP-01": (GEONODES, "A step has id, type, description and payload; its type is NODE_TREE, GN_OPS or PYTHON."),
    "GN-STEP-02": (GEONODES, "Unknown step types are rejected."),
    "GN-STEP-03": (GEONODES, "Steps execute in order."),
    "GN-STEP-04": (GEONODES, "On failure execution stops, and an error summary names the failing step.id."),
    "GN-LIMIT-01": (GEONODES, "A plan has at most 25 steps."),
    "GN-LIMIT-02": (GEONODES, "The length of Python code is bounded: configurable, 20,000 characters by default."),
    "GN-PYTHON-01": (GEONODES, "The payload of a PYTHON step has mode, code and timeout_ms; safe is the default mode."),
    "GN-DONE-01": (GEONODES, "done=true is not accepted unless the required verification gates pass."),
    "GN-DONE-02": (GEONODES, "done=false runs the steps, reports the gates, and asks for another round."),
    "GN-DONE-03": (GEONODES, "meta.requires_gate_verification says whether done depends on the gates."),
    "GN-ENVELOPE-01": (GEONODES, "The gate envelope has exactly success, failed_gates and messages."),
    "GN-ENVELOPE-02": (
        GEONODES,
        "The envelope of one round can be answered by the next, after which done is accepted.",
    ),
    "GN-PLAN-04": (GEONODES, "The example of the protocol is a valid plan, and builds on a scene with a Plane."),
    "GN-EXAMPLE-02": (GEONODES, "Plans of the protocol pass their gates and give equal scenes in two processes."),
    # ---- core model: macros
    "CORE-MACRO-01": (
        CORE,
        "A failing step of a macro stops the later ones; without rollback partial effects stay and are reported.",
    ),
    "CORE-MACRO-02": (CORE, "Macros declare their determinism class; seeds are inputs and echoed."),
}
