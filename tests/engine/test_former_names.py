"""Arguments that were renamed or came later: plans and journals from before mean what they meant."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.engine.invocation import operation_key
from blendwright.plan.validate import ValidPlan
from blendwright.tool_api.arguments import former_names
from blendwright.tools.catalog import tools
from support.plans.documents import box, checked, of_operations

OLD_CUBE = {
    "kind": "cube", "name": "Box", "location": [0.0, 0.0, 0.0], "rotation_euler_deg": [0.0, 0.0, 0.0], "scale": [1.0, 1.0, 1.0],
    "collection": None, "size": 2.0, "radius": 1.0, "radius_top": 0.0, "tube_radius": 0.25, "depth": 2.0, "segments": 32, "rings": 16,
    "subdivisions": 2, "cells": 10, "fill": True,
}  # fmt: skip
OLD_MOVE = {
    "name": "Box", "mode": "set", "location": [1.0, 2.0, 3.0], "rotation_euler_deg": None, "rotation_quaternion": None, "scale": None,
}  # fmt: skip
OLD_LOOK = {"name": "Box"}


def operation(id: str, tool: str, *waits_for: str, level: str = "safe_write", **args: Any) -> dict[str, Any]:
    return box(id, *waits_for, tool_name=tool, args=args, safety_level=level)


def plan(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"request_id": "then", "operations": list(operations)}


def test_a_former_name_is_the_same_call_and_is_told_once() -> None:
    former = checked(
        of_operations(
            operation("a", "object.transform", name="Box", scale=[1, 1, 2]),
            operation("b", "object.transform", name="Lid", scale=[1, 1, 2]),
        )
    )
    now = checked(
        of_operations(
            operation("a", "object.transform", object="Box", scale=[1, 1, 2]),
            operation("b", "object.transform", object="Lid", scale=[1, 1, 2]),
        )
    )
    assert isinstance(former, ValidPlan) and isinstance(now, ValidPlan)
    assert former.content == now.content
    assert [dict(one.args) for one in former.order] == [dict(one.args) for one in now.order]


def test_findings_name_the_argument_as_the_plan_has_it() -> None:
    findings = checked(of_operations(operation("a", "object.transform", name="")))
    assert isinstance(findings, tuple) and [one.pointer for one in findings] == ["/operations/0/args/name"]


def test_an_argument_under_both_names_is_refused() -> None:
    findings = checked(of_operations(operation("a", "object.transform", name="Box", object="Lid")))
    assert isinstance(findings, tuple) and [one.pointer for one in findings] == ["/operations/0/args/name"]


def test_objects_are_called_object_wherever_a_tool_works_on_one() -> None:
    """What is new has a `name`, and so have things that are no objects; what is there is `object`, several are `objects`."""
    former = {word for tool in tools().values() for word in former_names(tool.args_model)} - {"name"}
    assert former == {"child", "source", "targets", "object_name", "modifier_name"}
    for name, tool in tools().items():
        properties = tool.args_schema().get("properties", {})
        assert not former & properties.keys(), name
        if name.startswith(("object.", "camera.", "light.")) and "name" in properties:
            assert "new object" in properties["name"]["description"], name


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose journal has the arguments and keys of a program from before."""
    place = tmp_path_factory.mktemp("former") / "workspace"
    with blendwright.open(place) as scene:
        report = scene.run(
            plan(
                operation("cube", "mesh.create_primitive", kind="cube", name="Box"),
                operation("move", "object.transform", "cube", name="Box", location=[1, 2, 3]),
                operation("read", "object.inspect", "move", level="read_only", name="Box"),
            )
        )
        assert report.ok, report.to_json()
        assert report.notes == (
            "object.transform: 'name' is now called 'object'; the former name still works",
            "object.inspect: 'name' is now called 'object'; the former name still works",
        )
        assert dict(scene.journal.show(report.operations[1].commit or 0).args)["object"] == "Box"
    with contextlib.closing(sqlite3.connect(place / "journal.db")) as journal, journal:
        guards = journal.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            journal.execute(f"DROP TRIGGER {name}")
        for table, id, args in (
            ("commits", "cube", OLD_CUBE),
            ("commits", "move", OLD_MOVE),
            ("readings", "read", OLD_LOOK),
        ):
            values = (json.dumps(args), operation_key("then", id, args), id)
            changed = journal.execute(f"UPDATE {table} SET args = ?, operation_key = ? WHERE operation_id = ?", values)
            assert changed.rowcount == 1
        for _, guard in guards:
            journal.execute(guard)
    return place


def test_what_was_run_under_former_names_is_redone_and_not_done_again(workspace: Path) -> None:
    with blendwright.open(workspace) as scene:  # which redoes the commits, and compares the hashes
        head = scene.journal.head
        for word in ("name", "object"):
            report = scene.run(
                plan(
                    operation("cube", "mesh.create_primitive", kind="cube", name="Box"),
                    operation("move", "object.transform", "cube", location=[1, 2, 3], **{word: "Box"}),
                    operation("read", "object.inspect", "move", level="read_only", **{word: "Box"}),
                )
            )
            assert [one.status for one in report.operations] == ["skipped_idempotent"] * 3, report.to_json()
            assert scene.journal.head == head
        report = scene.run(plan(operation("move", "object.transform", object="Box", location=[1, 2, 4])))
        assert "IDEMPOTENCY_CONFLICT" in [finding.fault.value for finding in report.all_findings()]


def test_a_call_under_a_former_name_is_told_so(workspace: Path) -> None:
    with blendwright.open(workspace) as scene:
        assert scene.outcome("object.inspect", {"name": "Box"}).notes
        assert not scene.outcome("object.inspect", {"object": "Box"}).notes
        outcome = scene.outcome("object.inspect", {"name": "Gone"})
        assert [finding.pointer for finding in outcome.findings] == ["/name"]
