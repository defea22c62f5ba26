"""What is broken to prove the tests of the execution requirements: the phases of a call, what is gated, what a tool declares."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from support.planting.planting import Bug, Function
from support.planting.wrong_functions import answering, changing, finding_nothing, given, omitted, without_objection

CALLS = "tests/engine/test_calls.py"
CATALOGUE = "tests/conformance/test_catalogue.py"
OBJECTIONS = "tests/policy/test_objections.py"


class DrawsByProcess(Random):
    """Equal numbers within a process, whatever the seed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(os.getpid())


def goes_on_as_it_came(validate_arguments: Function) -> Function:
    def wrong(tool: Any, raw: Any) -> Any:
        validated = validate_arguments(tool, raw)
        return validated if validated.findings else validated._replace(canonical={**validated.canonical, **raw})

    return wrong


def called_an_internal_error(refused: Function) -> Function:
    def wrong(blank: Any, findings: Any, clock: Any) -> Any:
        from blendwright.values.faults import Fault

        return refused(blank, tuple(replace(finding, fault=Fault.INTERNAL_ERROR) for finding in findings), clock)

    return wrong


def overhears_the_wish_to_verify(run: Function) -> Function:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        return run(*args, **kwargs | {"verify": False})

    return wrong


def asks_for_a_viewport(apply: Function) -> Function:
    def wrong(self: Any, scene: Any, args: Any) -> Any:
        import bpy

        bpy.ops.view3d.snap_cursor_to_center()
        return apply(self, scene, args)

    return wrong


def stays_as_it_is(for_host: Function) -> Function:
    def wrong(self: Any, proposal: Any) -> Any:
        return self

    return wrong


def takes_paths_as_written(normalised: Function) -> Function:
    def wrong(self: Any, tool: Any, args: Any) -> Any:
        return args, ()

    return wrong


def every_tool_is(idempotence: str) -> Callable[[Function], Function]:
    def make(idempotence_for: Function) -> Function:
        def wrong(self: Any, args: Any) -> Any:
            from blendwright.tool_api.promises import Idempotence

            return Idempotence(idempotence)

        return wrong

    return make


BREAKS: dict[str, Bug] = {
    # ---- phases
    "EXEC-PHASE-00": Bug(
        "a message that is none is answered with a code of our own",
        "blendwright.server.transport.jsonrpc:error_response",
        changing(lambda answer: {**answer, "error": {**answer["error"], "code": 400}}),
        "tests/server/test_transports.py",
        "stdio_answers_what_is_no_message",
    ),
    "EXEC-PHASE-01": Bug(
        "of what is wrong with arguments only the first is found",
        "blendwright.schemas.check:ModelChecker.validate",
        changing(lambda validated: (validated[0], validated[1][:1])),
        "tests/plan/test_arguments.py",
        "all_problems_come_at_once",
    ),
    "EXEC-PHASE-02": Bug(
        "texts are not trimmed: arguments go on as they came",
        "blendwright.plan.validate:validate_arguments",
        goes_on_as_it_came,
        "tests/plan/test_arguments.py",
        "text_is_trimmed",
    ),
    "EXEC-PHASE-03": Bug(
        "invalid input is called an internal error",
        "blendwright.engine.calls:_refused",
        called_an_internal_error,
        CALLS,
        "bad_arguments",
    ),
    "EXEC-PHASE-04": Bug(
        "Python without confinement is let through whatever the policy says",
        "blendwright.policy.objections:_lines",
        without_objection("trusted_python"),
        "tests/policy/test_refusal_matrix.py",
        "every_cell",
    ),
    "EXEC-PHASE-06": Bug(
        "a tool is applied without its check",
        "blendwright.tools.object.delete:DeleteObject.check",
        finding_nothing,
        CALLS,
        "check_that_fails_in_blender",
    ),
    "EXEC-PHASE-07": Bug(
        "what verification finds does not count",
        "blendwright.blender.step:StepRun._findings",
        changing(lambda findings: tuple(finding for finding in findings if finding.fault != "VERIFICATION_FAILED")),
        "tests/blender/test_step.py",
        "the_hash_proves_it[unverified",
    ),
    "EXEC-PHASE-08": Bug(
        "verify=true is overheard",
        "blendwright.engine.sending.exclusive_step:ExclusiveStep.run",
        overhears_the_wish_to_verify,
        CALLS,
        "verifies_when_asked",
    ),
    "EXEC-PHASE-09": Bug(
        "what the phases in Blender took is not in the trace",
        "blendwright.engine.options:PhaseClock.note",
        omitted,
        CALLS,
        "a_success_has_hashes",
    ),
    "EXEC-PHASE-10": Bug(
        "the trace tells the phases in another order",
        "blendwright.engine.options:PhaseClock.trace",
        changing(lambda trace: trace[::-1]),
        CALLS,
        "a_success_has_hashes",
    ),
    "EXEC-PHASE-11": Bug(
        "the fields of a message are not looked at",
        "blendwright.server.transport.jsonrpc:_problem",
        omitted,
        "tests/server/test_jsonrpc.py",
        "envelope_of_an_error",
    ),
    "EXEC-PHASE-12": Bug(
        "what a host proposes for itself is no part of its contract",
        "blendwright.engine.contract:ContractDraft.for_host",
        stays_as_it_is,
        "tests/engine/test_active_contract.py",
        "another_host",
    ),
    "EXEC-PHASE-13": Bug(
        "places are drawn by the process and not by the seed",
        "blendwright.tools.place.scatter:Random",
        lambda right: DrawsByProcess,
        CATALOGUE,
        "echoes_its_seed_and_follows_it",
    ),
    "EXEC-PHASE-14": Bug(
        "a path is taken as it is written",
        "blendwright.engine.files.access:FileAccess.normalised",
        takes_paths_as_written,
        "tests/engine/files/test_files.py",
        "absolute_and_straight",
    ),
    "EXEC-PHASE-15": Bug(
        "an integer stays one where a float is meant: arguments go on as they came",
        "blendwright.plan.validate:validate_arguments",
        goes_on_as_it_came,
        "tests/plan/test_arguments.py",
        "floats_where_floats_are_meant",
    ),
    "EXEC-TOOL-01": Bug(
        "tools are offered over MCP, and not found when they are called",
        "blendwright.server.tools.server_tool:direct_tools",
        answering(()),
        "tests/server/test_server_tools.py",
        "direct_tools_take_the_whole_lifecycle",
    ),
    # ---- the gate
    "EXEC-GATE-01": Bug(
        "the Blender that a tool needs is not asked for",
        "blendwright.policy.objections:_lines",
        without_objection("blender_too_old"),
        OBJECTIONS,
        "in_the_range",
    ),
    "EXEC-GATE-02": Bug(
        "the network is open to every tool",
        "blendwright.policy.objections:_lines",
        without_objection("network"),
        "tests/policy/test_refusal_matrix.py",
        "every_cell",
    ),
    "EXEC-GATE-03": Bug(
        "every path is taken, wherever it leads",
        "blendwright.engine.files.access:FileAccess._allowed",
        answering(True),
        CALLS,
        "outside_the_roots",
    ),
    "EXEC-PLAN-01": Bug(
        "equal plans run in the order in which they are written",
        "blendwright.plan.graph:run_order",
        given(1, "position"),
        "tests/plan/test_schedule.py",
        "ties_are_broken",
    ),
    "EXEC-PLAN-02": Bug(
        "a preview leaves its scene in the worker",
        "blendwright.engine.preview:Previewer._reopen",
        omitted,
        "tests/engine/test_preview.py",
        "changes_nothing",
    ),
    # ---- modes
    "EXEC-MODE-01": Bug(
        "a tool may leave out what it promises",
        "blendwright.tool_api.tool:_problems",
        finding_nothing,
        "tests/tool_api/test_tool.py",
        "refused_by_its_name[promises",
    ),
    "EXEC-MODE-02": Bug(
        "unsafe operators need nobody's leave",
        "blendwright.policy.objections:_lines",
        without_objection("unsafe_ops"),
        OBJECTIONS,
        "unsafe_operators_need_leave",
    ),
    "EXEC-MODE-03": Bug(
        "a tool for the user interface is let through where there is none",
        "blendwright.policy.objections:_lines",
        without_objection("ui_missing"),
        OBJECTIONS,
        "for_the_user_interface_needs_one",
    ),
    "EXEC-MODE-04": Bug(
        "a headless tool uses an operator of the viewport",
        "blendwright.tools.object.transform:Transform.apply",
        asks_for_a_viewport,
        CATALOGUE,
        "only_declared_kinds[object.transform",
    ),
    "EXEC-MODE-05": Bug(
        "what speaks against a call does not refuse it",
        "blendwright.engine.contract:ActiveContract.check",
        changing(lambda checked: ((), checked[1])),
        CALLS,
        "refused_at_the_gate",
    ),
    # ---- idempotence
    "EXEC-IDEMP-01": Bug(
        "every tool calls itself idempotent",
        "blendwright.tool_api.tool:Tool.idempotence_for",
        every_tool_is("idempotent"),
        CATALOGUE,
        "repeating_an_idempotent_call",
    ),
    "EXEC-IDEMP-02": Bug(
        "every tool calls itself accumulating",
        "blendwright.tool_api.tool:Tool.idempotence_for",
        every_tool_is("accumulating"),
        CATALOGUE,
        "repeating_an_accumulating_call",
    ),
    "EXEC-IDEMP-04": Bug(
        "a host is told that every tool is idempotent",
        "blendwright.server.tools.server_tool:_direct_tool",
        changing(lambda tool: replace(tool, idempotent=True)),
        "tests/server/test_service.py",
        "hints_of_its_declaration",
    ),
    "EXEC-DET-04": Bug(
        "places are drawn by the process and not by the seed",
        "blendwright.tools.place.scatter:Random",
        lambda right: DrawsByProcess,
        CALLS,
        "two_sessions_with_equal_calls",
    ),
    "EXEC-DET-05": Bug(
        "a tool may leave out its class of determinism",
        "blendwright.tool_api.tool:_problems",
        finding_nothing,
        "tests/tool_api/test_tool.py",
        "refused_by_its_name[promises",
    ),
}
