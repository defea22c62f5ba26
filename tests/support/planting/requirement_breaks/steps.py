"""What is broken to prove the tests of the steps requirements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from support.planting.planting import Bug, Function
from support.planting.wrong_functions import answering, changing, finding_nothing, given, omitted, schema_where

CASES = "tests/dialects/test_steps_cases.py"
STEPS = "tests/dialects/test_steps.py"
FAILURES = "tests/engine/test_runner_failures.py"
REFUSED = "tests/workspace/test_refused_plans.py"
STEP = ("properties", "steps", "items")
RESULT = "blendwright.dialects.steps"


def _payload(words: str, only: str, *path: str | int, holds: Any = None) -> Bug:
    """The published schema of payloads says something else at a place, or nothing."""
    wrong = schema_where("steps_payload.v1", *STEP, *path, holds=holds)
    return Bug(words, "blendwright.schemas.published:schema", wrong, CASES, only)


def _result(words: str, only: str, *path: str | int, holds: Any = None) -> Bug:
    wrong = schema_where("steps_result.v1", *path, holds=holds)
    return Bug(words, "blendwright.schemas.published:schema", wrong, CASES, only)


def _status(words: str, only: str, right: str, wrong: str) -> Bug:
    """One status takes the place of another."""
    change = changing(lambda status: wrong if status == right else status)
    return Bug(words, f"{RESULT}:task_status", change, STEPS, only)


def _unnoticed(words: str, check: str, only: str, file: str = CASES) -> Bug:
    """A check of the result validator has nothing to find."""
    return Bug(words, f"{RESULT}:{check}", finding_nothing, file, only)


def lets_blocked_steps_outweigh(task_status: Function) -> Function:
    def wrong(entries: Any, blocked: Any) -> Any:
        return "BLOCKED" if blocked else task_status(entries, blocked)

    return wrong


def blocks_the_nearest_only(block_dependents: Function) -> Function:
    def wrong(self: Any, id: str, why: str = "failed") -> None:
        for other in self._dependents.get(id, ()):
            if self.is_open(other):
                self.record(self.skipped(other, f"waits for '{id}', which {why}", blocked=True))

    return wrong


def refuses_the_plan(unknown_tool: Function) -> Function:
    def wrong(self: Any, operation: Any) -> Any:
        yield from unknown_tool(self, operation)
        yield self.unrunnable.pop(operation.id)

    return wrong


def skips_the_unrunnable(record_without_blender: Function) -> Function:
    def wrong(self: Any, schedule: Any, state: Any, classified: Any) -> None:
        for id in schedule.unrunnable:
            state.record(state.skipped(id, "there is no such tool"))
        record_without_blender(self, replace(schedule, unrunnable={}), state, classified)

    return wrong


def ends_with_success(present: Function) -> Function:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        from blendwright.cli.output import Exit

        return present(*args[:3], Exit.DONE)

    return wrong


def _without(name: str) -> Callable[[Any], Any]:
    return lambda entry: {**entry, name: None}


BREAKS: dict[str, Bug] = {
    "STEPS-DOC-01": Bug(
        "a field is published of which the page of the contract says nothing",
        "blendwright.schemas.published:schema",
        schema_where("steps_result.v1", "$defs", "step", "properties", "colour", holds={"type": "string"}),
        STEPS,
        "documented_where_it_says",
    ),
    # ---- payload
    "STEPS-PAYLOAD-01": _payload(
        "a step may have any field", "steps_with_their_fields[unknown_field_of_a_step", "additionalProperties"
    ),
    "STEPS-PAYLOAD-02": _payload("a tool may be anything", "name_or_an_object", *("properties", "tool"), holds={}),
    "STEPS-PAYLOAD-03": Bug(
        "an id that is given twice is not noticed",
        "blendwright.plan.graph:read_graph",
        changing(lambda graph: replace(graph, repeats=())),
        CASES,
        "id_of_its_own[id_twice",
    ),
    "STEPS-PAYLOAD-04": _payload(
        "dependencies may be anything", "ids_of_steps", *("properties", "dependencies"), holds={}
    ),
    "STEPS-PAYLOAD-05": _payload("arguments may be anything", "are_an_object", *("properties", "args", "type")),
    "STEPS-PAYLOAD-06": _payload("arguments may stand at two places", "at_one_place", "then"),
    "STEPS-PAYLOAD-07": Bug(
        "numbered steps may be numbered as one likes",
        "blendwright.dialects.steps:_beyond_the_schema",
        finding_nothing,
        CASES,
        "without_a_gap",
    ),
    "STEPS-PAYLOAD-08": _payload("a title may be anything", "title_is_text", *("properties", "title", "type")),
    # ---- semantics
    "STEPS-ORDER-01": Bug(
        "steps run in the order of their ids",
        "blendwright.plan.graph:run_order",
        given(1, "id"),
        "tests/plan/test_schedule.py",
        "order_of_the_payload",
    ),
    "STEPS-SEM-01": Bug(
        "a dependency that does not exist is passed over",
        "blendwright.plan.graph:read_graph",
        changing(lambda graph: replace(graph, missing=())),
        REFUSED,
        "waits_for_nothing_known",
    ),
    "STEPS-SEM-02": Bug(
        "what waits for a failed step is run",
        "blendwright.engine.run_state:RunState.block_dependents",
        omitted,
        FAILURES,
        "without_the_dependents",
    ),
    "STEPS-SEM-03": Bug(
        "what waits for a skipped step is run",
        "blendwright.engine.run_state:RunState.block_dependents",
        blocks_the_nearest_only,
        FAILURES,
        "without_the_dependents",
    ),
    "STEPS-SEM-04": Bug(
        "a step whose tool is not found counts as skipped",
        "blendwright.engine.runner:Runner._record_without_blender",
        skips_the_unrunnable,
        FAILURES,
        "without_the_dependents",
    ),
    "STEPS-SEM-05": Bug(
        "a step whose tool raised counts as skipped",
        "blendwright.engine.run_state:RunState.failed",
        changing(lambda report: replace(report, status="skipped")),
        FAILURES,
        "without_the_dependents",
        during="blendwright.engine.sending.pipeline:Pipeline._fail",
    ),
    "STEPS-TOOL-01": Bug(
        "an unknown tool rejects the whole plan",
        "blendwright.plan.validate:_Checks._unknown_tool",
        refuses_the_plan,
        "tests/plan/test_validation.py",
        "fails_only_its_own_step",
    ),
    # ---- results
    "STEPS-RESULT-01": _result(
        "an entry may have any field", "has_its_fields[entry_with", *("$defs", "step", "additionalProperties")
    ),
    "STEPS-RESULT-02": _unnoticed("skipped and ok at once is not noticed", "_contradictions", "skipped_is_not_ok"),
    "STEPS-RESULT-03": _unnoticed("ok with an error is not noticed", "_contradictions", "is_ok_has_no_error"),
    "STEPS-RESULT-04": _unnoticed("a failure without a word is not noticed", "_contradictions", "failure_says_why"),
    "STEPS-RESULT-05": _unnoticed("two entries of one step are not noticed", "_misplaced_entries", "has_one_entry"),
    "STEPS-META-01": _unnoticed("a summary at another place is not noticed", "_misplaced_entries", "is_the_last_entry"),
    "STEPS-META-02": _result(
        "a summary may call itself skipped",
        "summary_has_its_fields",
        *("$defs", "meta", "properties", "skipped"),
        holds={"type": "boolean"},
    ),
    "STEPS-META-03": Bug(
        "numbers are not counted", f"{RESULT}:_stats", answering({}), CASES, "complete_and_right[stats_miscounted"
    ),
    "STEPS-META-04": Bug(
        "a blocked step outweighs one that failed",
        f"{RESULT}:task_status",
        lets_blocked_steps_outweigh,
        STEPS,
        "failure_outweighs",
    ),
    "STEPS-META-05": _unnoticed(
        "a status that the entries do not say is not noticed", "_inconsistencies", "status_is_what_the_entries_say"
    ),
    "STEPS-META-06": _unnoticed(
        "steps that failed and are not listed are not noticed", "_inconsistencies", "failed_steps_are_those"
    ),
    "STEPS-META-07": _status("what is complete is called partial", "completed_run", "COMPLETED", "PARTIAL"),
    "STEPS-META-08": _status("what is partial is called complete", "makes_a_run_partial", "PARTIAL", "COMPLETED"),
    "STEPS-META-09": _status("what failed is called partial", "failure_outweighs", "FAILED", "PARTIAL"),
    "STEPS-META-10": _status(
        "what was blocked is called partial", "unresolved_dependencies_block", "BLOCKED", "PARTIAL"
    ),
    # ---- validators and version
    "STEPS-VALID-01": Bug(
        "the validator of payloads does not know the contract's own rules",
        "blendwright.schemas.published:schema",
        schema_where("steps_payload.v1", *STEP, "then"),
        "tests/cli/test_validate.py",
        "payloads_are_recognised",
    ),
    "STEPS-VALID-02": _unnoticed(
        "the validator of results does not compare",
        "_inconsistencies",
        "validator_of_their_own",
        "tests/cli/test_validate.py",
    ),
    "STEPS-VALID-03": Bug(
        "a result leaves without having been validated", f"{RESULT}:refuse_broken", omitted, STEPS, "never_leaves"
    ),
    "STEPS-VALID-04": Bug(
        "the validators end with success whatever they found",
        "blendwright.cli.output:present",
        ends_with_success,
        "tests/cli/test_validate.py",
        "validator_of_their_own",
    ),
    "STEPS-VALID-05": Bug(
        "a malformed payload is run",
        "blendwright.dialects.dialect:Dialect.parse",
        changing(lambda plan: replace(plan, findings=())),
        REFUSED,
        "malformed_payload",
    ),
    "STEPS-STATUS-01": Bug(
        "the summary of a run that failed says something else",
        f"{RESULT}:_meta",
        changing(lambda meta: {**meta, "task_status": "PARTIAL"}),
        FAILURES,
        "caller_reads",
    ),
    "STEPS-STATUS-02": Bug(
        "a step that was skipped does not say why",
        f"{RESULT}:_entry",
        changing(_without("reason")),
        FAILURES,
        "caller_reads",
    ),
    "STEPS-VERSION-01": _result(
        "a schema does not say its version", "carry_the_contract_version", "title", holds="Result"
    ),
    "STEPS-VERSION-02": _unnoticed("a rule of results is dropped in silence", "_contradictions", "another_verdict"),
}
