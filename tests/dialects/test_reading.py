"""Strict JSON, and recognising what a document is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from blendwright.dialects.registry import recognise
from blendwright.schemas import json_reader
from blendwright.schemas.json_reader import non_interoperable_values, read_json
from blendwright.values.findings import Finding


@pytest.mark.proves("OPS-SCHEMA-04")
@pytest.mark.parametrize(
    ("text", "pointer", "said"),
    [
        (b"", "", "not JSON"),
        (b"{", "", "not JSON"),
        (b"{} and more", "", "after document"),
        (b'{"a": 1}{"a": 1}', "", "after document"),
        (b'{"a": NaN}', "", "not JSON"),
        (b"[Infinity]", "", "not JSON"),
        (b"[-Infinity]", "", "not JSON"),
        (b"[0, 1e999]", "/1", "finite"),
        (b'"\xff"', "", "UTF-8"),
        (b'"\\ud800"', "", "surrogate"),
        (b"\xef\xbb\xbf{}", "", "BOM"),
        (b"[" * 100_000, "", "deeper"),
        (b"[" * 900 + b"]" * 900, "/0" * 64, "deeper"),
        (b'{"a": ' * 2000 + b"1" + b"}" * 2000, "", "deeper"),
        (b'{"a": {"b/c": 1, "b/c": 2}}', "/a/b~1c", "more than once"),
        (b'[{"a": 1, "a": 1, "b": 2, "b": 3}]', "/0/a", "more than once"),
        (b'{"a": {"b": 1, "b": 2}, "a": 5}', "/a", "more than once"),
        (b'{"a:b": 1, "a:b": "\\u003a"}', "/a:b", "more than once"),
        (b'{"a": ":::", "a": "\\u003A\\u003a\\u003a\\u003a"}', "/a", "more than once"),
        (b'[1e30, {"a": 1, "a": 1e30}]', "/1/a", "more than once"),
        (b"[9007199254740993]", "/0", "exactly"),
        (b"[-9223372036854775809, 1e30]", "/0", "exactly"),
        (b'{"n": 123456789012345678901234567890}', "/n", "64 bits"),
        (b"[" + b"9" * 5000 + b"]", "", ""),
    ],
)
def test_what_has_no_single_meaning_is_a_finding(text: bytes, pointer: str, said: str) -> None:
    document, findings = read_json(text)
    assert document is None
    assert findings[0].pointer == pointer and said in findings[0].message and findings[0].cure


def test_a_document_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_reader, "LARGEST", 10)
    assert "more than" in read_json(b"[1, 2, 3, 4, 5]")[1][0].message


PROPER: list[Any] = [
    {"a": [1, -2.5, True, None, "é", {}]},
    [],
    "x",
    9007199254740991,
    "\U0001f600",
    {"a:b": ":", ":": {"é:": 1e30}, "": "\\u003a: \x1f"},
]


@pytest.mark.parametrize("document", PROPER)
def test_proper_json_is_read_as_it_is(document: Any) -> None:
    assert read_json(json.dumps(document).encode()) == (document, ())
    assert non_interoperable_values(document) == ()


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"a": float("nan")}, "/a"),
        ([{"a": {1, 2}}], "/0/a"),
        ({1: 2}, ""),
        (["\ud800"], "/0"),
        ({"\ud800": 1}, ""),
        ([2**53], "/0"),
        ([-(2**70)], "/0"),
        (object(), ""),
    ],
)
def test_what_only_python_can_hold_is_found_where_it_is(document: Any, pointer: str) -> None:
    assert [finding.pointer for finding in non_interoperable_values(document)] == [pointer]


@pytest.mark.parametrize(
    ("document", "dialect"),
    [
        ({"operations": 5, "steps": []}, "operations"),
        ({"steps": []}, "steps"),
        ({"version": "1", "steps": [], "done": False}, "geonodes"),
        ({"version": "1", "steps": []}, "geonodes"),
        ({"steps": [], "meta": {}}, "geonodes"),
    ],
)
def test_a_dialect_is_recognised_from_its_shape(document: Any, dialect: str) -> None:
    recognised = recognise(document)
    assert not isinstance(recognised, Finding) and recognised.name == dialect


@pytest.mark.parametrize("document", [None, [], "operations", {"ops": []}, {}])
def test_of_anything_else_it_is_said_what_was_expected(document: Any) -> None:
    found = recognise(document)
    assert isinstance(found, Finding) and "'operations'" in str(found.cure) and "'steps'" in str(found.cure)
