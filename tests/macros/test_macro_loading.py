"""Macros from JSON: what is sound is loaded, and of the rest everything that is wrong is told at once."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from blendwright.contracts.effects import SafetyLevel
from blendwright.contracts.published import schema
from blendwright.macros import load_macros, macro_registry, package_macros, registry_fingerprint
from blendwright.macros.loading import read_macros
from blendwright.tools import catalog
from blendwright.values.errors import Refusal
from macro_documents import NAME, document, empty, macros, read, said


def test_the_shipped_macros_are_sound_and_fit_the_published_schema() -> None:
    shipped = package_macros()
    assert len(shipped) >= 8
    validator = jsonschema_rs.validator_for(schema("macro.v1"))
    for macro in shipped.values():
        assert macro.source == "package"
        validator.validate(macro.document.model_dump(mode="json"))


def test_all_that_is_wrong_with_all_macros_is_told_at_once() -> None:
    first = document(
        "test.first",
        empty("typo in a template", "{{nmae}}"),
        {"title": "no such tool", "tool": "object.create_emty", "args": {}},
        {"title": "no list", "tool": "object.create_empty", "for_each": "name", "args": {"name": "{{each}}"}},
        empty("braces", "{{ name }}"),
    )
    second = document("object.create_empty", determinism="maybe", rollback="yes")
    third = document("test.first")
    codes = said(first, second, third)
    assert codes == {
        ("SCHEMA_INVALID", "/steps/0/args/name"),
        ("TOOL_NOT_ALLOWED", "/steps/1/tool"),
        ("SCHEMA_INVALID", "/steps/2/for_each"),
        ("SCHEMA_INVALID", "/steps/3/args/name"),
        ("SCHEMA_INVALID", "/determinism"),
        ("SCHEMA_INVALID", "/rollback"),
        ("SCHEMA_INVALID", "/name"),
    }
    messages = [finding.message for finding in read(first, second, third)[1]]
    assert any(message.startswith("0.json: ") for message in messages)
    assert any(message.startswith("1.json: ") for message in messages)
    cures = [finding.cure or "" for finding in read(first)[1]]
    assert any("object.create_empty" in cure for cure in cures)


CLOSED: dict[str, Any] = {"type": "object", "additionalProperties": False}
OTHER = {"name": NAME, "each": NAME}
INPUTS: list[tuple[dict[str, Any], str]] = [
    ({"type": "obj"}, "/inputs/type"),
    ({"type": "array", "additionalProperties": False}, "/inputs/type"),
    ({"type": "object", "properties": {"name": NAME}, "required": ["name"]}, "/inputs"),
    ({**CLOSED, "required": ["name", "more"], "properties": {"name": NAME}}, "/inputs/required"),
    ({**CLOSED, "properties": {"name": NAME}}, "/inputs/properties/name"),
    ({**CLOSED, "properties": {"name": {**NAME, "default": 3}}}, "/inputs/properties/name/default"),
    ({**CLOSED, "required": ["name"], "properties": {"name": {"type": "string"}}}, "/inputs/properties/name"),
    ({**CLOSED, "required": ["name", "each"], "properties": OTHER}, "/inputs/properties/each"),
]


@pytest.mark.parametrize(("inputs", "pointer"), INPUTS)
def test_a_broken_schema_of_the_inputs_is_found(inputs: dict[str, Any], pointer: str) -> None:
    assert ("SCHEMA_INVALID", pointer) in said(document(inputs=inputs))


def test_a_list_inside_a_text_is_found() -> None:
    inputs = document()["inputs"] | {"properties": {"name": {"type": "array", "items": NAME, "description": "Names."}}}
    assert ("SCHEMA_INVALID", "/steps/0/args/name") in said(
        document(inputs=inputs, examples=[{"inputs": {"name": []}}])
    )


def test_a_cycle_of_macros_is_found_in_each_of_them() -> None:
    def calls(name: str, other: str) -> dict[str, Any]:
        return document(name, empty("one"), {"title": "on", "tool": other, "args": {"name": "{{name}}"}})

    found = read(calls("test.a", "test.b"), calls("test.b", "test.c"), calls("test.c", "test.a"))[1]
    assert [(finding.fault.value, finding.pointer) for finding in found] == [("GRAPH_CYCLE", "/steps/1/tool")] * 3
    assert "test.a → test.b → test.c → test.a" in found[0].message


@pytest.mark.proves("CORE-MACRO-02")
def test_a_macro_that_promises_more_determinism_than_its_weakest_step_is_refused() -> None:
    step = {
        "title": "apply",
        "tool": "modifier.apply",
        "args": {"object": "{{name}}", "modifier": "M", "type": "ARRAY"},
    }
    weak = document("test.weak", empty("one"), step)
    assert said(weak) == {("SCHEMA_INVALID", "/determinism")}
    assert macros(weak | {"determinism": "nondeterministic"})["test.weak"].determinism == "nondeterministic"
    nested = document("test.outer", {"title": "in", "tool": "test.weak", "args": {"name": "{{name}}"}})
    assert said(weak | {"determinism": "nondeterministic"}, nested) == {("SCHEMA_INVALID", "/determinism")}
    without = {key: value for key, value in weak.items() if key != "determinism"}
    assert said(without) == {("SCHEMA_INVALID", "/determinism")}


@pytest.mark.proves("CORE-MACRO-02")
def test_a_seeded_macro_takes_its_seed_as_an_input() -> None:
    assert said(document(determinism="seeded")) == {("SCHEMA_INVALID", "/inputs")}


def test_arguments_that_no_tool_takes_are_found_by_the_examples() -> None:
    wrong = document("test.wrong", empty("one", size="big"), empty("two", "{{name}}", locatoin=[0, 0, 0]))
    found = read(wrong)[1]
    assert {finding.pointer for finding in found} == {"/examples/0/inputs"}
    assert any("one (object.create_empty), /size" in finding.message for finding in found)
    assert any("two (object.create_empty), /locatoin" in finding.message for finding in found)
    assert said(document(examples=[{"inputs": {"nam": "x"}}])) == {("ARGS_INVALID", "/examples/0/inputs"),
                                                                   ("ARGS_INVALID", "/examples/0/inputs/nam")}  # fmt: skip


def test_what_no_strict_json_is_or_of_another_format_is_refused() -> None:
    texts = {
        "a.json": b'{"format": "macro.v1", "format": "macro.v1"}',
        "b.json": b"[1",
        "c.json": b'{"format": "macro.v9"}',
    }
    found, findings = read_macros(texts, catalog.tools(), {})
    assert not found
    assert [finding.message.partition(": ")[0] for finding in findings] == ["a.json", "b.json", "c.json"]
    assert "macro.v9" in findings[2].message and findings[2].pointer == "/format"


def test_a_macro_that_only_repeats_steps_is_refused_since_it_may_come_to_nothing() -> None:
    inputs = document()["inputs"] | {"properties": {"name": {"type": "array", "items": NAME, "description": "Names."}}}
    step = empty("each", "{{each}}") | {"for_each": "name"}
    assert ("SCHEMA_INVALID", "/steps") in said(
        document("test.maybe", step, inputs=inputs, examples=[{"inputs": {"name": []}}])
    )


def test_the_safety_level_is_the_highest_of_all_steps_inner_macros_included() -> None:
    inner = document("test.inner", {"title": "off", "tool": "object.delete", "args": {"name": "{{name}}"}})
    outer = document("test.outer", {"title": "in", "tool": "test.inner", "args": {"name": "{{name}}"}})
    found = macros(outer, inner)
    assert found["test.outer"].safety_level is found["test.inner"].safety_level is SafetyLevel.DESTRUCTIVE


def test_the_fingerprint_follows_the_content_and_the_registry_says_which_changed() -> None:
    before, same = macros(document()), macros(copy.deepcopy(document()))
    after = macros(document(summary="Something else."))
    assert registry_fingerprint(before.values()) == registry_fingerprint(same.values())
    assert registry_fingerprint(before.values()) != registry_fingerprint(after.values())
    assert macro_registry(after.values()).entries == {"test.pair": after["test.pair"].fingerprint}


def test_a_workspace_adds_its_own_macros_and_cannot_replace_others(tmp_path: Path) -> None:
    folder = tmp_path / "macros"
    folder.mkdir()
    (folder / "pair.json").write_text(json.dumps(document()))
    found = load_macros(tmp_path, catalog.tools())
    assert found["test.pair"].source == "macros/pair.json"
    assert found.keys() == package_macros().keys() | {"test.pair"}
    (folder / "mine.json").write_text(json.dumps(document("look.color")))
    (folder / "other.json").write_text("{}")
    with pytest.raises(Refusal) as refused:
        load_macros(tmp_path, catalog.tools())
    messages = [finding.message for finding in refused.value.findings]
    assert any(message.startswith("macros/mine.json: 'look.color' is the name of a macro") for message in messages)
    assert sum(message.startswith("macros/other.json: ") for message in messages) >= 7


def test_the_macro_that_the_documents_show_is_sound() -> None:
    page = (Path(__file__).parents[2] / "docs" / "macros.md").read_text()
    shown = json.loads(page.partition("```json\n")[2].partition("```")[0])
    assert list(macros(shown)) == ["desk.lamp"]
