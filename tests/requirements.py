"""Every requirement of the published contracts, under a stable id, with the seed it comes from.

A test says which it proves: `@pytest.mark.proves("EXEC-IDEMP-01")`. `tests/test_requirements.py` fails when an id of REQUIREMENTS
has no test, or a test names an id that is not here. LATER holds what is known and not built yet, by the part that will bring it;
no test may claim those.
"""

from __future__ import annotations

EXECUTION = "001 execution model"
CORE = "002 core model"

REQUIREMENTS: dict[str, tuple[str, str]] = {
    # ---- execution model: phases
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
    # ---- core model
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
}

LATER: dict[str, tuple[str, str]] = {
    "EXEC-PHASE-00": (
        EXECUTION,
        "JSON-RPC requests are parsed and malformed ones answered by the JSON-RPC envelope: with the MCP server.",
    ),
    "EXEC-PROFILE-02": (
        EXECUTION,
        "The host profile states transport, payload, streaming and cancellation: with the session contract.",
    ),
    "CORE-CONTRACT-01": (CORE, "The contract is negotiated: with the session contract."),
    "CORE-UI-01": (CORE, "UI actions are gated by explicit contract flags: with the session contract."),
    "CORE-MACRO-01": (
        CORE,
        "A failing step of a macro stops the later ones; partial effects are reported: with macros.",
    ),
    "CORE-MACRO-02": (CORE, "Macros declare their determinism class: with macros."),
}
