"""Published schemas keep their word: each is compared with what was published last, and a breaking change needs a new version."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from blendwright.schemas import published
from support.suite.schema_changes import Side, breaking

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "tests" / "golden" / "published"
NOTES = (ROOT / "docs" / "versioning.md").read_text()

# Who writes documents of a schema: others for us, or we for others.
SIDES: dict[str, Side] = {
    "annotations": "read",
    "batch": "written",
    "failure_payload": "read",
    "geonodes_gates": "read",
    "geonodes_plan": "written",
    "geonodes_result": "read",
    "macro": "written",
    "negotiation": "written",
    "operations_result": "read",
    "planner_operations": "written",
    "policy": "written",
    "program_plan": "written",
    "receipt": "read",
    "run_report": "read",
    "scene_snapshot": "read",
    "session_contract": "read",
    "steps_payload": "written",
    "steps_result": "read",
}


def base(name: str) -> str:
    return name.rpartition(".v")[0]


def version(name: str) -> int:
    return int(name.rpartition(".v")[2])


def was_published() -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text()) for path in sorted(PUBLISHED.glob("*.json"))}


@pytest.mark.parametrize("name", published.names())
def test_every_schema_is_sound_carries_its_version_and_is_kept_as_published(name: str) -> None:
    schema = published.schema(name)
    jsonschema_rs.meta.validate(schema)
    assert re.fullmatch(r"[a-z_]+\.v[1-9][0-9]*", name)
    assert re.search(rf"\.v{version(name)}(\.json)?$", schema["$id"])
    assert base(name) in SIDES, f"say in SIDES who writes documents of {base(name)}: others for us, or we for others"
    assert name in was_published(), f"copy src/blendwright/schemas/{name}.json to tests/golden/published"


@pytest.mark.parametrize("name", was_published())
def test_no_schema_breaks_what_was_published_under_its_version(name: str) -> None:
    if name not in published.names():
        newer = [one for one in published.names() if base(one) == base(name) and version(one) > version(name)]
        assert newer, f"{name} was published and is gone, without a newer version"
        return
    changes = breaking(was_published()[name], published.schema(name), SIDES[base(name)])
    assert not changes, f"publish this as {base(name)}.v{version(name) + 1}, with a migration note: {changes}"


@pytest.mark.proves("OPS-VERSION-02")
@pytest.mark.parametrize("name", [name for name in published.names() if version(name) > 1])
def test_every_newer_version_has_a_migration_note(name: str) -> None:
    assert f"### {name}" in NOTES, f"docs/versioning.md says nothing about the way to {name}"


OLD: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["a"],
    "properties": {
        "a": {"type": "string", "maxLength": 10},
        "b": {"enum": ["x", "y"], "default": "x"},
        "c": {"type": "array", "items": {"$ref": "#/$defs/n"}},
        "d": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "$defs": {"n": {"type": ["integer", "null"], "minimum": 0}},
}


def changed(path: str, value: Any) -> dict[str, Any]:
    new = copy.deepcopy(OLD)
    *way, last = path.split("/")
    place = new
    for part in way:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return new


@pytest.mark.parametrize(
    ("path", "value", "sides"),
    [
        ("required", ["a", "b"], {"written"}),
        ("required", [], {"read"}),
        ("properties/a", None, {"written", "read"}),
        ("properties/e", {"type": "string"}, set[str]()),
        ("properties/a/maxLength", 5, {"written"}),
        ("properties/a/maxLength", 20, {"read"}),
        ("properties/a/type", ["string", "null"], {"read"}),
        ("properties/a/type", "integer", {"written", "read"}),
        ("properties/a/pattern", "^a", {"written", "read"}),
        ("properties/a/description", "Words.", set[str]()),
        ("properties/b/enum", ["x"], {"written"}),
        ("properties/b/enum", ["x", "y", "z"], {"read"}),
        ("properties/b/default", "y", {"written"}),
        ("$defs/n/minimum", 1, {"written"}),
        ("$defs/n/type", ["number", "null"], {"read"}),
        ("properties/d/anyOf", [{"type": "string"}], {"written"}),
        ("properties/d/anyOf", [{"type": "string"}, {"type": "null"}, {"type": "integer"}], {"read"}),
        ("additionalProperties", True, set[str]()),
    ],
)
def test_what_breaks_readers_and_what_breaks_writers_is_told_apart(path: str, value: Any, sides: set[str]) -> None:
    new = changed(path, value)
    found: tuple[Side, ...] = ("written", "read")
    assert {side for side in found if breaking(OLD, new, side)} == sides
    assert not breaking(OLD, copy.deepcopy(OLD), "written") and not breaking(OLD, copy.deepcopy(OLD), "read")


def test_a_schema_that_is_opened_can_be_closed_only_with_a_new_version() -> None:
    assert breaking(changed("additionalProperties", True), OLD, "written")
