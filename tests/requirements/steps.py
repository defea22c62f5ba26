"""Requirements of the steps contract."""

from __future__ import annotations

DOCUMENT = "004 steps contract"

REQUIREMENTS: dict[str, tuple[str, str]] = {
    "STEPS-DOC-01": ("head, 3-5", "The contract is documented at docs/architecture/plan-execution-contract.md."),
    # ---- payload
    "STEPS-PAYLOAD-01": (
        "3.1-3.2, 41-59",
        "A payload contains steps, each with step_id, dependencies, tool and optionally a title.",
    ),
    "STEPS-PAYLOAD-02": ("3.3, 79-81", "tool is a non-empty name, or an object with name and args."),
    "STEPS-PAYLOAD-03": ("3.3, 77", "step_id is unique and non-empty."),
    "STEPS-PAYLOAD-04": ("3.3, 78", "dependencies is a list of valid step_ids."),
    "STEPS-PAYLOAD-05": ("3.3, 82", "args is an object."),
    "STEPS-PAYLOAD-06": ("3.3, 83", "step.args and tool.args are not mixed."),
    "STEPS-PAYLOAD-07": (
        "Step ID Sequence, 87-91",
        "Ids like step_1 start from step_1 and are sequential and contiguous.",
    ),
    "STEPS-PAYLOAD-08": ("3.2, 56", "title is optional, and text."),
    # ---- semantics
    "STEPS-ORDER-01": ("1, 12", "The plan is executed step by step, in payload order where dependencies allow."),
    "STEPS-SEM-01": ("4.1, 102", "A dependency that does not exist fails fast: nothing runs."),
    "STEPS-SEM-02": ("4.1, 103", "A step whose dependency failed is skipped."),
    "STEPS-SEM-03": ("4.1, 104", "A step whose dependency was skipped is skipped."),
    "STEPS-SEM-04": ("4.1, 105", "A step whose tool is not found fails."),
    "STEPS-SEM-05": ("4.1, 106", "A step whose tool raises fails."),
    "STEPS-TOOL-01": ("4.1, 105", "A tool that is not found does not reject the plan: its step fails."),
    # ---- results
    "STEPS-RESULT-01": (
        "4.2, 112-124",
        "Every step result has step_id, tool, ok, skipped, reason and error, and may have an output.",
    ),
    "STEPS-RESULT-02": ("4.2, 128", "skipped = true needs ok = false."),
    "STEPS-RESULT-03": ("4.2, 129", "ok = true needs error = null."),
    "STEPS-RESULT-04": ("4.2, 130", "ok = false without skipped needs an error or a reason."),
    "STEPS-RESULT-05": ("4.2, 112", "Every step of the payload has one result."),
    "STEPS-META-01": ("5, 136", "__meta__ is there, as the last entry."),
    "STEPS-META-02": (
        "5, 138-153",
        "__meta__ has ok, skipped = false, reason, task_status, stats, blocked_steps and failed_steps.",
    ),
    "STEPS-META-03": ("5, 145-150", "stats has total_steps, ok, skipped and failed, and they are right."),
    "STEPS-META-04": ("5.1, 156-163", "task_status is COMPLETED, PARTIAL, FAILED or BLOCKED, each by its own meaning."),
    "STEPS-META-05": (
        "6.2, 183",
        "The result validator finds a task_status that is invalid or not what the entries say.",
    ),
    "STEPS-META-06": ("5, 151-152", "blocked_steps and failed_steps name the steps that were blocked and that failed."),
    "STEPS-META-07": ("5.1, 160", "COMPLETED: every step was executed successfully."),
    "STEPS-META-08": ("5.1, 161", "PARTIAL: some steps were skipped, none was blocked or failed."),
    "STEPS-META-09": ("5.1, 162", "FAILED: at least one step failed."),
    "STEPS-META-10": ("5.1, 163", "BLOCKED: the resolution of dependencies prevented execution."),
    # ---- validators
    "STEPS-VALID-01": ("6.1, 169-175", "A payload validator checks shape, dependencies, tool field and uniqueness."),
    "STEPS-VALID-02": (
        "6.2, 177-184",
        "A result validator checks shape, __meta__, consistency, task_status and stats.",
    ),
    "STEPS-VALID-03": ("2, 28-33", "Results are validated before anyone sees them."),
    "STEPS-VALID-04": (
        "8, 206-214",
        "Both validators can be run on files, also on what others produced, and fail a build by their exit code.",
    ),
    "STEPS-VALID-05": (
        "2, 28-32",
        "A payload is validated before the executor gets it: a malformed plan runs nothing.",
    ),
    "STEPS-STATUS-01": ("8, 218", "task_status is what a caller reads the state of the whole from."),
    "STEPS-STATUS-02": ("8, 219", "ok, skipped, reason and error of a step are what a caller reads its detail from."),
    # ---- version
    "STEPS-VERSION-01": ("9, 225-228", "The contract has a semantic version and regression cases."),
    "STEPS-VERSION-02": ("9, 230", "Semantics do not change silently: what a case had as findings, it has."),
}
