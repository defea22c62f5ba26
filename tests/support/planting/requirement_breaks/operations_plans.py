"""What is broken to prove the tests of the operations requirements: what a plan is, and in which order it runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

from support.planting.planting import Bug, Function
from support.planting.wrong_functions import changing, finding_nothing, given, omitted, schema_where

CASES = "tests/dialects/test_operations_cases.py"
PLANNER = "planner_operations.v1"
OPERATION = ("properties", "operations", "items")


def _schema(words: str, only: str, *path: str, holds: Any = None) -> Bug:
    """The published planner schema says something else at a place, or nothing."""
    return Bug(words, "blendwright.schemas.published:schema", schema_where(PLANNER, *path, holds=holds), CASES, only)


def _graph(words: str, test: str, only: str, **changes: Callable[[Any], Any]) -> Bug:
    """The graph is read wrongly: these of its fields are made of the right graph."""

    def read_wrongly(graph: Any) -> Any:
        return replace(graph, **{name: change(graph) for name, change in changes.items()})

    return Bug(words, "blendwright.plan.graph:read_graph", changing(read_wrongly), test, only)


def reads_like_anybody(read_json: Function) -> Function:
    def wrong(text: Any, *, any_value: bool = False) -> Any:
        try:
            return json.loads(text), ()
        except (ValueError, RecursionError):
            return read_json(text, any_value=any_value)

    return wrong


def drops_what_the_tool_does_not_know(validate_arguments: Function) -> Function:
    def wrong(tool: Any, raw: Any) -> Any:
        return validate_arguments(tool, {key: raw[key] for key in raw if key in tool.args_model.model_fields})

    return wrong


def knows_one_tool_less(validate: Function) -> Function:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        plan, tools, *rest = args
        return validate(plan, {name: tools[name] for name in sorted(tools)[1:]}, *rest, **kwargs)

    return wrong


def tells_the_first_finding_only(all_findings: Function) -> Function:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        return islice(all_findings(*args, **kwargs), 1)

    return wrong


def knows_no_baseline(schedule: Function) -> Function:
    def wrong(self: Any, registry: str, baseline: str) -> Any:
        return schedule(self, registry, "")

    return wrong


def takes_the_id_of_the_model(read_proposal: Function) -> Function:
    def wrong(text: str, dialect: str, request_id: str, committed: Any = ()) -> Any:
        return read_proposal(text, dialect, json.loads(text)["request_id"], committed)

    return wrong


class DrawsByProcess(Random):
    """Equal numbers within a process, whatever the seed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(os.getpid())


def _without_denials(lines: Any) -> Any:
    return tuple(line for line in lines if "level_denied" not in line.rules)


BREAKS: dict[str, Bug] = {
    # ---- the schema
    "OPS-SCHEMA-01": _schema(
        "ids have fewer signs to choose from than the contract gives them",
        "printed_in_the_contract",
        *(*OPERATION, "properties", "operation_id", "pattern"),
        holds="^[a-z0-9_.:-]{1,128}$",
    ),
    "OPS-SCHEMA-02": _schema(
        "an operation may have any field", "no_other_fields", *(*OPERATION, "additionalProperties")
    ),
    "OPS-SCHEMA-03": _graph(
        "an id that is given twice is not noticed", CASES, "id_is_there_once", repeats=lambda graph: ()
    ),
    "OPS-SCHEMA-04": Bug(
        "documents are read by a reader that takes NaN and repeated keys",
        "blendwright.schemas.json_reader:read_json",
        reads_like_anybody,
        "tests/dialects/test_reading.py",
        "no_single_meaning",
    ),
    "OPS-SCHEMA-05": Bug(
        "what is wrong with a document does not keep its plan from running",
        "blendwright.dialects.dialect:Dialect.parse",
        changing(lambda plan: replace(plan, findings=())),
        "tests/workspace/test_refused_plans.py",
        "one_thing_wrong",
    ),
    "OPS-SCHEMA-06": _schema(
        "the schema says that it is of an older draft",
        "published_as_what_it_is",
        "$schema",
        holds="http://json-schema.org/draft-07/schema#",
    ),
    "OPS-FIELD-01": _schema(
        "a request id may be empty", "request_has_an_id", *("properties", "request_id", "minLength")
    ),
    "OPS-FIELD-02": _schema(
        "a plan may have no operations", "request_has_operations", *("properties", "operations", "minItems")
    ),
    "OPS-FIELD-03": _schema(
        "an id may be of any length",
        "id_of_the_pattern[id_too_long",
        *(*OPERATION, "properties", "operation_id", "pattern"),
        holds="^[a-zA-Z0-9_.:-]+$",
    ),
    "OPS-FIELD-04": _schema(
        "a tool may have no name", "names_a_tool", *(*OPERATION, "properties", "tool_name", "minLength")
    ),
    "OPS-FIELD-05": _schema("arguments may be anything", "has_arguments", *(*OPERATION, "properties", "args", "type")),
    "OPS-FIELD-06": _schema(
        "an operation may wait twice for the same",
        "says_once_what_it_waits_for",
        *(*OPERATION, "properties", "depends_on", "uniqueItems"),
    ),
    "OPS-FIELD-07": _schema(
        "any word is a safety level", "three_safety_levels", *(*OPERATION, "properties", "safety_level", "enum")
    ),
    "OPS-FIELD-08": _schema(
        "an operation may wait for what cannot be an id",
        "waits_for_has_the_pattern",
        *(*OPERATION, "properties", "depends_on", "items", "pattern"),
    ),
    "OPS-ARGS-01": Bug(
        "arguments that the tool does not know are dropped in silence",
        "blendwright.plan.validate:validate_arguments",
        drops_what_the_tool_does_not_know,
        "tests/plan/test_validation.py",
        "at_their_exact_place",
    ),
    "OPS-ARGS-02": _schema(
        "the plan's schema lets no argument through",
        "only_the_arguments_are_open",
        *(*OPERATION, "properties", "args", "additionalProperties"),
        holds=False,
    ),
    # ---- tools and their safety
    "OPS-TOOL-01": Bug(
        "a tool that is not there is not noticed",
        "blendwright.plan.validate:_Checks._unknown_tool",
        finding_nothing,
        "tests/plan/test_validation.py",
        "outside_the_contract",
    ),
    "OPS-TOOL-02": Bug(
        "what the policy denies is not held against a plan",
        "blendwright.policy.objections:_lines",
        changing(_without_denials),
        "tests/workspace/test_refused_plans.py",
        "policy_denies",
    ),
    "OPS-TOOL-03": Bug(
        "a tool that is listed cannot be named in a plan",
        "blendwright.plan.validate:validate",
        knows_one_tool_less,
        "tests/server/test_server_tools.py",
        "every_tool_that_is_listed",
    ),
    "OPS-SAFETY-01": Bug(
        "less may be declared than a tool does",
        "blendwright.plan.validate:_declared_too_low",
        finding_nothing,
        "tests/plan/test_validation.py",
        "declaring_less",
    ),
    "OPS-SAFETY-02": Bug(
        "nobody is asked about what destroys",
        "blendwright.approvals.ask:Approvals._ruling",
        omitted,
        "tests/approvals/test_plan_approvals.py",
        "nobody_can_be_asked_about",
    ),
    "OPS-VERSION-01": Bug(
        "a schema is published under no version",
        "blendwright.schemas.published:schema",
        schema_where("failure_payload.v1", "$id", holds="https://blendwright.dev/schemas/failure-payload.json"),
        CASES,
        "under_its_version",
    ),
    "OPS-VERSION-02": Bug(
        "a newer version of a schema is published without a word on the way to it",
        "blendwright.schemas.published:names",
        changing(lambda names: (*names, "failure_payload.v9")),
        "tests/schemas/test_schema_versions.py",
        "has_a_migration_note",
    ),
    "OPS-COMPLY-01": Bug(
        "a tool may leave out what the contract needs to know",
        "blendwright.tool_api.tool:_problems",
        finding_nothing,
        "tests/tool_api/test_tool.py",
        "leaves_something_out",
    ),
    "OPS-COMPLY-02": Bug(
        "what a planner says is run unseen",
        "blendwright.workspace.open_scene:OpenScene.check",
        omitted,
        "tests/planner/test_loop.py",
        "told_exactly_and_repaired",
    ),
    # ---- graph and order
    "OPS-GRAPH-01": _graph(
        "what waits and what is waited for are mixed up",
        "tests/plan/test_graph.py",
        "dependencies_are_edges",
        waits_for=lambda graph: graph.waited_by,
        waited_by=lambda graph: graph.waits_for,
    ),
    "OPS-GRAPH-02": _graph(
        "a dependency that is not there is not noticed",
        "tests/plan/test_graph.py",
        "missing_dependency",
        missing=lambda graph: (),
    ),
    "OPS-GRAPH-03": Bug(
        "cycles are not looked for",
        "blendwright.plan.graph:cycles",
        changing(lambda found: []),
        "tests/plan/test_graph.py",
        "cycle_is_shown",
    ),
    "OPS-GRAPH-04": Bug(
        "only the first thing that is wrong is told",
        "blendwright.plan.validate:_all",
        tells_the_first_finding_only,
        "tests/plan/test_graph.py",
        "found_at_once",
    ),
    "OPS-ORDER-01": Bug(
        "a schedule is the same whatever scene it is for",
        "blendwright.plan.validate:ValidPlan.schedule",
        knows_no_baseline,
        "tests/plan/test_schedule.py",
        "knows_graph_arguments_tools_and_baseline",
    ),
    "OPS-ORDER-02": Bug(
        "ties are broken by the place in the document",
        "blendwright.plan.graph:run_order",
        given(1, "position"),
        "tests/plan/test_schedule.py",
        "ties_are_broken",
    ),
    "OPS-ORDER-03": Bug(
        "what may turn out otherwise is not pinned by a checkpoint",
        "blendwright.engine.invocation:_promises",
        changing(lambda promises: replace(promises, replayable=True, exclusive=promises.with_files)),
        "tests/engine/test_nondeterministic_plans.py",
        "pinned_by_a_checkpoint",
    ),
    "OPS-ORDER-05": Bug(
        "places are drawn by the process and not by the seed",
        "blendwright.tools.place.scatter:Random",
        lambda right: DrawsByProcess,
        "tests/conformance/test_catalogue.py",
        "other_hash_seeds",
    ),
    "OPS-CORR-06": Bug(
        "the request goes by the id that the model made up",
        "blendwright.planner.answers:read_proposal",
        takes_the_id_of_the_model,
        "tests/planner/test_loop.py",
        "right_at_first",
    ),
}
