"""A document against a JSON Schema: exact pointers, cures, and the likeliest branch of a union."""

from __future__ import annotations

from typing import Any

from blendwright.schemas.check import Checker
from blendwright.values.faults import Fault
from blendwright.values.findings import MOST_FINDINGS, Finding

NUMBER = {"type": "number"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["kind"],
    "properties": {
        "kind": {"enum": ["circle", "square"]},
        "size": {"anyOf": [NUMBER, {"type": "null"}]},
        "shape": {
            "oneOf": [
                {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["type", "radius"],
                    "properties": {"type": {"const": "circle"}, "radius": NUMBER},
                },
                {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["type", "width", "height"],
                    "properties": {"type": {"const": "square"}, "width": NUMBER, "height": NUMBER},
                },
            ]
        },
        "points": {"type": "array", "items": {"$ref": "#/$defs/point"}},
    },
    "$defs": {
        "point": {"type": "object", "additionalProperties": False, "properties": {"across": NUMBER, "up": NUMBER}}
    },
}
CHECKER = Checker(SCHEMA, Fault.SCHEMA_INVALID, lambda pointer: f"advice for {pointer}")


def found(document: Any) -> dict[str, Finding]:
    findings = list(CHECKER.findings(document))
    assert all(finding.fault is Fault.SCHEMA_INVALID for finding in findings)
    return {finding.pointer: finding for finding in findings}


def test_a_document_that_fits_has_no_findings() -> None:
    shape = {"type": "circle", "radius": 1}
    assert found({"kind": "circle", "size": None, "shape": shape, "points": [{"up": 1}]}) == {}


def test_where_the_problem_suggests_no_cure_the_adviser_does() -> None:
    findings = found({"kind": "circle", "points": 5})
    assert findings["/points"].cure == "advice for /points"
    assert findings["/points"].message == '5 is not of type "array"'


def test_fields_behind_a_reference_are_known() -> None:
    findings = found({"kind": "circle", "points": [{"up": 1}, {"acros": 1}]})
    assert findings["/points/1/acros"].cure == "Did you mean 'across'?"


def test_of_a_union_the_branch_that_was_meant_is_explained() -> None:
    findings = found({"kind": "square", "shape": {"type": "square", "width": 1, "hight": 2}})
    assert findings["/shape/hight"].cure == "Did you mean 'height'?"
    assert findings["/shape"].cure == "Add 'height'."
    assert set(findings) == {"/shape", "/shape/hight"}


def test_of_a_value_that_may_be_null_the_other_type_is_explained() -> None:
    assert '"number"' in found({"kind": "circle", "size": "big"})["/size"].message


def test_every_problem_is_found_but_not_without_end() -> None:
    findings = found({"kind": "blue", "size": "big", "extra": 1})
    assert set(findings) == {"/kind", "/size", "/extra"}
    many = {"kind": "circle", "points": [5] * (10 * MOST_FINDINGS)}
    assert len(list(CHECKER.findings(many))) == MOST_FINDINGS


def test_a_wrong_value_is_shown_in_short() -> None:
    message = found({"kind": "circle", "points": "x" * 10_000})["/points"].message
    assert len(message) < 120 and "..." in message


def test_a_wrong_constant_is_told_like_a_wrong_choice() -> None:
    checker = Checker({"properties": {"version": {"const": "1.0"}}}, Fault.SCHEMA_INVALID, lambda _: "See elsewhere.")
    (finding,) = checker.findings({"version": "2.0"})
    assert (finding.pointer, finding.message) == ("/version", '"2.0" is not a choice here')
    assert finding.cure == 'Only "1.0" is.'


def respelled(document: Any) -> Any:
    return Checker(SCHEMA, Fault.ARGS_INVALID, lambda _: "").respelled(document)


def test_a_choice_in_other_capitals_is_the_choice_and_the_given_document_stays() -> None:
    document = {"kind": "Circle", "shape": {"type": " SQUARE", "width": 1, "height": 2}, "size": None}
    assert respelled(document) == {"kind": "circle", "shape": {"type": "square", "width": 1, "height": 2}, "size": None}
    assert document["kind"] == "Circle"


def test_what_is_no_choice_or_is_right_is_not_respelled() -> None:
    for document in ({"kind": "circles"}, {"kind": "circle"}, {"kind": 7}, {"kind": "circle", "shape": "CIRCLE"}, "x"):
        assert respelled(document) is None


def test_of_two_choices_that_differ_in_capitals_neither_is_guessed() -> None:
    checker = Checker({"enum": ["a", "A"]}, Fault.ARGS_INVALID, lambda _: "")
    assert checker.respelled("a") is None
    assert Checker({"enum": ["ab", "AB"]}, Fault.ARGS_INVALID, lambda _: "").respelled("Ab") is None
