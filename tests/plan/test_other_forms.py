"""Arguments in another form than a tool's schema has them, whose meaning is clear: other capitals, one number for three, web colours."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.plan.validate import validate_arguments
from blendwright.tools.catalog import tools

BEND = {"type": "SIMPLE_DEFORM", "deform_method": "BEND"}


@pytest.mark.parametrize(
    ("tool", "written", "meant"),
    [
        ("light.create", {"name": "S", "type": "sun"}, {"name": "S", "type": "SUN"}),
        ("mesh.create_primitive", {"name": "B", "kind": "UV Sphere"}, {"name": "B", "kind": "uv_sphere"}),
        (
            "modifier.add",
            {"object": "B", "name": "It", "settings": {"type": "simple-deform", "deform_method": "bend"}},
            {"object": "B", "name": "It", "settings": BEND},
        ),
        ("object.transform", {"object": "B", "scale": 2}, {"object": "B", "scale": [2, 2, 2]}),
        ("object.create_empty", {"name": "E", "scale": 0.5}, {"name": "E", "scale": [0.5, 0.5, 0.5]}),
        (
            "material.ensure_principled",
            {"name": "M", "base_color": "#FF8000"},
            {"name": "M", "base_color": [1.0, 0.215861, 0.0]},
        ),
        ("scene.set_world", {"color": [0.1, 0.2, 0.3, 1]}, {"color": [0.1, 0.2, 0.3]}),
    ],
)
def test_another_form_is_the_same_call(tool: str, written: dict[str, Any], meant: dict[str, Any]) -> None:
    first, second = (validate_arguments(tools()[tool], args) for args in (written, meant))
    assert not first.findings and not second.findings
    assert first.canonical == second.canonical


def test_names_are_taken_to_the_letter() -> None:
    args = validate_arguments(tools()["mesh.create_primitive"], {"name": "Cube", "kind": "CUBE"}).canonical
    assert (args["name"], args["kind"]) == ("Cube", "cube")


def test_a_wrong_choice_is_refused_beside_one_that_is_spelt_otherwise() -> None:
    args = {"name": "S", "type": "sun", "shape": "round"}
    [finding] = validate_arguments(tools()["light.create"], args).findings
    assert finding.pointer == "/shape"


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("object.transform", {"object": "B", "scale": True}),
        ("object.transform", {"object": "B", "scale": [2]}),
        ("object.transform", {"object": "B", "location": 2}),
        ("material.ensure_principled", {"name": "M", "base_color": "#FF80"}),
        ("material.ensure_principled", {"name": "M", "base_color": "red"}),
        ("material.ensure_principled", {"name": "M", "base_color": [0.1, 0.2, 0.3, 0.5]}),
    ],
)
def test_what_has_no_clear_meaning_is_refused_at_its_place(tool: str, args: dict[str, Any]) -> None:
    findings = validate_arguments(tools()[tool], args).findings
    assert findings and all(finding.pointer.startswith("/" + [*args][1]) for finding in findings)
