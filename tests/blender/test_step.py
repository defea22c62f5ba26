"""One step in this process: the order of its parts, the proof of every revert, and promises that were broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from blendwright.blender.step import MAX_TOMBSTONES, Stepper
from blendwright.tools.catalog import tools
from blendwright.wire.methods import StepAnswer, StepRequest
from support.engine.trial_tools import TOOLS

if TYPE_CHECKING:
    from support.stage.stage import Stage


class Trial:
    """Steps of the trial tools on a stage that has one object."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        known = tools().with_others(TOOLS)
        self._stepper = Stepper(stage.state, known, stage.scratch)
        stage.do("object.create_empty", {"name": "Anchor"})

    def run(self, how: str, *, tool: str = "trial.misbehave", **options: Any) -> StepAnswer:
        request = {"tool": tool, "version": 1, "args": {"how": how, "name": "Trial"}, **options}
        return self._stepper.run(cast("StepRequest", request))

    def full(self) -> str:
        return self.stage.state.full_root()


@pytest.fixture
def trial(stage: Stage) -> Trial:
    return Trial(stage)


def test_a_step_that_is_kept_has_its_result_changes_hashes_and_times(trial: Trial) -> None:
    before = trial.full()
    answer = trial.run("nothing", cross_check=True)
    assert (answer["ok"], answer["fault"], answer["reverted_by"]) == (True, None, None)
    assert answer["before"] == before != answer["after"] == trial.full()
    assert answer["result"] == {}
    assert answer["changes"] == [["member", "scene:Scene", "Trial", "created"], ["objects", "Trial", "created"]]
    for phase in ("plan_ms", "execute_ms", "verify_ms"):
        assert answer[phase] is not None


def test_what_check_finds_keeps_apply_from_running(trial: Trial) -> None:
    assert trial.run("nothing")["ok"]
    before = trial.full()
    answer = trial.run("raise")
    assert answer["fault"] == "SCENE_CONFLICT"
    assert (answer["execute_ms"], answer["verify_ms"], answer["reverted_by"]) == (None, None, None)
    assert answer["findings"][0]["pointer"] == "/name"
    assert trial.full() == before


@pytest.mark.proves("EXEC-PHASE-07")
@pytest.mark.parametrize(
    ("how", "fault"),
    [
        ("raise", "EXECUTION_FAILED"),
        ("fail", "SCENE_CONFLICT"),
        ("unverified", "VERIFICATION_FAILED"),
        ("undeclared", "INTERNAL_ERROR"),
    ],
)
def test_a_step_that_fails_is_taken_back_and_the_hash_proves_it(trial: Trial, how: str, fault: str) -> None:
    before = trial.full()
    answer = trial.run(how)
    assert (answer["ok"], answer["fault"], answer["reverted_by"]) == (False, fault, "inverse")
    assert answer["before"] == answer["after"] == before == trial.full()
    assert answer["result"] is None and answer["artifacts"] == []
    assert "Traceback" not in answer["message"] and "\n" not in answer["message"]
    assert trial.run("nothing")["ok"], "the name is free again"


def test_a_read_only_tool_that_writes_is_taken_back(trial: Trial) -> None:
    before = trial.full()
    answer = trial.run("undeclared", tool="trial.peek")
    assert (answer["fault"], answer["reverted_by"]) == ("INTERNAL_ERROR", "inverse")
    assert "read-only" in answer["message"]
    assert trial.full() == before


def test_a_read_only_tool_verifies_only_when_asked(trial: Trial) -> None:
    assert trial.run("unverified", tool="trial.peek")["ok"]
    assert trial.run("unverified", tool="trial.peek", verify=True)["fault"] == "VERIFICATION_FAILED"


def test_a_write_that_nobody_recorded_is_caught_by_the_cross_check(trial: Trial) -> None:
    before = trial.full()
    answer = trial.run("unrecorded", cross_check=True)
    assert answer["fault"] == "INTERNAL_ERROR"
    assert "did not report" in answer["message"]
    # The inverses know nothing of that write, and the incremental hash would not see that it is still there.
    assert answer["reverted_by"] == "failed"
    assert trial.full() != before


def test_a_revert_that_leaves_another_hash_is_a_failed_one(trial: Trial) -> None:
    answer = trial.run("irreversible")
    assert (answer["fault"], answer["reverted_by"]) == ("EXECUTION_FAILED", "failed")
    assert answer["after"] != answer["before"]


@pytest.mark.parametrize("way", ["inverse", "memfile"])
def test_a_rehearsal_gives_the_result_and_takes_it_back(trial: Trial, way: str) -> None:
    before = trial.full()
    answer = trial.run("nothing", rehearse=way)
    assert (answer["ok"], answer["reverted_by"], answer["result"]) == (True, way, {})
    assert ["objects", "Trial", "created"] in answer["changes"]
    assert answer["after"] == before == trial.full()
    assert trial.run("nothing")["ok"], "the name is free again"


def test_blenders_own_undo_takes_back_what_nobody_recorded(trial: Trial) -> None:
    before = trial.full()
    answer = trial.run("unrecorded", rehearse="memfile")
    assert (answer["ok"], answer["reverted_by"]) == (True, "memfile")
    assert ["objects", "Anchor", "changed"] in answer["changes"]
    assert trial.full() == before


def test_soft_deleted_datablocks_do_not_pile_up_without_end(stage: Stage) -> None:
    for number in range(MAX_TOMBSTONES // 2 + 2):
        stage.call("mesh.create_primitive", {"kind": "plane", "name": f"P{number}"}, cross_check=False)
        stage.call("object.delete", {"name": f"P{number}"}, cross_check=False)
        assert stage.state.tombstone_count <= MAX_TOMBSTONES + 2
    assert stage.state.root() == stage.state.full_root()
