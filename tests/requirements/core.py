"""Requirements of the core model."""

from __future__ import annotations

DOCUMENT = "002 core model"

REQUIREMENTS: dict[str, tuple[str, str]] = {
    # ---- contract
    "CORE-CONTRACT-01": ("Overview, 4", "The contract is negotiated, and equal input gives an equal contract."),
    "CORE-CONTRACT-02": ("Overview, 4", "What is negotiated can only be stricter than what is allowed."),
    "CORE-CONTRACT-03": ("Overview, 4-5", "Flags that do not exist are refused by name."),
    "CORE-CONTRACT-04": ("Refusal rules, 26", "A fingerprint that no longer holds is a contract_violation."),
    "CORE-CONTRACT-05": (
        "Refusal rules, 26",
        "What exceeds the limits of the contract is refused with contract_violation.",
    ),
    "CORE-UI-01": ("Overview, 5", "UI actions are gated by explicit contract flags; the default is no UI."),
    "CORE-HEADLESS-01": ("Overview, 5", "Tools work headless; the user interface is never used by default."),
    "CORE-PIPE-01": ("Overview, 6", "From contract to Blender and back a call ends in the error model of version 1."),
    # ---- phases
    "CORE-PHASE-01": ("Phases, 9", "Invalid arguments are rejected with invalid_arguments."),
    "CORE-PHASE-02": (
        "Phases, 10",
        "A tool outside the registry is refused with contract_violation, a missing capability with capability_missing.",
    ),
    "CORE-PHASE-03": ("Phases, 11", "Pre-flight checks have no side effects."),
    "CORE-PHASE-04": ("Phases, 12", "Execution is deterministic and data-first: no context, no implicit selection."),
    "CORE-PHASE-05": ("Phases, 13", "Verification reads back what was written."),
    "CORE-PHASE-06": ("Phases, 14", "Answers use the error envelope, without stack traces."),
    "CORE-PHASE-07": ("Phases, 13", "Verification counts into the time budget of its call."),
    "CORE-PHASE-08": ("Phases, 14", "An answer has its determinism class where one applies."),
    # ---- atomicity, idempotency, macros
    "CORE-ATOMIC-01": ("Atomicity, 17", "A tool call is atomic: all of its effects apply or none."),
    "CORE-MACRO-01": (
        "Atomicity, 18",
        "A failing step of a macro stops the later ones; without rollback partial effects stay and are reported.",
    ),
    "CORE-MACRO-02": ("Determinism, 32", "Macros declare their determinism class; seeds are inputs and echoed."),
    "CORE-MACRO-03": ("Atomicity, 18", "A macro that declares rollback leaves nothing of itself when a step fails."),
    "CORE-IDEMP-01": ("Atomicity, 19", "Idempotence is declared per tool."),
    "CORE-IDEMP-02": ("Atomicity, 19", "Equal calls converge, or the tool says that it is not idempotent."),
    # ---- time
    "CORE-TIME-01": (
        "Timeouts, 22",
        "A call observes the negotiated timeout and answers timeout; partial effects are in details.",
    ),
    "CORE-TIME-02": ("Timeouts, 23", "Cancellation stops further effects and answers with details.cancelled=true."),
    "CORE-TIME-03": ("Timeouts, 23", "What is cancelled is answered with timeout or internal_error."),
    # ---- refusals
    "CORE-REFUSE-01": (
        "Refusal rules, 28",
        "Outside blender_min and blender_max the refusal is unsupported_blender_version.",
    ),
    "CORE-REFUSE-02": ("Refusal rules, 29", "Refusals use the envelope and have no side effects."),
    "CORE-REFUSE-03": ("Refusal rules, 26", "A macro outside the registry is refused with contract_violation."),
    "CORE-REFUSE-04": (
        "Refusal rules, 26",
        "What violates a constraint of the contract is refused with contract_violation.",
    ),
    "CORE-REFUSE-05": (
        "Refusal rules, 27",
        "A capability that host, bridge or Blender does not have is refused with capability_missing.",
    ),
    # ---- determinism
    "CORE-DET-01": ("Determinism, 32", "Every tool declares its determinism class; seeds are inputs and are echoed."),
    "CORE-DET-02": ("Determinism, 33", "Snapshots that are returned carry fingerprints."),
}
