"""Phase 1: arguments against their schema, with pointers and cures, then in canonical form."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from blendwright.plan.validate import ValidatedArguments, validate_arguments
from blendwright.schemas.json_reader import non_interoperable_values
from blendwright.tool_api.arguments import Args, Name, Result, Seed, Text, UnitFloat, Vector3
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Tool
from blendwright.tools import catalog
from blendwright.values.findings import Finding


class Part(Args):
    label: Text = Field(description="What it is called.")
    weight: UnitFloat = 0.5


class AllKindsArgs(Args):
    name: Name = Field(description="A literal name.")
    note: Text = Field(default="none", description="Free text.")
    place: Vector3 = Field(default=(0.0, 0.0, 0.0), description="Where.")
    amount: float = Field(default=1.0, gt=0.0, description="How much.")
    count: int | None = Field(default=None, description="How many.")
    seed: Seed = 0
    parts: list[Part] = Field(default=[], max_length=200, description="The parts.")
    anything: Any = None


class Nothing(Result):
    pass


class AllKinds(Tool[AllKindsArgs, Nothing]):
    """Take every kind of argument."""

    name = "trial.all_kinds"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("object_write")
    examples = (Example({"name": "A"}),)

    def check(self, scene: Scene, args: AllKindsArgs) -> Iterator[Finding]:
        yield from ()

    def apply(self, scene: Scene, args: AllKindsArgs) -> Nothing:
        return Nothing()

    def verify(self, scene: Scene, args: AllKindsArgs, result: Nothing) -> Iterator[Finding]:
        yield from ()


TOOL = AllKinds()


def canonical(raw: Any) -> dict[str, Any]:
    args, findings, model = validate_arguments(TOOL, raw)
    assert not findings and model == TOOL.args_model.model_validate(args), findings
    return args


def refused(raw: Any) -> dict[str, Finding]:
    """The findings of a refusal, by pointer; each has a message and a cure, and no canonical form comes with them."""
    args, findings, model = ValidatedArguments({}, non_interoperable_values(raw))
    if not findings:
        args, findings, model = validate_arguments(TOOL, raw)
    assert findings and args == {} and model is None
    for finding in findings:
        assert finding.fault.value in ("ARGS_INVALID", "SCHEMA_INVALID")  # the latter for what is no JSON
        assert finding.message and finding.cure
        assert len(finding.message) < 400
    return {finding.pointer: finding for finding in findings}


def nested(depth: int) -> Any:
    value: Any = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.proves("EXEC-PHASE-15")
def test_defaults_are_filled_in_and_numbers_are_floats_where_floats_are_meant() -> None:
    assert canonical({"name": "A", "place": [1, 2, 3]}) == {
        "name": "A",
        "note": "none",
        "place": [1.0, 2.0, 3.0],
        "amount": 1.0,
        "count": None,
        "seed": 0,
        "parts": [],
        "anything": None,
    }
    assert all(type(value) is float for value in canonical({"name": "A", "place": [1, 2, 3]})["place"])


@pytest.mark.proves("EXEC-PHASE-02")
def test_text_is_trimmed_and_names_are_not() -> None:
    args = canonical({"name": "  A \u00a0", "note": " \t x y\n", "parts": [{"label": " p "}]})
    assert (args["name"], args["note"], args["parts"][0]["label"]) == ("  A \u00a0", "x y", "p")


def test_the_document_of_the_caller_stays_as_it_is() -> None:
    raw = {"name": "A", "note": " x ", "parts": [{"label": " p "}]}
    before = copy.deepcopy(raw)
    canonical(raw)
    assert raw == before


finite = st.floats(-1e9, 1e9)
letters = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=40)
documents = st.fixed_dictionaries(
    {"name": letters},
    optional={
        "note": st.text(st.characters(blacklist_categories=["Cs"])),
        "place": st.lists(finite | st.integers(-(10**9), 10**9), min_size=3, max_size=3),
        "amount": st.floats(min_value=0.0, exclude_min=True, allow_infinity=False),
        "count": st.none() | st.integers(-(2**53) + 1, 2**53 - 1),
        "parts": st.lists(st.fixed_dictionaries({"label": letters, "weight": st.floats(0.0, 1.0)}), max_size=4),
    },
)


@given(documents)
def test_the_canonical_form_is_its_own_canonical_form(raw: dict[str, Any]) -> None:
    once = canonical(raw)
    assert canonical(once) == once


def test_every_example_of_the_catalogue_has_a_canonical_form_that_is_its_own() -> None:
    for tool in catalog.tools().values():
        for example in tool.examples:
            once, findings, _ = validate_arguments(tool, dict(example.args))
            assert not findings, (tool.name, findings)
            assert validate_arguments(tool, once)[:2] == (once, ()), tool.name


def test_an_unknown_field_gets_its_pointer_and_the_word_that_was_meant() -> None:
    found = refused({"name": "A", "amuont": 1.0})
    assert found["/amuont"].cure == "Did you mean 'amount'?"
    found = refused({"name": "A", "zebra": 1.0})
    assert "Leave it out" in (found["/zebra"].cure or "") and "place" in (found["/zebra"].cure or "")


def test_an_unknown_field_of_a_nested_object_is_compared_with_the_fields_there() -> None:
    found = refused({"name": "A", "parts": [{"label": "p"}, {"label": "q", "wieght": 0.1}]})
    assert found["/parts/1/wieght"].cure == "Did you mean 'weight'?"


def test_a_pointer_to_a_strange_key_is_escaped() -> None:
    assert set(refused({"name": "A", "a/b~c": 1})) == {"/a~1b~0c"}


def test_a_missing_field_is_named() -> None:
    found = refused({})
    assert (found[""].message, found[""].cure) == ("'name' is missing", "Add 'name'.")


@pytest.mark.proves("EXEC-PHASE-01")
def test_all_problems_come_at_once() -> None:
    found = refused({"place": [0, 0], "amount": -1, "note": 5, "seed": -1})
    assert set(found) == {"", "/place", "/amount", "/note", "/seed"}
    assert "Where." in (found["/place"].cure or "")


def test_a_wrong_choice_gets_the_one_that_was_meant_or_all_of_them() -> None:
    tool = catalog.tools()["mesh.create_primitive"]
    _, (near,), _ = validate_arguments(tool, {"kind": "cueb", "name": "A"})
    assert (near.pointer, near.cure) == ("/kind", "Did you mean 'cube'?")
    _, (far,), _ = validate_arguments(tool, {"kind": "zzz", "name": "A"})
    assert "One of: cube, plane" in (far.cure or "")


@pytest.mark.parametrize("value", ["1", True, None, [1.0], {}], ids=repr)
def test_nothing_is_converted_into_a_number(value: Any) -> None:
    assert set(refused({"name": "A", "amount": value})) == {"/amount"}


@pytest.mark.parametrize("value", [1, 1.0, True, None, ["A"]], ids=repr)
def test_nothing_is_converted_into_text(value: Any) -> None:
    assert set(refused({"name": value})) == {"/name"}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf], ids=str)
@pytest.mark.parametrize("where", ["amount", "place", "count", "anything", "deep"])
def test_what_is_not_finite_is_refused_wherever_it_stands(value: float, where: str) -> None:
    raw: dict[str, tuple[dict[str, Any], str]] = {
        "amount": ({"amount": value}, "/amount"),
        "place": ({"place": [0.0, value, 0.0]}, "/place/1"),
        "count": ({"count": value}, "/count"),
        "anything": ({"anything": {"x": [value]}}, "/anything/x/0"),
        "deep": ({"parts": [{"label": "p", "weight": value}]}, "/parts/0/weight"),
    }
    document, pointer = raw[where]
    assert "finite" in refused({"name": "A", **document})[pointer].message


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("power", [20, 309, 400, 5000])
def test_huge_integers_are_refused_wherever_they_stand(sign: int, power: int) -> None:
    huge = sign * 10**power
    for document, pointer in (
        ({"amount": huge}, "/amount"),
        ({"count": huge}, "/count"),
        ({"name": huge}, "/name"),
        ({"place": [0.0, 0.0, huge]}, "/place/2"),
        ({"anything": [[{"x": huge}]]}, "/anything/0/0/x"),
        ({"parts": [{"label": huge}]}, "/parts/0/label"),
    ):
        assert pointer in refused({"name": "A", **document})


@pytest.mark.parametrize("depth", [70, 300, 100_000])
@pytest.mark.parametrize("field", ["place", "anything", "parts", "unknown"])
def test_deep_nesting_is_refused_and_overflows_nothing(depth: int, field: str) -> None:
    assert any("nested deeper" in finding.message for finding in refused({"name": "A", field: nested(depth)}).values())
    assert refused(nested(depth))


def test_a_document_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert refused({"name": "A", "anything": endless})


def test_lone_surrogates_are_refused_in_values_and_in_keys() -> None:
    for document, pointer in (
        ({"name": "\ud800"}, "/name"),
        ({"name": "A", "note": "x\udfff"}, "/note"),
        ({"name": "A", "anything": ["\ud800"]}, "/anything/0"),
        ({"name": "A", "\ud800": 1}, ""),
        ({"name": "A", "anything": {"\ud800": 1}}, "/anything"),
    ):
        found = refused(document)
        assert set(found) == {pointer}
        found[pointer].message.encode()


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), {1: 2}, 1j], ids=lambda value: type(value).__name__)
def test_what_is_no_json_is_refused(value: Any) -> None:
    assert len(refused({"name": "A", "anything": value})) == 1
    assert refused(value)


@pytest.mark.parametrize("raw", [None, [], "text", 5, 1.5, True], ids=repr)
def test_arguments_are_an_object(raw: Any) -> None:
    assert set(refused(raw)) == {""}


def test_a_name_is_counted_in_bytes() -> None:
    assert canonical({"name": "ü" * 127})["name"] == "ü" * 127
    assert "255 bytes" in refused({"name": "ü" * 128})["/name"].message
    assert refused({"name": "x" * 256})
    assert refused({"name": ""})


@pytest.mark.parametrize("char", ["\n", "\x00", "\x1f", "\x7f"], ids=ascii)
def test_a_name_has_no_control_characters(char: str) -> None:
    assert "control" in refused({"name": f"a{char}b"})["/name"].message


def test_a_hostile_document_gets_a_bounded_answer() -> None:
    found = validate_arguments(TOOL, {"name": "A", "parts": [{"label": 1}] * 5000})[1]
    assert len(found) <= 101
    found = non_interoperable_values({"name": "A", "anything": [math.nan] * 5000})
    assert len(found) <= 100
    (only,) = validate_arguments(TOOL, {"name": "A", "note": ["x" * 1_000_000]})[1]
    assert len(only.message) < 200


@pytest.mark.parametrize(
    ("field", "value", "meant"), [("count", 8.0, 8), ("seed", 3.0, 3), ("count", 1e3, 1000), ("count", -2.0, -2)]
)
def test_a_whole_number_is_an_integer_however_it_is_written(field: str, value: float, meant: int) -> None:
    raw = {"name": "A", field: value}
    written, findings, _ = validate_arguments(AllKinds(), raw)
    assert not findings
    assert written == validate_arguments(AllKinds(), {"name": "A", field: meant})[0]
    assert type(written[field]) is int and type(raw[field]) is float


def test_a_number_that_is_not_whole_is_no_integer() -> None:
    (finding,) = validate_arguments(AllKinds(), {"name": "A", "count": 8.5})[1]
    assert finding.pointer == "/count"
