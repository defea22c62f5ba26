"""What is broken to prove the tests of the geonodes requirements: plans, their steps, the gates and when they are done."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from support.planting.planting import Bug, Function
from support.planting.wrong_functions import answering, changing, given, omitted, schema_where, without_objection

DIALECT = "tests/dialects/test_geonodes_dialect.py"
RUNS = "tests/dialects/test_geonodes_runs.py"
GATES = "tests/tools/geonodes/test_geonodes_gates.py"
STRUCTURE = "blendwright.tools.geonodes.structural_gates:StructuralGates"


def _schema(words: str, only: str, *path: str | int, holds: Any = None) -> Bug:
    """The published schema of plans says something else at a place, or nothing."""
    wrong = schema_where("geonodes_plan.v1", *path, holds=holds)
    return Bug(words, "blendwright.schemas.published:schema", wrong, DIALECT, only)


def _status(words: str, only: str, right: str, wrong: str) -> Bug:
    change = changing(lambda status: wrong if status == right else status)
    return Bug(words, "blendwright.dialects.geonodes:_status", change, RUNS, only)


def looks_for_the_plan_in_a_text(read_json: Function) -> Function:
    def wrong(text: Any, *, any_value: bool = False) -> Any:
        return json.loads(text[text.index(b"{") : text.rindex(b"}") + 1]), ()

    return wrong


def takes_only_vertices_for_geometry(empty: Function) -> Function:
    def wrong(facts: Any) -> Any:
        return empty(facts) if facts.vertices else "there are no vertices"

    return wrong


BREAKS: dict[str, Bug] = {
    # ---- the plan
    "GN-PLAN-01": _schema(
        "a plan need not say whether it is done",
        "missing_field",
        "required",
        holds=["version", "steps", "final_message"],
    ),
    "GN-PLAN-02": _schema(
        "a plan needs no last words", "missing_field", "required", holds=["version", "steps", "done"]
    ),
    "GN-PLAN-03": _schema("meta may have any field", "where_it_stands", *("$defs", "PlanMeta", "additionalProperties")),
    "GN-PLAN-04": _schema(
        "the example of the protocol has a step too many",
        "example_of_the_protocol",
        *("properties", "steps", "maxItems"),
        holds=2,
    ),
    "GN-PLAN-05": _schema(
        "any version is taken", "of_another_kind", *("properties", "version"), holds={"type": "string"}
    ),
    "GN-PLAN-06": _schema("done may be anything", "of_another_kind", *("properties", "done"), holds={}),
    "GN-PLAN-07": Bug(
        "a plan is looked for inside of a text",
        "blendwright.schemas.json_reader:read_json",
        looks_for_the_plan_in_a_text,
        DIALECT,
        "words_around_the_plan",
    ),
    # ---- its steps
    "GN-STEP-01": _schema(
        "a step needs no payload", "step_without_a_field", *("$defs", "NodeTreeStep", "required"), holds=["id", "type"]
    ),
    "GN-STEP-02": _schema(
        "a step may be of any type", "unknown_step_type", *("properties", "steps", "items"), holds={}
    ),
    "GN-STEP-03": Bug(
        "steps do not wait for each other",
        "blendwright.dialects.geonodes:_chained",
        changing(lambda operations: tuple(replace(operation, depends_on=()) for operation in operations)),
        DIALECT,
        "steps_wait_for_each_other",
    ),
    "GN-STEP-04": Bug(
        "the summary of an error does not name its step",
        "blendwright.dialects.geonodes:_summary",
        given(0, None),
        RUNS,
        "first_step_that_fails",
    ),
    "GN-STEP-05": Bug(
        "after a step that failed the later ones are run",
        "blendwright.engine.sending.pipeline:Pipeline._continue",
        omitted,
        RUNS,
        "first_step_that_fails",
    ),
    "GN-LIMIT-01": _schema("a plan may have any number of steps", "at_most_25", *("properties", "steps", "maxItems")),
    "GN-LIMIT-02": Bug(
        "code may be of any length",
        "blendwright.policy.objections:_lines",
        without_objection("python_code"),
        DIALECT,
        "as_long_as_the_settings_allow",
    ),
    "GN-PYTHON-01": _schema(
        "code may have no time at all", "has_a_mode", *("$defs", "PythonPayload", "properties", "timeout_ms", "minimum")
    ),
    "GN-PY-09": _schema("any word is a mode", "has_a_mode", *("$defs", "PythonPayload", "properties", "mode", "enum")),
    # ---- done
    "GN-DONE-01": Bug(
        "done does not depend on any gate",
        "blendwright.dialects.geonodes:_gates_required",
        answering(False),
        RUNS,
        "refused_by_a_gate",
    ),
    "GN-DONE-02": _status("a plan that asks for another round counts as done", "another_round", "continue", "done"),
    "GN-DONE-03": Bug(
        "gates are required whatever meta says",
        "blendwright.dialects.geonodes:_gates_required",
        answering(True),
        RUNS,
        "gates_that_are_not_required",
    ),
    "GN-DONE-04": _status("a plan with nothing to do is never done", "nothing_to_do", "done", "continue"),
    "GN-ENVELOPE-01": Bug(
        "the envelope of the gates has a fourth field",
        "blendwright.dialects.geonodes:_envelope",
        changing(lambda envelope: {**envelope, "round": 1}),
        RUNS,
        "refused_by_a_gate",
    ),
    "GN-ENVELOPE-02": Bug(
        "a tree that was refused once is never accepted",
        "blendwright.dialects.geonodes:_envelope",
        changing(lambda envelope: {**envelope, "success": False}),
        RUNS,
        "accepted_in_the_next_round",
    ),
    "GN-ENVELOPE-03": Bug(
        "a planner is not told what the gates said",
        "blendwright.planner.loop:_failure",
        changing(lambda failure: replace(failure, failure=None)),
        "tests/planner/test_loop_geonodes.py",
        "told_with_its_envelope",
    ),
    # ---- gates
    "GN-GATE-01": Bug(
        "several group inputs pass",
        f"{STRUCTURE}.several_group_nodes",
        answering(""),
        GATES,
        "its_repair_passes[SINGLE_GROUP_IO",
    ),
    "GN-GATE-02": Bug(
        "a circle is not noticed, and its old warnings are believed",
        "blendwright.tools.node_trees.tree_gates:TreeGates.cycles",
        answering(""),
        GATES,
        "are_not_believed",
    ),
    "GN-GATE-03": Bug(
        "only vertices count as geometry",
        "blendwright.tools.geonodes.gate_report:_empty",
        takes_only_vertices_for_geometry,
        GATES,
        "are_geometry_too",
    ),
    "GN-GATE-04": Bug(
        "an output that is not connected passes",
        f"{STRUCTURE}.output_not_connected",
        answering(""),
        GATES,
        "its_repair_passes[OUTPUT_CONNECTED",
    ),
    "GN-EXAMPLE-01": Bug(
        "no tree passes its gates",
        f"{STRUCTURE}.output_not_connected",
        answering("the output is not connected"),
        "tests/examples/test_geonodes_examples.py",
    ),
    "GN-EXAMPLE-02": Bug(
        "no tree passes its gates",
        f"{STRUCTURE}.output_not_connected",
        answering("the output is not connected"),
        "tests/examples/test_geonodes_protocol.py",
    ),
}
