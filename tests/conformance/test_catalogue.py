"""Every tool keeps its promises, on every one of its examples."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import jsonschema_rs
import pytest

from blendwright.plan.validate import validate_arguments
from blendwright.tool_api.arguments import file_arguments
from blendwright.tool_api.mentions import Role
from blendwright.tool_api.promises import Idempotence, Revert
from blendwright.tool_api.scene import Kind
from blendwright.values.faults import Fault
from conformance.cases import Case, cases, every_case
from conformance.mentions import NAMED, Block, declared
from support.suite.in_one_test import in_one_test

if TYPE_CHECKING:
    from conformance.play import Play

# Memfile undo is unproven before; tools that need it are rebuilt there.
MEMFILE_MIN = (4, 5, 0)
TESTS = Path(__file__).parents[1]
BY_ID = {case.id: case for case in every_case()}


def needs_memfile() -> None:
    import bpy

    if bpy.app.version < MEMFILE_MIN:
        pytest.skip(f"memfile undo is off in Blender {bpy.app.version_string}")


def here(case: Case) -> Revert:
    """How the case is taken back in the Blender at hand."""
    import bpy

    return case.tool.revert_for(case.parsed, bpy.app.version)


# ---------------------------------------------------------------------- arguments and promises


@in_one_test(BY_ID)
def test_the_arguments_of_an_example_are_valid_and_canonical_after_one_pass(case: Case) -> None:
    once, findings, _ = validate_arguments(case.tool, case.args)
    assert not findings
    twice, findings, _ = validate_arguments(case.tool, once)
    assert not findings
    assert json.dumps(twice) == json.dumps(once), "canonical arguments change when they are checked again"


@in_one_test(BY_ID)
def test_promises_for_given_arguments_are_never_weaker_than_the_declared_ones(case: Case) -> None:
    order = list(Idempotence)
    assert case.determinism.rank <= case.tool.determinism.rank
    assert order.index(case.idempotence) <= order.index(case.tool.idempotence)
    assert case.tool.replayable_for(case.parsed) >= case.tool.replayable


# ---------------------------------------------------------------------- checking


def reads_files(case: Case) -> bool:
    return not {"read", "pictures", "asset", "search", "online"}.isdisjoint(
        file_arguments(case.tool.args_model).values()
    )


@cases(lambda case: bool(case.example.given) and not reads_files(case))
def test_checking_without_what_an_example_needs_finds_rather_than_raises(play: Play, case: Case) -> None:
    empty = play.leaves_of_empty()
    play.begin()
    findings, scene = play.check(case)
    assert all(finding.message and finding.cure for finding in findings)
    assert scene.undo_log.clean
    assert play.leaves() == empty
    play.stands_empty()


@pytest.mark.proves("CORE-PHASE-03")
@cases()
def test_checking_writes_nothing(play: Play, case: Case) -> None:
    play.set(case)
    findings, scene = play.check(case)
    assert not findings
    assert scene.undo_log.clean
    assert not play.unlike_set(case)


@cases(lambda case: not case.writes)
def test_a_read_only_tool_leaves_the_scene_as_it_is(play: Play, case: Case) -> None:
    play.set(case)
    answer = play.run(case, verify=True)
    assert answer["after"] == answer["before"]
    assert not play.unlike_set(case)


# ---------------------------------------------------------------------- taking back, and running again: `Play.first` does


@cases()
def test_a_step_that_fails_its_verification_leaves_the_scene_as_it_was(play: Play, case: Case) -> None:
    if here(case) is Revert.MEMFILE:
        needs_memfile()
    play.set(case)
    answer = play.run_doubted(case)
    assert not answer["ok"]
    assert answer["fault"] == Fault.VERIFICATION_FAILED.value
    assert answer["result"] is None
    assert answer["after"] == answer["before"]
    assert not play.unlike_set(case)


@cases(lambda case: case.reverts_by(Revert.INVERSE))
def test_the_recorded_inverse_restores_the_scene(play: Play, case: Case) -> None:
    if here(case) is not Revert.INVERSE:
        pytest.skip("Blender's own undo takes it back in this version")
    play.set(case)
    answer = play.run(case, rehearse="inverse", cross_check=False)
    assert answer["reverted_by"] == "inverse"
    assert not play.unlike_set(case)


@cases(lambda case: case.writes)
def test_memfile_undo_restores_the_scene(play: Play, case: Case) -> None:
    needs_memfile()
    play.set(case)
    answer = play.run(case, rehearse="memfile", cross_check=False)
    assert answer["reverted_by"] == "memfile"
    assert not play.unlike_set(case)


# ---------------------------------------------------------------------- the effect


@pytest.mark.proves("CORE-HEADLESS-01", "EXEC-MODE-04")
@cases(every=True)
def test_an_example_changes_what_it_reports_and_only_declared_kinds(play: Play, case: Case) -> None:
    first = play.first(case)
    assert first.answer["changes"] == first.changes
    assert first.answer["after"] == first.full_root
    declared = {kind.value for kind in case.tool.writes}
    assert {Kind.COLLECTION.value if change[0] == "member" else change[0] for change in first.changes} <= declared


@cases(every=True)
def test_a_result_is_json_of_its_schema(play: Play, case: Case) -> None:
    result = play.first(case).answer["result"]
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    jsonschema_rs.validate(case.tool.result_schema(), result)


@cases(lambda case: not case.tool.makes_others, every=True)
def test_what_a_tool_makes_removes_and_looks_up_is_what_it_declares(play: Play, case: Case) -> None:
    first = play.first(case)
    before, after = first.named_before, first.named_after

    made, makes = after - before, declared(case, Role.MAKES)
    # A world of the scene may be made without a name in the arguments.
    unnamed = {("worlds", "World")} if case.tool.name == "scene.set_world" else set[Block]()
    assert makes <= after
    assert made - unnamed <= makes | declared(case, Role.ENSURES)

    removes = declared(case, Role.REMOVES)
    # What goes along with something else: children, objects of a collection.
    gone_along = {"object.delete": "children", "collection.delete": "objects"}.get(case.tool.name, "")
    assert removes <= before - after
    assert before - after == removes or getattr(case.parsed, gone_along, None) == "delete"

    mentioned = {(one.kind, one.name) for one in case.tool.mentions_for(case.parsed)}
    arguments = set(texts_in(case.args))
    assert {one for one in first.looked_up & before if one[1] in arguments and one[0] in NAMED} <= mentioned
    assert declared(case, Role.USES, Role.REMOVES, surely=True) <= first.looked_up & before


# ---------------------------------------------------------------------- repeating


@pytest.mark.proves("EXEC-IDEMP-01")
@cases(lambda case: case.idempotence is Idempotence.IDEMPOTENT)
def test_repeating_an_idempotent_call_succeeds_and_changes_nothing(play: Play, case: Case) -> None:
    done = play.done(case)
    again = play.run(case, cross_check=False)
    assert again["changes"] == []
    assert again["after"] == done.answer["after"] == play.state.full_root()


@pytest.mark.proves("EXEC-IDEMP-02")
@cases(lambda case: case.idempotence is Idempotence.ACCUMULATING)
def test_repeating_an_accumulating_call_adds_more_or_meets_the_names_it_gave(play: Play, case: Case) -> None:
    after = play.done(case).answer["after"]
    again = play.call(case.tool.name, case.args)
    if again["ok"]:
        assert again["after"] != after
    else:
        assert again["fault"] == Fault.SCENE_CONFLICT.value
        assert play.state.full_root() == after


@pytest.mark.proves("CORE-IDEMP-02")
@cases(lambda case: case.idempotence is Idempotence.NON_IDEMPOTENT)
def test_a_call_that_is_not_idempotent_says_what_it_did_and_its_repetition_is_whole_or_nothing(
    play: Play, case: Case
) -> None:
    if here(case) is Revert.MEMFILE:
        needs_memfile()
    first = play.done(case).answer
    assert first["changes"] or first["artifacts"]
    assert texts_in(first["result"]), "the result names nothing"
    again = play.call(case.tool.name, case.args)
    if not again["ok"]:
        assert again["after"] == again["before"]
    assert again["before"] == first["after"]
    assert play.state.full_root() == again["after"]


# ---------------------------------------------------------------------- the same again elsewhere


@cases(every=True)
def test_saving_and_opening_lose_nothing(play: Play, case: Case) -> None:
    first = play.first(case)
    play.open(first.saved)
    assert play.state.root() == first.answer["after"]


@pytest.mark.proves("CORE-PHASE-04")
@cases(lambda case: case.repeatable)
def test_redo_from_a_checkpoint_leads_to_the_same_and_what_is_selected_and_active_makes_no_difference(
    play: Play, case: Case
) -> None:
    import bpy

    first = play.first(case)
    play.open(first.checkpoint)
    layer = bpy.context.view_layer
    for obj in layer.objects:
        obj.select_set(True)
        layer.objects.active = obj
    again = play.run(case, cross_check=False)
    assert (again["result"], again["changes"]) == (first.answer["result"], first.answer["changes"])
    assert again["after"] == first.answer["after"]


@pytest.mark.proves("EXEC-PHASE-13")
@cases(lambda case: case.seeded)
def test_a_seeded_tool_echoes_its_seed_and_follows_it(play: Play, case: Case) -> None:
    seed = case.parsed.seed
    assert case.tool.seed_for(case.parsed) == seed
    first = play.first(case)
    play.open(first.checkpoint)
    other = play.ok(case.tool.name, case.args | {"seed": seed + 1})
    assert (other["after"], other["result"]) != (first.answer["after"], first.answer["result"])


@cases(lambda case: case.repeatable)
def test_redo_from_the_beginning_leads_to_the_same_hashes(play: Play, case: Case) -> None:
    first = play.first(case)
    assert play.set_anew(case) == first.given
    assert play.run(case, cross_check=False)["after"] == first.answer["after"]


# The last example of every tool in make test.
@pytest.mark.proves("OPS-ORDER-05")
@pytest.mark.parametrize("examples", ["last", pytest.param("all", marks=pytest.mark.slow)])
def test_two_processes_with_other_hash_seeds_give_equal_outcomes(play: Play, tmp_path: Path, examples: str) -> None:
    target = tmp_path / "outcomes.json"
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    # Ours is drawn at random, unless somebody has given one.
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    other = subprocess.run(
        [sys.executable, "-m", "conformance.hashes", str(target), examples],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert other.returncode == 0, other.stderr[-2000:]
    there = cast("dict[str, dict[str, Any]]", json.loads(target.read_text()))
    ours = {case.id: play.outcome(case) for case in every_case() if case.id in there}
    assert ours and ours.keys() == there.keys()
    different = {case: (ours[case], there[case]) for case in ours if ours[case] != there[case]}
    assert not different, different


def texts_in(value: Any) -> list[str]:
    """Every text in a result, or in arguments."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(cast("dict[str, Any]", value).values())
    whole = cast("list[Any]", value) if isinstance(value, list | tuple) else []
    return [text for part in whole for text in texts_in(part)]
