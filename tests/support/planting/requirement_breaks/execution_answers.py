"""What is broken to prove the tests of the execution requirements: what a call is answered with, in its time, and what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from support.planting.planting import Bug, Function
from support.planting.wrong_functions import answering, changing, omitted, without_objection

CALLS = "tests/engine/test_calls.py"
PROMISES = "tests/engine/test_call_promises.py"
CONTRACT = "tests/engine/test_active_contract.py"


def _code(words: str, test: str, only: str, right: str, wrong: str) -> Bug:
    """One error code takes the place of another."""

    def recoded(fields: Any) -> Any:
        return {**fields, "error_code": wrong if fields["error_code"] == right else fields["error_code"]}

    return Bug(words, "blendwright.dialects.envelopes:_fields", changing(recoded), test, only)


def names_what_is_gone(handles_of: Function) -> Function:
    def wrong(changes: Any) -> Any:
        return handles_of([[*change[:-1], "changed"] for change in changes])

    return wrong


def overhears_the_time_of_the_caller(init: Function) -> Function:
    def wrong(self: Any, runner: Any, tool: Any, plan: Any, options: Any) -> None:
        init(self, runner, tool, plan, replace(options, timeout=None))

    return wrong


def knows_no_time_of_the_host(agree: Function) -> Function:
    def wrong(proposal: Any, policy: Any) -> Any:
        host = proposal.host.model_copy(update={"call_seconds": None})
        return agree(proposal.model_copy(update={"host": host}), policy)

    return wrong


def keeps_plans_whole(parse: Function) -> Function:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        return parse(*args, **{"boundary": "plan"} | kwargs)

    return wrong


def demands_nothing(check: Function) -> Function:
    def wrong(
        self: Any, calls: Any, operations: Any, path_findings: Any, determinism: Any = None, *, background: bool = False
    ) -> Any:
        return check(self, calls, operations, path_findings, None, background=background)

    return wrong


def gives_no_snapshot(call: Function) -> Function:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        return call(*args, **kwargs).with_(snapshot=None)

    return wrong


def _contract(words: str, test: str, only: str, **changes: Callable[[Any], Any]) -> Bug:
    """The contract of a negotiation, where it came to one, says something else."""

    def changed(made: Any) -> Any:
        if not hasattr(made, "model_copy"):
            return made
        return made.model_copy(update={name: change(made) for name, change in changes.items()})

    return Bug(words, "blendwright.policy.session_contract:negotiate", changing(changed), test, only)


BREAKS: dict[str, Bug] = {
    "EXEC-PHASE-05": _code(
        "what is missing is called an internal error",
        CALLS,
        "at_the_gate[capability",
        "capability_missing",
        "internal_error",
    ),
    "EXEC-VERIFY-01": Bug(
        "what was deleted has a handle",
        "blendwright.engine.ledger:handles_of",
        names_what_is_gone,
        CALLS,
        "deleted_thing",
    ),
    "EXEC-IDEMP-03": Bug(
        "what was made has no handles",
        "blendwright.engine.ledger:handles_of",
        answering(()),
        CALLS,
        "a_success_has_hashes",
    ),
    "EXEC-SNAP-03": Bug(
        "only the first thing that changed has a handle",
        "blendwright.engine.ledger:handles_of",
        changing(lambda handles: handles[:1]),
        CALLS,
        "a_success_has_hashes",
    ),
    "EXEC-PARTIAL-01": Bug(
        "what became of a failed call is not told",
        "blendwright.engine.calls:_ToolCall._outcome",
        changing(lambda outcome: outcome.with_(partial=None)),
        CALLS,
        "step_that_fails_is_taken_back[raise",
    ),
    "EXEC-PARTIAL-02": Bug(
        "that output was cut is not told",
        "blendwright.blender.scene.code.execution:CodeExecution.run_code",
        changing(lambda ran: (ran[0], False)),
        "tests/engine/code/test_python.py",
        "output_is_cut",
    ),
    # ---- time
    "EXEC-TIME-01": Bug(
        "the time that a caller gives is overheard",
        "blendwright.engine.calls:_ToolCall.__init__",
        overhears_the_time_of_the_caller,
        PROMISES,
        "time_that_a_caller_gives",
    ),
    "EXEC-TIME-02": Bug(
        "a call that took too long does not say what stands",
        "blendwright.values.report:StepDetails.partial_work",
        omitted,
        CALLS,
        "deadline_of_the_session",
    ),
    "EXEC-TIME-03": Bug(
        "the time that a host gives is no part of its contract",
        "blendwright.policy.session_contract:agree",
        knows_no_time_of_the_host,
        CONTRACT,
        "budget_of_the_host",
    ),
    "EXEC-TIME-04": Bug(
        "a request that its host calls off runs on",
        "blendwright.util.cancel:CancelToken.cancel",
        omitted,
        "tests/server/test_server_tools.py",
        "cancelled_request_stops_its_run",
    ),
    "EXEC-TIME-05": Bug(
        "a run that ends too late takes back what it did",
        "blendwright.dialects.dialect:Dialect.parse",
        keeps_plans_whole,
        "tests/engine/test_runner_losses.py",
        "past_its_deadline_ends",
    ),
    # ---- codes
    "EXEC-CODE-01": _code(
        "a conflict is called a timeout",
        "tests/dialects/test_envelopes.py",
        "codes_of_the_design",
        "conflict",
        "timeout",
    ),
    "EXEC-CODE-02": Bug(
        "a failure of the worker comes without a cure",
        "blendwright.engine.failures:_reason",
        changing(lambda reason: (reason[0], "")),
        PROMISES,
        "says_what_to_do",
    ),
    "EXEC-CODE-03": Bug(
        "a demand for determinism is not held against a call",
        "blendwright.policy.objections:_lines",
        without_objection("determinism"),
        "tests/policy/test_objections.py",
        "refuses_what_is_weaker",
    ),
    "EXEC-CODE-04": Bug(
        "an error has no message",
        "blendwright.dialects.envelopes:_fields",
        changing(lambda fields: {**fields, "message": ""}),
        PROMISES,
        "says_what_to_do",
    ),
    "EXEC-CODE-05": _code("wrong arguments are called a conflict", CALLS, "bad_arguments", "invalid_input", "conflict"),
    "EXEC-CODE-06": _code(
        "a missing capability is called a matter of policy",
        CALLS,
        "at_the_gate[capability",
        "capability_missing",
        "policy_refused",
    ),
    "EXEC-CODE-07": _code(
        "what the policy forbids is called wrong input", CALLS, "outside_the_roots", "policy_refused", "invalid_input"
    ),
    "EXEC-CODE-08": _code(
        "what is not there is called wrong input", CALLS, "check_that_fails_in_blender", "not_found", "invalid_input"
    ),
    "EXEC-CODE-09": _code(
        "a name that is taken is called wrong input", CALLS, "check_that_fails_in_blender", "conflict", "invalid_input"
    ),
    "EXEC-CODE-10": _code(
        "what took too long is called an internal error", CALLS, "deadline_of_the_session", "timeout", "internal_error"
    ),
    "EXEC-CODE-11": _code(
        "a defect is called a conflict", CALLS, "step_that_fails_is_taken_back", "internal_error", "conflict"
    ),
    # ---- determinism, snapshots, profiles
    "EXEC-DET-01": Bug(
        "every result is called deterministic",
        "blendwright.engine.calls:_ToolCall._outcome",
        changing(lambda outcome: outcome.with_(determinism_class="deterministic")),
        PROMISES,
        "names_the_class",
    ),
    "EXEC-DET-02": Bug(
        "another seed is told than the one that was used",
        "blendwright.tool_api.tool:Tool.seed_for",
        changing(lambda seed: None if seed is None else seed + 1),
        PROMISES,
        "has_the_seed",
    ),
    "EXEC-DET-03": Bug(
        "no tolerance is told",
        "blendwright.tools.mesh.measure:Measure.tolerance_for",
        omitted,
        CALLS,
        "tolerance_is_named",
    ),
    "EXEC-DET-06": Bug(
        "the class that a caller demands is overheard",
        "blendwright.engine.contract:ActiveContract.check",
        demands_nothing,
        CONTRACT,
        "may_demand_a_class",
    ),
    "EXEC-SNAP-01": Bug(
        "the snapshot that was asked for is not given",
        "blendwright.engine.calls:call",
        gives_no_snapshot,
        CALLS,
        "snapshot_is_given",
    ),
    "EXEC-SNAP-02": Bug(
        "a snapshot has a field that its format does not know",
        "blendwright.blender.step:StepRun._report",
        changing(lambda answer: {**answer, "result": answer["result"] and {**answer["result"], "extra": 1}}),
        "tests/tools/test_snapshot.py",
        "meets_its_published_schema",
    ),
    "EXEC-PROFILE-01": Bug(
        "the profile does not say which engines Blender has",
        "blendwright.blender.worker.profile:_engines",
        answering(()),
        "tests/bridge/test_worker_process.py",
        "announces_its_blender",
    ),
    "EXEC-PROFILE-02": _contract(
        "what a host says of itself is not in its contract",
        "tests/policy/test_session_contract.py",
        "says_of_itself",
        host=lambda made: type(made.host)(),
    ),
    "EXEC-PROFILE-03": _contract(
        "the contract is made for another Blender than the one that runs",
        CONTRACT,
        "kept_with_the_run",
        blender=lambda made: made.blender.model_copy(update={"engines": ()}),
    ),
}
