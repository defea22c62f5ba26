"""Recorded trials: replayed on a real server they still give the scene that was asked for, and the checks know a wrong one."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from bench.trial.bare_blender import BareBlender
from bench.trial.recorder import read_transcript
from bench.trial.trial import HERE, TASKS, bare_blender, check, through_the_server, with_bare_python

# All of them in make test-slow.
BARE = {"brick_arch", "robot_arm"}
# One line each that spoils a scene which was right, and what the check must say of it.
SPOILED = {
    "game_asset": ("bpy.data.objects['Crate'].location.z += 0.1", "the crate does not stand on the ground"),
    "robot_arm": ("bpy.data.objects['Forearm'].parent = None", "Forearm does not hang on UpperArm"),
    "scene_cleanup": ("bpy.data.objects['Table_Top'].scale.x = 1.1", "the scale of Table_Top is not applied"),
    "brick_arch": ("bpy.data.objects['Arch_03'].location.x += 0.5", "Arch_03 is not on the half circle"),
    "parametric_stairs": ("bpy.data.objects['Step_07'].location.z += 0.05", "the top of Step_07 is not at 1.26 m"),
    "reading_corner": ("bpy.data.objects['Armchair'].location.z += 0.1", "the chair floats or stands in the floor"),
}


@pytest.fixture(scope="module")
def blender(tmp_path_factory: pytest.TempPathFactory) -> Generator[BareBlender]:
    with bare_blender(tmp_path_factory.mktemp("bare")) as blender:
        yield blender


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_a_transcript_still_gives_the_scene_and_costs_no_more_than_when_it_was_recorded(
    task: str, tmp_path: Path, blender: BareBlender
) -> None:
    outcome = through_the_server(task, tmp_path, blender)
    assert outcome.wrong == ()
    recorded = read_transcript(HERE / "transcripts" / f"{task}.jsonl")
    assert [call.failed for call in outcome.calls] == [call["failed"] for call in recorded]
    # Paths of the workspace are part of an answer, and are of another length here.
    assert outcome.received <= sum(call["received"] for call in recorded) + 200


@pytest.mark.parametrize("task", [pytest.param(task, marks=() if task in BARE else pytest.mark.slow) for task in TASKS])
def test_bare_code_passes_the_same_checks_and_a_spoiled_scene_does_not(
    task: str, tmp_path: Path, blender: BareBlender
) -> None:
    outcome = with_bare_python(task, tmp_path, blender, look=False)
    assert [call.answer for call in outcome.calls if call.failed] == []
    assert outcome.wrong == ()
    line, complaint = SPOILED[task]
    assert not blender.call(f"import bpy\n{line}").failed
    assert complaint in check(task, blender, tmp_path)


def test_every_task_with_a_transcript_has_its_text() -> None:
    texts = {file.stem for file in (HERE / "tasks").glob("*.txt")}
    assert texts >= set(TASKS) and len(texts) == 6
    assert {file.stem for file in (HERE / "transcripts").glob("*.jsonl")} == set(TASKS)


def test_code_that_ends_a_bare_blender_is_a_failed_call(tmp_path: Path) -> None:
    with bare_blender(tmp_path) as blender:
        ended = blender.call("kept = 1\nraise SystemExit")
        assert ended.failed and ended.answer == "Blender has ended; what was not saved is lost\n"
        again = blender.call("print('kept' in globals())")
        assert not again.failed and again.answer == "False\n"
