"""What is broken to prove the tests of the core requirements."""

from __future__ import annotations

import os
import traceback
from dataclasses import replace
from typing import Any

from support.planting.engine_bugs import keeps_instead
from support.planting.planting import Bug, Function
from support.planting.requirement_breaks.execution_calls import asks_for_a_viewport, every_tool_is
from support.planting.wrong_functions import answering, changing, finding_nothing, omitted, without_objection

CALLS = "tests/engine/test_calls.py"
PROMISES = "tests/engine/test_call_promises.py"
CATALOGUE = "tests/conformance/test_catalogue.py"
CONTRACT = "tests/policy/test_session_contract.py"
OBJECTIONS = "tests/policy/test_objections.py"
MACROS = "tests/engine/test_macro_runs.py"


def _code(words: str, only: str, right: str, wrong: str) -> Bug:
    """One error code of the core envelope takes the place of another."""

    def recoded(envelope: Any) -> Any:
        if envelope.error is None or envelope.error.code != right:
            return envelope
        return envelope.model_copy(update={"error": envelope.error.model_copy(update={"code": wrong})})

    return Bug(words, "blendwright.dialects.envelopes:core_envelope", changing(recoded), CALLS, only)


def answers_in_the_other_form(core_envelope: Function) -> Function:
    def wrong(outcome: Any) -> Any:
        from blendwright.dialects.envelopes import tool_result

        return core_envelope(outcome) if outcome.fault is None else tool_result(outcome)

    return wrong


def names_no_class(envelope: Any) -> Any:
    result = envelope.result
    return envelope if result is None else envelope.model_copy(update={"result": result | {"determinism_class": None}})


def gives_what_is_asked_for(tightened: Function) -> Function:
    def wrong(bounds: Any, *requests: Any) -> Any:
        wishes = {name: value for wish in requests for name, value in wish.items() if value is not None}
        known = bounds.model_dump()
        return bounds.model_validate(known | {name: wishes[name] for name in known if name in wishes})

    return wrong


def writes_while_it_checks(check: Function) -> Function:
    def wrong(self: Any, scene: Any, args: Any) -> Any:
        import bpy

        bpy.data.objects.new("Left by a check", None)
        return check(self, scene, args)

    return wrong


def takes_the_active_object(require: Function) -> Function:
    def wrong(self: Any, kind: Any, name: str, at: str = "") -> Any:
        import bpy

        active = bpy.context.view_layer.objects.active
        return active if kind.value == "objects" and active is not None else require(self, kind, name, at)

    return wrong


def tells_the_stack_trace(exception_finding: Function) -> Function:
    def wrong(error: Exception) -> Any:
        return replace(exception_finding(error), message="".join(traceback.format_exception(error)))

    return wrong


def gives_more_time(run: Function) -> Function:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        return run(*args, **kwargs | {"seconds": kwargs["seconds"] + 9})

    return wrong


def not_said_to_be_cancelled(details: Any) -> Any:
    return {name: value for name, value in details.items() if name != "cancelled"}


def another_fingerprint(answer: Any) -> Any:
    result: dict[str, Any] = answer["result"] or {}
    return {**answer, "result": {**result, "fingerprint": "another"}} if "fingerprint" in result else answer


BREAKS: dict[str, Bug] = {
    # ---- contract
    "CORE-CONTRACT-01": Bug(
        "two contracts of the same input are not the same bytes",
        "blendwright.policy.session_contract:SessionContract.to_bytes",
        changing(lambda told: told + os.urandom(4)),
        CONTRACT,
        "byte_equal",
    ),
    "CORE-CONTRACT-02": Bug(
        "a host gets the limits that it asks for",
        "blendwright.policy.policy:tightened",
        gives_what_is_asked_for,
        CONTRACT,
        "more_than_the_policy_allows",
    ),
    "CORE-CONTRACT-03": Bug(
        "flags that do not exist are passed over",
        "blendwright.policy.session_contract:_unknown",
        finding_nothing,
        CONTRACT,
        "unknown_flags",
    ),
    "CORE-CONTRACT-04": Bug(
        "a contract is not held against the tools of today",
        "blendwright.policy.session_contract:outdated",
        finding_nothing,
        CONTRACT,
        "old_contract_is_refused",
    ),
    "CORE-CONTRACT-05": Bug(
        "a mesh may be of any size",
        "blendwright.policy.objections:_lines",
        without_objection("vertices"),
        "tests/policy/test_refusal_matrix.py",
        "every_cell",
    ),
    "CORE-UI-01": Bug(
        "the user interface needs no flag of the contract",
        "blendwright.policy.objections:_lines",
        without_objection("ui_not_agreed"),
        OBJECTIONS,
        "only_where_the_contract_says_so",
    ),
    "CORE-HEADLESS-01": Bug(
        "a tool works only where a viewport is open",
        "blendwright.tools.object.duplicate:Duplicate.apply",
        asks_for_a_viewport,
        CATALOGUE,
        "only_declared_kinds[object.duplicate",
    ),
    "CORE-PIPE-01": Bug(
        "a failure is answered in the form of the other contract",
        "blendwright.dialects.envelopes:core_envelope",
        answers_in_the_other_form,
        "tests/server/test_server_tools.py",
        "core_envelope_is_spoken",
    ),
    # ---- phases
    "CORE-PHASE-01": _code(
        "wrong arguments are called a failure of execution", "bad_arguments", "invalid_arguments", "execution_failed"
    ),
    "CORE-PHASE-02": _code(
        "a tool that is not in the registry is called not found", "unknown_tool", "contract_violation", "not_found"
    ),
    "CORE-PHASE-03": Bug(
        "a check leaves something in the scene",
        "blendwright.tools.object.transform:Transform.check",
        writes_while_it_checks,
        CATALOGUE,
        "checking_writes_nothing[object.transform",
    ),
    "CORE-PHASE-04": Bug(
        "a tool works on the active object instead of the one that is named",
        "blendwright.blender.scene.reader:SceneReader.require",
        takes_the_active_object,
        CATALOGUE,
        "makes_no_difference[object.set_parent",
    ),
    "CORE-PHASE-05": Bug(
        "what verification finds does not count",
        "blendwright.blender.step:StepRun._findings",
        changing(lambda findings: tuple(finding for finding in findings if finding.fault != "VERIFICATION_FAILED")),
        CALLS,
        "step_that_fails_is_taken_back[unverified",
    ),
    "CORE-PHASE-06": Bug(
        "what a tool raised is told with its stack trace",
        "blendwright.blender.step:_exception_finding",
        tells_the_stack_trace,
        PROMISES,
        "without_its_stack_trace",
    ),
    "CORE-PHASE-07": Bug(
        "a call is given more time for its verification",
        "blendwright.engine.sending.exclusive_step:ExclusiveStep.run",
        gives_more_time,
        PROMISES,
        "verification_that_does_not_end",
    ),
    "CORE-PHASE-08": Bug(
        "the core envelope names no class of determinism",
        "blendwright.dialects.envelopes:core_envelope",
        changing(names_no_class),
        PROMISES,
        "names_the_class",
    ),
    # ---- atomicity, idempotency, macros
    "CORE-ATOMIC-01": Bug(
        "a step that failed is said to be taken back, and stays",
        "blendwright.blender.step:StepRun._revert",
        answering("inverse"),
        CALLS,
        "step_that_fails_is_taken_back[fail",
    ),
    "CORE-MACRO-01": Bug(
        "after a step that failed the later ones are run",
        "blendwright.engine.run_state:RunState.block_dependents",
        omitted,
        MACROS,
        "without_rollback_a_failing_step",
    ),
    "CORE-MACRO-02": Bug(
        "a macro may call itself more deterministic than its steps are",
        "blendwright.macros.linking:_Linker._determinism",
        answering(()),
        "tests/macros/test_macro_loading.py",
        "than_its_weakest_step",
    ),
    "CORE-MACRO-03": Bug(
        "a macro that declares rollback is not taken back",
        "blendwright.journal.journal:Journal.roll_back",
        keeps_instead,
        MACROS,
        "group_is_taken_back",
        during="blendwright.engine.runner:Runner._close",
    ),
    "CORE-IDEMP-01": Bug(
        "a tool may leave out whether it is idempotent",
        "blendwright.tool_api.tool:_problems",
        finding_nothing,
        "tests/tool_api/test_tool.py",
        "refused_by_its_name[promises",
    ),
    "CORE-IDEMP-02": Bug(
        "every tool calls itself not idempotent",
        "blendwright.tool_api.tool:Tool.idempotence_for",
        every_tool_is("non_idempotent"),
        CATALOGUE,
        "repetition_is_whole_or_nothing",
    ),
    # ---- time
    "CORE-TIME-01": _code(
        "a call that took too long is called an internal error", "deadline_of_the_session", "timeout", "internal_error"
    ),
    "CORE-TIME-02": Bug(
        "a cancelled call does not say that it was",
        "blendwright.dialects.envelopes:_details",
        changing(not_said_to_be_cancelled),
        CALLS,
        "cancelled_call_says_so",
    ),
    "CORE-TIME-03": _code(
        "a cancelled call is called a failure of execution", "cancelled_call_says_so", "timeout", "execution_failed"
    ),
    # ---- refusals
    "CORE-REFUSE-01": Bug(
        "a Blender that a tool does not know is not refused",
        "blendwright.policy.objections:_lines",
        without_objection("blender_too_new"),
        OBJECTIONS,
        "in_the_range",
    ),
    "CORE-REFUSE-02": Bug(
        "what the gate refuses is done all the same",
        "blendwright.engine.contract:ActiveContract.check",
        changing(lambda checked: ((), checked[1])),
        CALLS,
        "refused_at_the_gate",
    ),
    "CORE-REFUSE-03": Bug(
        "a macro that is not in the registry is not noticed",
        "blendwright.plan.validate:_Checks._unknown_tool",
        finding_nothing,
        "tests/plan/test_macro_calls.py",
        "unknown_name_is_told",
    ),
    "CORE-REFUSE-04": _code(
        "what violates a constraint is called wrong arguments",
        "at_the_gate[determinism",
        "contract_violation",
        "invalid_arguments",
    ),
    "CORE-REFUSE-05": Bug(
        "capabilities are not asked for",
        "blendwright.policy.objections:_lines",
        without_objection("capability"),
        OBJECTIONS,
        "every_missing_capability",
    ),
    # ---- determinism
    "CORE-DET-01": Bug(
        "a seed is not echoed",
        "blendwright.tool_api.tool:Tool.seed_for",
        omitted,
        "tests/tool_api/test_tool.py",
        "echoes_its_seed",
    ),
    "CORE-DET-02": Bug(
        "a snapshot has the fingerprint of another scene",
        "blendwright.blender.step:StepRun._report",
        changing(another_fingerprint),
        CALLS,
        "snapshot_is_given",
    ),
}
