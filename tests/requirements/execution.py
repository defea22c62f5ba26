"""Requirements of the execution model."""

from __future__ import annotations

DOCUMENT = "001 execution model"

REQUIREMENTS: dict[str, tuple[str, str]] = {
    # ---- phases
    "EXEC-PHASE-00": (
        "Phase 0, 58-60",
        "JSON-RPC requests are parsed; malformed ones are answered by the JSON-RPC error envelope.",
    ),
    "EXEC-PHASE-01": (
        "Phase 1, 63",
        "Arguments are validated against the tool's schema: required keys, types, ranges.",
    ),
    "EXEC-PHASE-02": (
        "Phase 1, 64",
        "Arguments are brought to a canonical form: trimmed strings, normalised paths, floats.",
    ),
    "EXEC-PHASE-03": ("Phase 1, 65", "Invalid input gives ok=false with error_code invalid_input."),
    "EXEC-PHASE-04": (
        "Phase 2, 72-76",
        "The gate checks headless or UI, Blender version, restricted features and unsafe operators.",
    ),
    "EXEC-PHASE-05": (
        "Phase 2, 77",
        "What is missing or forbidden is refused with capability_missing or policy_refused.",
    ),
    "EXEC-PHASE-06": ("Phase 3, 79-85", "Pre-flight checks run before anything is changed."),
    "EXEC-PHASE-07": (
        "Phase 5, 93-97",
        "Verification relies on data, never on the user interface, and mutating tools always verify.",
    ),
    "EXEC-PHASE-08": ("Phase 5, 95", "verify=true may be asked of any call."),
    "EXEC-PHASE-09": ("Phase 6, 99-100", "Every call returns a ToolResult, with its phases traced."),
    "EXEC-PHASE-10": ("Phases, 55; Goals, 11", "Every tool call goes through the phases, in their order."),
    "EXEC-PHASE-11": ("Phase 0, 59", "Presence and type of jsonrpc, id, method and params are validated."),
    "EXEC-PHASE-12": (
        "Phase 2, 68-71",
        "The contract that a call is held to is resolved of host profile, Blender profile and the tool's metadata.",
    ),
    "EXEC-PHASE-13": ("Phase 4, 89", "What a tool promises about determinism is kept while it executes."),
    "EXEC-PHASE-14": ("Phase 1, 64", "Paths are normalised: absolute, and without detours."),
    "EXEC-PHASE-15": (
        "Phase 1, 64",
        "Numbers are normalised: where a float is meant, 2 and 2.0 are the same argument.",
    ),
    "EXEC-TOOL-01": ("Core Concepts, 22", "Every tool is callable by its name over MCP."),
    "EXEC-GATE-01": ("Phase 2, 74", "A tool that needs another Blender version is refused with capability_missing."),
    "EXEC-GATE-02": ("Phase 2, 75", "A tool that reaches the network is refused where the policy does not allow it."),
    "EXEC-GATE-03": ("Phase 2, 75", "Files outside of what the policy allows are refused."),
    "EXEC-PLAN-01": ("Phase 3, 85", "A plan is structured and deterministic: ordered steps with stable ids."),
    "EXEC-PLAN-02": (
        "Phase 3, 79-84",
        "What a plan would do can be seen before it is done, and seeing it changes nothing.",
    ),
    "EXEC-VERIFY-01": ("Phase 5, 96", "A handle that is returned leads to what is there."),
    # ---- safety modes
    "EXEC-MODE-01": (
        "Safety Modes, 43-47",
        "Every tool declares headless_safe, ui_assisted or unsafe_ops; there is no silent default.",
    ),
    "EXEC-MODE-02": ("Safety Modes, 47", "unsafe_ops needs an explicit opt-in."),
    "EXEC-MODE-03": ("Safety Modes, 46", "ui_assisted is refused where Blender has no user interface."),
    "EXEC-MODE-04": (
        "Principle, 5; Safety Modes, 45",
        "headless_safe tools use data APIs and work without a user interface.",
    ),
    "EXEC-MODE-05": ("Safety Modes, 49", "What exceeds the policy is refused."),
    # ---- idempotence and partial work
    "EXEC-IDEMP-01": ("Idempotence, 108", "Idempotent tools give the same end state when repeated."),
    "EXEC-IDEMP-02": ("Idempotence, 109", "Accumulating tools disclose that repeats add."),
    "EXEC-IDEMP-03": ("Idempotence, 110", "Non-idempotent tools return stable handles."),
    "EXEC-IDEMP-04": ("Idempotence, 106", "Every tool documents its idempotence where its caller reads it."),
    "EXEC-PARTIAL-01": ("Partiality, 112-113", "Partial work is reported with ok=false and a clear error_code."),
    "EXEC-PARTIAL-02": ("Partiality, 114", "A success with a degraded outcome says so in its result."),
    # ---- time
    "EXEC-TIME-01": ("Timeouts, 120", "A time budget of the caller is respected."),
    "EXEC-TIME-02": ("Timeouts, 121", "Past the budget the answer is timeout, with a summary of partial work."),
    "EXEC-TIME-03": ("Timeouts, 120", "A time budget that the host provides holds for every call."),
    "EXEC-TIME-04": ("Timeouts, 122", "Where the transport can cancel, a cancelled request ends its run."),
    "EXEC-TIME-05": ("Timeouts, 122", "Long runs checkpoint: what was done survives their end."),
    # ---- codes
    "EXEC-CODE-01": ("Codes, 132-139", "The eight error codes are used, each for its own cause."),
    "EXEC-CODE-02": ("Goals, 14", "Messages are actionable."),
    "EXEC-CODE-03": (
        "Codes, 138; Determinism, 150",
        "nondeterministic_refused when determinism is demanded and cannot be honoured.",
    ),
    "EXEC-CODE-04": ("Codes, 128", "A tool-level error is a ToolResult with ok=false, error_code and message."),
    "EXEC-CODE-05": ("Codes, 132", "invalid_input: arguments that are invalid, missing or of the wrong type."),
    "EXEC-CODE-06": ("Codes, 133", "capability_missing: what is needed is not there, or is another version."),
    "EXEC-CODE-07": ("Codes, 134", "policy_refused: what the policy does not allow."),
    "EXEC-CODE-08": ("Codes, 135", "not_found: what is referred to does not exist."),
    "EXEC-CODE-09": ("Codes, 136", "conflict: a name that is taken, or a state that does not fit."),
    "EXEC-CODE-10": ("Codes, 137", "timeout: the time budget was exceeded."),
    "EXEC-CODE-11": ("Codes, 139", "internal_error: only what nobody expected."),
    # ---- determinism, snapshots
    "EXEC-DET-01": ("Determinism, 145-146", "A successful result names its determinism class."),
    "EXEC-DET-02": ("Determinism, 147", "A seeded result echoes its seed."),
    "EXEC-DET-03": ("Determinism, 148", "A tolerance is named where one applies."),
    "EXEC-DET-04": ("Goals, 13", "Deterministic and seeded tools give equal results in different processes."),
    "EXEC-DET-05": ("Core Concepts, 34", "Every tool declares deterministic, seeded or nondeterministic."),
    "EXEC-DET-06": ("Determinism, 151-152", "Determinism that was demanded is never lowered silently."),
    "EXEC-SNAP-01": ("Snapshot & Fingerprints, 159", "A snapshot can be asked for after an action."),
    "EXEC-SNAP-02": ("Snapshot & Fingerprints, 160", "Snapshots have a published format and a fingerprint."),
    "EXEC-SNAP-03": ("Snapshot & Fingerprints, 159", "Tools that change the scene return stable handles."),
    "EXEC-PROFILE-01": (
        "Core Concepts, 28",
        "The Blender profile states version, headless or UI, engines and sandbox.",
    ),
    "EXEC-PROFILE-02": ("Core Concepts, 25", "The host profile states transport, payload, streaming and cancellation."),
    "EXEC-PROFILE-03": ("Goals, 12", "Host profile and Blender profile give the contract of the session."),
}
