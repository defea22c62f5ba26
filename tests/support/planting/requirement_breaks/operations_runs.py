"""What is broken to prove the tests of the operations requirements: what a run does, answers and records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from support.planting.engine_bugs import keeps_instead, overlooks_other_arguments, takes_no_commit_for_an_answer
from support.planting.planting import Bug, Function
from support.planting.wrong_functions import answering, changing, omitted, schema_where

RUNNER = "tests/engine/test_runner.py"
FAILURES = "tests/engine/test_runner_failures.py"
DIALECT = "tests/dialects/test_operations.py"
OBSERVING = "tests/workspace/observing/test_observing.py"


def knows_no_arguments(operation_key: Function) -> Function:
    def wrong(request_id: str, operation_id: str, args: Any) -> Any:
        return operation_key(request_id, operation_id, {})

    return wrong


def gives_one_id_to_all(new_ids: Function) -> Function:
    def wrong(count: int) -> Any:
        return new_ids(1) * count

    return wrong


def gives_up_the_scene(report_exception: Function) -> Function:
    def wrong(scene: Any, call: Any, answer: Any) -> Any:
        scene.discard()
        return report_exception(scene, call, answer)

    return wrong


def keeps_plans_whole(parse: Function) -> Function:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        return parse(*args, **{"boundary": "plan"} | kwargs)

    return wrong


def leaves_out(*names: str) -> Any:
    """Of a record that is appended, these are null."""

    def make(append_fields: Function) -> Function:
        def wrong(self: Any, fields: dict[str, Any]) -> Any:
            return append_fields(self, fields | dict.fromkeys(names))

        return wrong

    return make


def calls_everything_failed(append: Function) -> Function:
    def wrong(self: Any, entry: Any, status: str, before: str, after: str | None, entry_hash: str | None = None) -> Any:
        return append(self, entry, "failed" if status == "rolled_back" else status, before, after, entry_hash)

    return wrong


def _with_a_mutation(entry: Any) -> Any:
    audit = entry.audit._replace(blender_mutation_id=entry.audit.blender_mutation_id or entry.audit.mcp_call_id)
    return entry._replace(audit=audit) if hasattr(entry, "_replace") else replace(entry, audit=audit)


def tells_the_log_of_another_call(operations: Function) -> Function:
    def wrong(self: Any, event: Any) -> Any:
        records = [{**record, "mcp_call_id": record["operation_id"]} for record in event.records]
        return operations(self, replace(event, records=records))

    return wrong


def only_rehearses(begin: Function) -> Function:
    def wrong(self: Any, request: Any) -> Any:
        return begin(self, {**request, "rehearse": "inverse"})

    return wrong


def asks_for_one_change_too_many(minimal_repair: Function) -> Function:
    def wrong(plan: Any, findings: Any) -> Any:
        from blendwright.values.report import Repair

        return (*minimal_repair(plan, findings), Repair(plan.operations[0].id, "replace_args"))

    return wrong


def needs_a_hash_after(append: Function) -> Function:
    def wrong(self: Any, entry: Any, status: str, before: str, after: str | None, entry_hash: str | None = None) -> Any:
        return append(self, entry, status, before, after or before, entry_hash)

    return wrong


def another_call_id(receipt: Any) -> Any:
    return {**receipt, "mcp_call_id": receipt["operation_key"]}


def every_fault_is_retried(actions: list[set[str]]) -> list[set[str]]:
    return [{"retry"} if asked else asked for asked in actions]


def _render(words: str, only: str, change: Callable[[Any], Any]) -> Bug:
    return Bug(words, "blendwright.dialects.operations:render", changing(change), DIALECT, only)


def _payload(words: str, only: str, change: Callable[[Any], Any]) -> Bug:
    return Bug(words, "blendwright.dialects.operations:_failure", changing(change), DIALECT, only)


BREAKS: dict[str, Bug] = {
    # ---- execution
    "OPS-ORDER-04": Bug(
        "operations are run from the last to the first",
        "blendwright.engine.runner:Runner._invocations",
        changing(lambda calls: calls[::-1]),
        RUNNER,
        "two_workspaces",
    ),
    "OPS-DEP-01": Bug(
        "after a failure the rest is run all the same",
        "blendwright.engine.sending.pipeline:Pipeline._continue",
        omitted,
        FAILURES,
        "stops_at_its_first_failure",
    ),
    "OPS-EXEC-01": Bug(
        "steps are tried in Blender and not kept",
        "blendwright.blender.step:Stepper.begin",
        only_rehearses,
        RUNNER,
        "scene_that_blender_has",
    ),
    # ---- idempotency
    "OPS-IDEM-01": Bug(
        "the arguments are no part of the key",
        "blendwright.engine.invocation:operation_key",
        knows_no_arguments,
        "tests/engine/test_keys.py",
        "both_ids_and_the_arguments",
    ),
    "OPS-IDEM-02": Bug(
        "a committed receipt is no answer, and the operation runs again",
        "blendwright.engine.idempotency:classify",
        takes_no_commit_for_an_answer,
        RUNNER,
        "same_plan_twice",
    ),
    "OPS-IDEM-03": Bug(
        "other arguments under the same ids are not noticed",
        "blendwright.engine.idempotency:_conflict",
        overlooks_other_arguments,
        RUNNER,
        "other_arguments_conflict",
    ),
    "OPS-IDEM-04": Bug(
        "a retried request does again what is committed",
        "blendwright.engine.idempotency:classify",
        takes_no_commit_for_an_answer,
        RUNNER,
        "completes_what_the_first",
    ),
    "OPS-IDEM-05": Bug(
        "the journal finds nothing of what it holds",
        "blendwright.journal.commits.operation_lookup:find_many",
        changing(lambda matches: [match._replace(where="nowhere", commit=None) for match in matches]),
        RUNNER,
        "same_plan_twice",
    ),
    # ---- rollback
    "OPS-ROLL-01": Bug(
        "a plan is kept whole unless something else is asked for",
        "blendwright.dialects.dialect:Dialect.parse",
        keeps_plans_whole,
        FAILURES,
        "stops_at_its_first_failure",
    ),
    "OPS-ROLL-02": Bug(
        "every failure gives the worker up",
        "blendwright.engine.sending.pipeline:report_exception",
        gives_up_the_scene,
        FAILURES,
        "failed_reading",
    ),
    "OPS-ROLL-03": Bug(
        "a step that failed is said to be taken back, and stays",
        "blendwright.blender.step:StepRun._revert",
        answering("inverse"),
        "tests/engine/test_calls.py",
        "step_that_fails_is_taken_back[raise",
    ),
    "OPS-ROLL-04": Bug(
        "after a rollback that failed, no checkpoint is told",
        "blendwright.engine.runner:Runner._latest_checkpoint",
        omitted,
        FAILURES,
        "leads_elsewhere",
    ),
    "OPS-ROLL-05": Bug(
        "a run that failed calls itself a success",
        "blendwright.engine.run_state:RunState.status",
        answering("succeeded"),
        FAILURES,
        "stops_at_its_first_failure",
    ),
    "OPS-ROLL-06": Bug(
        "a failed plan that is to be kept whole is not taken back",
        "blendwright.journal.journal:Journal.roll_back",
        keeps_instead,
        FAILURES,
        "taken_back_by_a_failure",
        during="blendwright.engine.runner:Runner._close",
    ),
    # ---- results and failures
    "OPS-RESULT-01": _render(
        "only the first receipt is given",
        "receipt_for_every_operation",
        lambda result: {**result, "receipts": result["receipts"][:1]},
    ),
    "OPS-RESULT-02": Bug(
        "a report may call itself a success whatever is in it",
        "blendwright.values.report:RunReport.__post_init__",
        omitted,
        DIALECT,
        "cannot_call_itself_a_success",
    ),
    "OPS-RESULT-03": _render(
        "a failure comes with receipts",
        "one_of_two_documents",
        lambda result: {"receipts": [], **result},
    ),
    "OPS-FAIL-01": Bug(
        "the payload of a failure has a field more",
        "blendwright.dialects.operations:_failure",
        changing(lambda payload: {**payload, "message": ""}),
        "tests/engine/test_failure_payloads.py",
    ),
    "OPS-FAIL-02": Bug(
        "some of the codes are not in the published list",
        "blendwright.schemas.published:schema",
        schema_where("failure_payload.v1", "properties", "error_code", "enum", holds=["SCHEMA_INVALID"]),
        DIALECT,
        "published_codes",
    ),
    "OPS-FAIL-03": Bug(
        "every fault is to be retried",
        "blendwright.plan.repair:_own_actions",
        changing(every_fault_is_retried),
        "tests/plan/test_repair.py",
        "action_of_its_fault",
    ),
    "OPS-FAIL-04": _payload(
        "every failure is called recoverable",
        "failed_rollback_outweighs",
        lambda payload: {**payload, "recoverable": True},
    ),
    "OPS-FAIL-05": Bug(
        "the repair asks for a change that is not needed",
        "blendwright.plan.repair:minimal_repair",
        asks_for_one_change_too_many,
        "tests/plan/test_repair.py",
        "repair_of_known_faults",
    ),
    "OPS-FAIL-06": Bug(
        "an entry of the repair plan has another name for its action",
        "blendwright.values.report:Repair.to_json",
        changing(lambda entry: {"operation_id": entry["operation_id"], "do": entry["action"]}),
        DIALECT,
        "repair_covers_all",
    ),
    # ---- correlation
    "OPS-CORR-01": Bug(
        "a plan forgets the id of its request",
        "blendwright.dialects.dialect:Dialect.parse",
        changing(lambda plan: replace(plan, request_id="another")),
        DIALECT,
        "keeps_request_order_and_policies",
    ),
    "OPS-CORR-02": Bug(
        "all invocations of a run have one call id",
        "blendwright.engine.invocation:new_ids",
        gives_one_id_to_all,
        OBSERVING,
        "every_invocation_has_a_call_id",
        during="blendwright.engine.runner:Runner._invocations",
    ),
    "OPS-CORR-03": Bug(
        "the receipt names another call than the one that made the change",
        "blendwright.engine.ledger:_receipt",
        changing(another_call_id),
        OBSERVING,
        "every_mutation_is_logged",
    ),
    "OPS-CORR-04": Bug(
        "the log does not say which call lost its worker",
        "blendwright.workspace.observing.counters:named_ids",
        changing(lambda ids: {name: id for name, id in ids.items() if name != "mcp_call_id"}),
        OBSERVING,
        "every_log_line_has_the_ids",
    ),
    "OPS-CORR-05": Bug(
        "the log has another call id than the audit",
        "blendwright.workspace.observing.log:Log._operations",
        tells_the_log_of_another_call,
        OBSERVING,
        "tell_what_the_audit_tells",
    ),
    "OPS-CORR-07": Bug(
        "ids are drawn once and given to several",
        "blendwright.engine.invocation:new_ids",
        gives_one_id_to_all,
        "tests/engine/test_keys.py",
        "no_two_alike",
    ),
    "OPS-CORR-08": Bug(
        "what was not committed has a mutation id",
        "blendwright.engine.ledger:Ledger.note",
        changing(_with_a_mutation),
        FAILURES,
        "every_executed_operation",
    ),
    # ---- journal and audit
    "OPS-JOURNAL-01": Bug(
        "the journal keeps no mutation ids",
        "blendwright.journal.audit.log:AuditAppender.append_fields",
        leaves_out("blender_mutation_id"),
        RUNNER,
        "committed_with_a_receipt_and_all_ids",
    ),
    "OPS-AUDIT-01": Bug(
        "a record does not say which tool it was",
        "blendwright.journal.audit.log:AuditAppender.append_fields",
        leaves_out("tool_name"),
        FAILURES,
        "every_executed_operation",
    ),
    "OPS-AUDIT-02": Bug(
        "what was taken back is recorded as failed",
        "blendwright.journal.audit.log:AuditAppender.append",
        calls_everything_failed,
        FAILURES,
        "recorded_as_failed",
    ),
    "OPS-AUDIT-03": Bug(
        "a reading has a mutation id in its record",
        "blendwright.engine.ledger:Ledger.success",
        changing(_with_a_mutation),
        FAILURES,
        "every_executed_operation",
    ),
    "OPS-AUDIT-04": Bug(
        "a record always has a hash after",
        "blendwright.journal.audit.log:AuditAppender.append",
        needs_a_hash_after,
        "tests/journal/test_audit.py",
        "fields_of_the_contract",
    ),
}
