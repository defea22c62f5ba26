"""Macros from JSON: what is sound is loaded, and of the rest everything that is wrong is told at once."""

from __future__ import annotations

import copy
import http.server
import itertools
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import jsonschema_rs
import pytest

from blendwright.macros import load_macros, macro_registry, package_macros
from blendwright.macros.loading import package_texts, read_macros
from blendwright.schemas.check import Checker
from blendwright.schemas.published import schema
from blendwright.tool_api.promises import SafetyLevel
from blendwright.tools import catalog
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from support.plans.macro_documents import NAME, document, empty, macros, read, said


def test_the_shipped_macros_are_sound_and_fit_the_published_schema() -> None:
    # The program itself does not hold them against the tools: this is the one place.
    checked, findings = read_macros(package_texts(), catalog.tools(), {})
    assert findings == ()
    shipped = package_macros()
    assert len(shipped) >= 8
    assert {name: macro.declaration() for name, macro in checked.items()} == {
        name: macro.declaration() for name, macro in shipped.items()
    }
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
    assert macro_registry(before.values()).fingerprint == macro_registry(same.values()).fingerprint
    assert macro_registry(before.values()).fingerprint != macro_registry(after.values()).fingerprint
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


# ---------------------------------------------------------------------- unsound files


def with_input(**properties: Any) -> dict[str, Any]:
    """The inputs of `document`, and more; each is used by a step of `using`."""
    return {**CLOSED, "required": ["name"], "properties": {"name": NAME, **properties}}


def using(name: str, *inputs: str, **fields: Any) -> dict[str, Any]:
    values = {one: f"{{{{{one}}}}}" for one in inputs}
    return document(name, empty("one"), {"title": "all", "tool": "object.set_property", "args": values}, **fields)


class Listener(http.server.BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"type": "integer"}')

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """The address of a server that must not be asked."""
    Listener.asked.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    assert Listener.asked == []


def test_nothing_outside_the_document_is_ever_looked_up_for_a_schema(elsewhere: str, tmp_path: Path) -> None:
    there = tmp_path / "type.json"
    there.write_text('{"type": "integer"}')
    at = "/inputs/properties/q"
    for word in ("$ref", "$dynamicRef"):
        for address in (f"{elsewhere}/{word}", there.as_uri(), "other.json"):
            inputs = with_input(q={word: address, "description": "x", "default": 1})
            assert said(document(inputs=inputs)) == {("SCHEMA_INVALID", f"{at}/{word}")}
    inputs = {"$schema": f"{elsewhere}/schema", **with_input()}
    assert said(document(inputs=inputs)) == {("SCHEMA_INVALID", "/inputs/$schema")}
    with pytest.raises(jsonschema_rs.ValidationError):
        Checker({"$ref": f"{elsewhere}/checker"}, Fault.SCHEMA_INVALID, str)
    with pytest.raises(jsonschema_rs.ValidationError):
        Checker({"$ref": there.as_uri()}, Fault.SCHEMA_INVALID, str)


def test_references_inside_the_document_are_followed() -> None:
    shared = {"$ref": "#/properties/name", "description": "Like the name."}
    inputs = with_input(other={**shared, "default": "B"}, third={**shared, "default": 3})
    inputs["properties"]["fourth"] = {"$ref": "#/$defs/size", "description": "x", "default": 2}
    inputs["$defs"] = {"size": {"type": "integer"}}
    found = read(using("test.refs", "other", "third", "fourth", inputs=inputs))[1]
    assert [(one.pointer, one.fault.value) for one in found] == [("/inputs/properties/third/default", "SCHEMA_INVALID")]


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"$ref": "#/$defs/none", "description": "x", "default": 1}, "/inputs"),
        ({"type": "string", "pattern": "(", "description": "x", "default": "a"}, "/inputs/properties/q/pattern"),
        (True, "/inputs/properties/q"),
    ],
)
def test_a_schema_that_cannot_be_built_is_told(schema: Any, pointer: str) -> None:
    assert said(document(inputs=with_input(q=schema))) == {("SCHEMA_INVALID", pointer)}


def test_boolean_schemas_and_lists_of_types_are_read() -> None:
    repeated = {"title": "t", "tool": "object.create_empty", "for_each": "l", "args": {"name": "A {{each}}"}}
    listed = {"type": "array", "items": True, "description": "x", "default": ["q"]}
    macro = document("test.bool", empty("x"), repeated, inputs=with_input(l=listed))
    assert said(macro) == {("SCHEMA_INVALID", "/steps/1/args/name")}
    either = {"type": ["string", "integer"], "description": "x", "default": 1}
    assert not said(document("test.either", empty("x", "{{name}} {{q}}"), inputs=with_input(q=either)))


def test_a_cycle_behind_a_macro_is_told_of_those_that_are_in_it() -> None:
    def calls(name: str, *others: str) -> dict[str, Any]:
        return document(name, *({"title": "on", "tool": one, "args": {"name": "{{name}}"}} for one in others))

    listed = (calls("test.a", "test.b"), calls("test.b", "test.c"), calls("test.c", "test.b"))
    assert [one.message for one in read(*listed)[1]] == [
        "1.json: it calls itself: test.b → test.c → test.b",
        "2.json: it calls itself: test.c → test.b → test.c",
    ]
    assert said(calls("test.a", "test.b"), calls("test.b", "no.such")) == {("TOOL_NOT_ALLOWED", "/steps/0/tool")}
    names = [f"test.m{'_x' * place}" for place in range(1200)]
    chain = [calls(name, after) for name, after in itertools.pairwise(names)]
    found = read(*chain, document(names[-1]))[1]
    assert {(one.fault.value, one.pointer) for one in found} == {("LIMIT_EXCEEDED", "/steps")}


def test_what_cannot_be_carried_is_found_at_its_place() -> None:
    text = json.dumps(document("test.a", empty("x", location=[1, 2, 3]), summary="x"))
    for wrong in ("1e400", str(10**30), "[" * 80 + "]" * 80):
        found = read_macros({"a": text.replace("[1, 2, 3]", f"[{wrong}, 2, 3]").encode()}, catalog.tools(), {})[1]
        assert found[0].pointer.startswith("/steps/0/args/location/0"), found


def test_an_input_that_nothing_uses_is_found() -> None:
    inputs = with_input(q={"type": "string", "description": "x", "default": "a"})
    assert said(document(inputs=inputs)) == {("SCHEMA_INVALID", "/inputs/properties/q")}


@pytest.mark.proves("CORE-MACRO-02")
def test_a_seeded_macro_passes_its_seed_on() -> None:
    inputs = with_input(seed={"type": "integer", "description": "Seed.", "default": 7})

    def seeded(**more: str) -> dict[str, Any]:
        code = {"title": "code", "tool": "python.run", "args": {"code": "print(1)", **more}}
        return document("test.seeded", code, empty("e", "{{name}} {{seed}}"), determinism="seeded", inputs=inputs)

    assert said(seeded()) == {("SCHEMA_INVALID", "/inputs/properties/seed")}
    assert not said(seeded(seed="{{seed}}"))


def test_the_calls_that_set_the_stage_of_an_example_are_checked() -> None:
    def staged(*given: Any) -> set[tuple[str, str]]:
        return said(document(examples=[{"inputs": {"name": "P"}, "given": list(given)}]))

    assert not staged(["object.create_empty", {"name": "A"}], ["test.pair", {"name": "B"}])
    assert staged(["no.such", {"x": 1}]) == {("TOOL_NOT_ALLOWED", "/examples/0/given/0/0")}
    assert staged(["object.create_empty", {"nam": "A"}]) == {("ARGS_INVALID", "/examples/0/given/0/1")}
    assert ("ARGS_INVALID", "/examples/0/given/0/1") in staged(["test.pair", {}])
