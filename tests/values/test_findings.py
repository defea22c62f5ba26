"""Findings, pointers and suggestions."""

from __future__ import annotations

import pytest

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean, pointer_of


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ((), ""),
        (("a",), "/a"),
        (("a", 0, "b"), "/a/0/b"),
        (("a/b", "c~d"), "/a~1b/c~0d"),
        (("~1",), "/~01"),
        (("",), "/"),
    ],
)
def test_a_pointer_is_escaped_as_rfc_6901_says(path: tuple[str | int, ...], pointer: str) -> None:
    assert pointer_of(path) == pointer


def test_a_finding_survives_the_wire_and_moves_under_another_document() -> None:
    finding = Finding(Fault.TARGET_NOT_FOUND, "not there", "/name", "Create it.")
    assert Finding.from_json(finding.to_json()) == finding
    assert finding.to_json() == {
        "code": "TARGET_NOT_FOUND",
        "pointer": "/name",
        "message": "not there",
        "cure": "Create it.",
    }
    moved = finding.under("/operations/3/args")
    assert (moved.pointer, moved.message, moved.cure) == ("/operations/3/args/name", "not there", "Create it.")


def test_near_words_are_suggested_in_their_own_spelling_nearest_first() -> None:
    assert did_you_mean("cueb", ["Cube", "plane"], otherwise="-") == "Did you mean 'Cube'?"
    assert did_you_mean("BOX.002", ["Box.001", "Box.00", "Lamp"], otherwise="-").startswith("Did you mean 'Box.00")
    assert " or " in did_you_mean("Box.002", ["Box.001", "Box.003"], otherwise="-")


def test_nothing_near_says_what_else_to_do() -> None:
    assert did_you_mean("zebra", ["Cube", "Plane"], otherwise="List them.") == "List them."
    assert did_you_mean("zebra", [], otherwise="List them.") == "List them."
