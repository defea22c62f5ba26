"""The macros that come along, on real Blender: on an empty and on a filled scene, and taken back as they declare."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from blendwright.dialects import operations
from blendwright.macros import Macro, package_macros
from blendwright.macros.expansion import expand
from blendwright.tool_api.arguments import former_names
from support.engine.engine import Engine, all_tools
from support.plans.macro_documents import macros
from support.processes.shell import Shell
from support.stage.stage import Stage

# What needs an object says so, and leaves an empty scene as it is.
NEEDS_AN_OBJECT = {"layout.grid"}
FILLED: list[tuple[str, dict[str, Any]]] = [
    ("mesh.create_primitive", {"kind": "cube", "name": "Old box", "location": [5, 2, 1]}),
    ("light.create", {"name": "Old lamp", "type": "POINT"}),
    ("camera.create", {"name": "Old camera", "location": [0, -9, 2]}),
    ("scene.set_world", {"color": [0.1, 0.1, 0.1]}),
    ("material.ensure_principled", {"name": "Old paint", "base_color": [1, 0, 0]}),
]
EXAMPLES = [
    (name, place) for name, macro in package_macros().items() for place, _ in enumerate(macro.document.examples)
]


def inputs_of(name: str) -> dict[str, Any]:
    """The least that can be given."""
    macro = package_macros()[name]
    example = macro.document.examples[0].inputs
    schema: dict[str, Any] = dict(macro.document.inputs)
    return {field: example[field] for field in schema.get("required", ())}


def play(stage: Stage, name: str, inputs: Mapping[str, Any]) -> None:
    calls, findings = expand(package_macros()[name], inputs, package_macros())
    assert not findings, findings
    for call in calls:
        stage.do(call.tool, call.args)


@pytest.mark.parametrize(("name", "place"), EXAMPLES)
def test_every_example_works(stage: Stage, name: str, place: int) -> None:
    example = package_macros()[name].document.examples[place]
    for tool, args in example.given:
        stage.do(tool, args)
    play(stage, name, example.inputs)


@pytest.mark.parametrize("name", sorted(package_macros().keys() - NEEDS_AN_OBJECT))
def test_every_macro_works_on_an_empty_and_on_a_filled_scene(stage: Stage, name: str) -> None:
    play(stage, name, inputs_of(name))
    stage.state.reset()
    for tool, args in FILLED:
        stage.do(tool, args)
    play(stage, name, inputs_of(name))


@pytest.mark.parametrize("name", sorted(NEEDS_AN_OBJECT))
def test_a_macro_that_needs_an_object_says_so_on_an_empty_scene(stage: Stage, name: str) -> None:
    calls, _ = expand(package_macros()[name], inputs_of(name), package_macros())
    (finding,) = stage.refusal(calls[0].tool, calls[0].args)
    assert finding["code"] == "TARGET_NOT_FOUND"


ENGINE_CALLS = FILLED


def with_a_failing_end(macro: Macro) -> dict[str, Any]:
    document = json.loads(macro.document.model_dump_json())
    last = {"title": "fail", "tool": "trial.misbehave", "args": {"how": "fail", "name": "Trial"}}
    return document | {"steps": [*document["steps"], last]}


@pytest.mark.parametrize("name", sorted(package_macros()))
def test_every_macro_is_taken_back_as_it_declares(engine: Engine, name: str) -> None:
    tools = all_tools()
    parts = [macro.document.model_dump(mode="json") for macro in package_macros().values() if macro.name != name]
    known = macros(*parts, with_a_failing_end(package_macros()[name]), tools=tools)
    inputs = {"source": "Old box"} if name in NEEDS_AN_OBJECT else inputs_of(name)
    before = engine.scene.hash
    report = engine.run(
        operations.DIALECT.parse({"request_id": name, "operations": [_operation("m", name, inputs)]}), macros=known
    )
    assert report.operations[-1].status in ("failed", "skipped")
    taken_back = all(one.status != "succeeded" or one.blender_mutation_id is None for one in report.operations)
    assert taken_back == known[name].document.rollback
    assert (engine.scene.hash == before) == known[name].document.rollback
    assert engine.full_hash() == engine.scene.hash


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_macro_is_called_and_previewed_from_the_command_line(tmp_path_factory: pytest.TempPathFactory) -> None:
    _call_and_preview(Shell(tmp_path_factory.mktemp("shell")), "look.color")


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", sorted(package_macros()))
def test_every_macro_is_called_and_previewed_from_the_command_line(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    _call_and_preview(Shell(tmp_path_factory.mktemp("shell")), name)


def _call_and_preview(shell: Shell, name: str) -> None:
    inputs = inputs_of(name)
    empty = shell("call", name, "--args", json.dumps(inputs), "--json", code=1 if name in NEEDS_AN_OBJECT else 0)
    assert empty.document["ok"] == (name not in NEEDS_AN_OBJECT)
    if name in NEEDS_AN_OBJECT:
        inputs = {"source": "Old box"}
    made = [_operation(f"o{place}", tool, args) for place, (tool, args) in enumerate(FILLED)]
    shell("run", "-", "--workspace", "filled", stdin=_plan("fill", *made), code=0)
    plan = _plan("macro", _operation("m", name, inputs))
    before = shell("log", "--workspace", "filled", "--json", code=0).document
    shown = shell("preview", "-", "--workspace", "filled", "--json", stdin=plan, code=0).document
    assert shown["ok"] and shown["report"]["totals"]["created"] > 0
    assert shell("log", "--workspace", "filled", "--json", code=0).document == before
    done = shell("run", "-", "--workspace", "filled", "--json", stdin=plan, code=0).document
    assert [receipt["operation_id"] for receipt in done["result"]["receipts"]] == ["m"]
    other = json.dumps({**inputs, **_other_names(name)})
    assert shell("call", name, "--args", other, "--workspace", "filled", code=0).out.startswith(f"ok {name}")


def _operation(id: str, tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
    return {"operation_id": id, "tool_name": tool, "args": args, "depends_on": [], "safety_level": "safe_write"}


def _plan(request: str, *listed: dict[str, Any]) -> bytes:
    return json.dumps({"request_id": request, "operations": list(listed)}).encode()


def _other_names(name: str) -> dict[str, str]:
    """Names that are free still."""
    return {field: "Again" for field in ("prefix", "camera") if field in package_macros()[name].properties}


def test_shipped_macros_use_the_names_that_arguments_have_now() -> None:
    tools = all_tools()
    steps = [(macro.name, step) for macro in package_macros().values() for step in macro.document.steps]
    former = [
        (name, step.tool, argument)
        for name, step in steps
        if step.tool in tools
        for argument in former_names(tools[step.tool].args_model)
        if argument in step.args
    ]
    assert steps and former == []
