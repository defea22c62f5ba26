"""The plans under examples/plans do what their README says: each is valid, runs on a real Blender, and the broken one is repaired."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.dialects import operations
from blendwright.dialects.registry import parse_plan
from blendwright.plan.repair import refused
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.session_contract import ContractTerms
from blendwright.tools import catalog
from blendwright.values.report import RunReport

EXAMPLES = Path(__file__).parents[2] / "examples"
PLANS = EXAMPLES / "plans"
BROKEN, REPAIRED = PLANS / "broken" / "broken.json", PLANS / "broken" / "repaired.json"
WHOLE = [*sorted(PLANS.glob("*.json")), REPAIRED]
# It simulates for seconds.
LONG = {"falling_blocks"}


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def by_id(document: Any) -> dict[str, Any]:
    return {operation["operation_id"]: operation for operation in document["operations"]}


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem, marks=pytest.mark.slow if path.stem in LONG else ()) for path in WHOLE]
)
def test_an_example_runs_and_is_what_its_readme_says(path: Path, tmp_path: Path) -> None:
    assert f"`{path.relative_to(EXAMPLES)}`" in (EXAMPLES / "README.md").read_text()
    with blendwright.open(tmp_path / "workspace", spare=False) as scene:
        report = scene.run(read(path))
        assert report.ok, list(report.all_findings())
        assert result(scene, "scene.snapshot", include=["render"])["render"]["camera"] == "Camera"
        if path.stem in PROOFS:
            PROOFS[path.stem](scene, report)


def result(scene: blendwright.OpenScene, tool: str, **args: Any) -> Any:
    called = scene.call(tool, **args)
    assert called.ok, called.message
    return called.result


def closed_and_measured(scene: blendwright.OpenScene, report: RunReport) -> None:
    results = {operation.operation_id: operation.result for operation in report.operations}
    blank, part = results["measure.blank"], results["measure.part"]
    assert blank is not None and part is not None and part["manifold"] is True
    assert part["volume"] > blank["volume"], "the hub adds more than bore, keyway, holes and groove take away"
    assert part["dimensions"] == pytest.approx([0.2, 0.2, 0.08], rel=1e-3)


def turns_once_around(scene: blendwright.OpenScene, report: RunReport) -> None:
    faced: list[float] = []
    for frame in (1, 61, 121):
        result(scene, "animation.set_frame", frame=frame)
        faced.append(result(scene, "object.inspect", name="Body")["matrix_world"][1][1])
    front, back, again = faced
    assert front > 0 and back == pytest.approx(-front, abs=1e-4) and again == pytest.approx(front, abs=1e-4)


def heaped_and_draped(scene: blendwright.OpenScene, report: RunReport) -> None:
    results = {operation.operation_id: operation.result for operation in report.operations}
    fallen, cloth = results["fall"], results["cloth.drape"]
    assert fallen is not None and cloth is not None
    assert len(fallen["actions"]) == 24 and all(body["location"][2] < 1.0 for body in fallen["objects"])
    assert cloth["lowest"] < -0.3 and cloth["stretch"] < 1.5


def cut_by_a_boolean_that_is_proven(scene: blendwright.OpenScene, report: RunReport) -> None:
    [opening] = [operation.result for operation in report.operations if operation.operation_id == "wall.opening"]
    assert opening is not None and opening["proven"] and opening["open_edges"] == 0


PROOFS: dict[str, Callable[[blendwright.OpenScene, RunReport], None]] = {
    "falling_blocks": heaped_and_draped,
    "brick_wall": cut_by_a_boolean_that_is_proven,
    "boolean_part": closed_and_measured,
    "product_turntable": turns_once_around,
}


def test_the_robot_arm_takes_the_crate_from_one_stand_to_the_other(tmp_path: Path) -> None:
    with blendwright.open(tmp_path / "workspace", spare=False) as scene:
        report = scene.run({"program": (EXAMPLES / "programs" / "robot_arm.star").read_text()})
        assert report.ok, list(report.all_findings())

        def place(name: str, frame: int) -> list[float]:
            result(scene, "animation.set_frame", frame=frame)
            return [row[3] for row in result(scene, "object.inspect", object=name)["matrix_world"][:3]]

        first, last = place("Crate", 1), place("Crate", 150)
        assert (first[0] < -0.8, last[0] > 0.8, first[2] == pytest.approx(last[2], abs=1e-3)) == (True, True, True)
        # It hangs below the hand all the way, and is let go of where it stands from then on.
        for frame in (60, 75, 90):
            crate, goal = place("Crate", frame), place("Goal", frame)
            assert crate[:2] == pytest.approx(goal[:2], abs=0.02)
            assert goal[2] - crate[2] == pytest.approx(0.43, abs=0.02)
        assert place("Crate", 109) == pytest.approx(place("Crate", 111), abs=0.01)


def test_both_dialects_are_shown() -> None:
    assert {parse_plan(read(path)).dialect for path in WHOLE} == {"operations", "steps"}


def test_the_repaired_plan_is_the_broken_one_with_its_repair_applied() -> None:
    plan = operations.DIALECT.parse(read(BROKEN))
    findings = validate(plan, catalog.tools(), ContractTerms())
    assert not isinstance(findings, ValidPlan)
    payload = operations.render(refused(plan, findings))
    assert json.dumps(payload, indent=2) in (PLANS / "broken" / "README.md").read_text()

    broken, repaired = by_id(read(BROKEN)), by_id(read(REPAIRED))
    actions = {entry["operation_id"]: entry["action"] for entry in payload["minimal_repair_plan"]}
    dropped = {id for id, action in actions.items() if action == "drop"}
    assert broken.keys() - repaired.keys() == dropped
    needing = {id for id, action in actions.items() if action == "insert_precondition"}
    assert repaired.keys() - broken.keys() == {
        name for id in needing for name in broken[id]["depends_on"] if name not in broken
    }
    replaced = {id for id, action in actions.items() if action == "replace_args"}
    assert {id for id in broken.keys() & repaired.keys() if broken[id]["args"] != repaired[id]["args"]} == replaced
