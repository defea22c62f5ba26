"""Programs on a real Blender: by the Python API and the command line, with the same scene as their plans, journalled, findings in lines."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import pytest

import blendwright
from blendwright.values.faults import Fault
from blendwright.views.queries import request_history
from support.processes.shell import Shell

EXAMPLES = Path(__file__).parents[2] / "examples"
BOXES = """\
count = param("count", 2)
for i in range(count):
    box = mesh.create_primitive(kind = "cube", name = "Box_%d" % i,
                                location = [2 * i, 0, 0])
object.rename(name = box, new_name = "Last")
print("made", count)
"""
CLASHING = 'a = object.create_empty(name = "Clash")\n\ndef again():\n    return mesh.create_primitive(kind = "cube", name = a)\n\nagain()\n'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def scene(place: Path) -> Generator[blendwright.OpenScene]:
    with blendwright.open(place / "api", spare=False) as opened:
        yield opened


def test_a_program_runs_like_any_plan_and_is_in_the_journal_with_its_parameters(
    scene: blendwright.OpenScene, place: Path
) -> None:
    document = {"program": BOXES, "params": {"count": 3}}
    report = scene.run(document)
    assert report.ok and [one.operation_id for one in report.operations][-1] == "00004_L5"
    assert report.remarks == {"printed": "made 3"} and report.boundary == "plan"
    again = scene.run(document)
    assert {one.status for one in again.operations} == {"skipped_idempotent"}
    (program,) = scene.journal.programs.of_request(report.request_id)
    assert (program.program, program.params, program.hash) == (BOXES, {"count": 3}, report.request_id)
    history = request_history(place / "api", report.request_id).to_json()
    assert len(history["programs"]) == 1 and len(history["commits"]) == 4


def test_what_fails_in_blender_points_into_the_program_and_leaves_nothing(scene: blendwright.OpenScene) -> None:
    before = scene.hash
    report = scene.run({"program": CLASHING, "name": "clash.star"})
    finding, *_ = report.all_findings()
    assert (finding.fault, finding.place) == (Fault.SCENE_CONFLICT, "clash.star:4:49")
    assert finding.message.endswith(", called from clash.star:6")
    assert report.status == "rolled_back" and scene.hash == before, "it can be corrected and run again as it is"


def test_a_program_that_is_refused_is_not_run_and_has_a_report(scene: blendwright.OpenScene) -> None:
    before = scene.hash
    report = scene.run({"program": "object.delete(name = 'A')\nx = 1 / 0"})
    assert report.status == "refused" and [one.place for one in report.findings] == ["program:2:5"]
    assert scene.hash == before


def test_an_example_makes_the_very_scene_of_its_plan(place: Path) -> None:
    plan = json.loads((EXAMPLES / "plans" / "spiral_staircase.json").read_text())
    program = {"program": (EXAMPLES / "programs" / "spiral_staircase.star").read_text()}
    hashes: list[str] = []
    for name, document in (("plan", plan), ("program", program)):
        with blendwright.open(place / name, spare=False) as opened:
            report = opened.run(document)
            assert report.ok, list(report.all_findings())
            hashes.append(opened.hash)
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize("path", sorted((EXAMPLES / "programs").glob("*.star")), ids=lambda path: path.stem)
def test_every_example_is_valid_and_is_told_of(path: Path, place: Path) -> None:
    done = Shell(place)("validate", str(path), "--json", code=0)
    assert done.document["dialect"] == "program" and done.document["operations"] > 20
    assert f"`programs/{path.name}`" in (EXAMPLES / "README.md").read_text()


def test_the_commands_take_programs_with_parameters(place: Path) -> None:
    shell = Shell(place)
    (place / "boxes.star").write_text(BOXES)
    checked = shell("validate", "boxes.star", "--set", "count=5", "--yielded", "plan.json", "--json", code=0)
    assert (checked.document["operations"], checked.document["printed"]) == (6, "made 5")
    yielded = json.loads((place / "plan.json").read_text())
    assert yielded["operations"][5]["depends_on"] == ["00005_L3"]
    by_plan = shell("preview", "plan.json", "--workspace", "new", "--json", code=0).document["report"]
    by_program = shell("preview", "boxes.star", "--set", "count=5", "--workspace", "new", "--json", code=0)
    assert by_program.document["report"]["scene_hash_after"] == by_plan["scene_hash_after"]
    assert "made 5" in by_program.err
    done = shell("run", "boxes.star", "--set", "count=1", "--workspace", "ran", "--json", code=0)
    assert done.document["dialect"] == "program" and done.document["result"]["status"] == "succeeded"
    told = shell("log", "--request", done.document["report"]["request_id"], "--workspace", "ran", code=0).out
    assert "count=1" in told and 'param("count", 2)' in told


def test_the_command_line_refuses_with_lines_and_says_the_cure(place: Path) -> None:
    shell = Shell(place)
    (place / "boxes.star").write_text(BOXES)
    (place / "wrong.star").write_text("x = 1\nwhile x:\n    pass\n")
    (place / "late.star").write_text(BOXES.replace("location = [2 * i, 0, 0]", "location = [2 * i, 0]"))
    for arguments, says in (
        (["wrong.star"], "wrong.star:2:1"),
        (["late.star"], "late.star:4:33"),
        (["boxes.star", "--set", "cuont=3"], "Did you mean 'count'?"),
        (["boxes.star", "--set", "count=many"], "a whole number"),
        (["boxes.star", "--set", "count"], "--set NAME=VALUE"),
        (["boxes.star", "--set", "count=1", "--set", "count=2"], "set twice"),
    ):
        for command in ("run", "preview", "validate"):
            ran = shell(command, *arguments, "--workspace", "none", code=2)
            assert says in " ".join((ran.out + ran.err).split()), (command, arguments, ran)
    failure = shell("run", "wrong.star", "--workspace", "none", "--json", code=2).document
    assert failure["dialect"] == "program" and failure["result"]["error_code"] == "SCHEMA_INVALID"
    assert failure["result"]["retry_hint"].startswith("wrong.star:2:1: ")
    (place / "plan.json").write_text("{}")
    plain = shell("run", "plan.json", "--set", "count=1", "--workspace", "none", code=2)
    assert "only programs have parameters" in plain.err
    shell("run", "wrong.star", "--workspace", "never", code=2)
    assert not (place / "never").exists()
