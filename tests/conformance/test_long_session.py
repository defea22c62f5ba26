"""The whole catalogue in one long session: examples meet what others left behind, and every promise still holds."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from blendwright.blender.step_modes import HAS_UNDO
from blendwright.plan.validate import validate_arguments
from blendwright.tool_api.promises import Revert, SafetyLevel
from blendwright.tools.catalog import tools
from blendwright.values.faults import Fault
from blendwright.wire.methods import StepAnswer
from conformance.cases import Case, every_case

if TYPE_CHECKING:
    from conformance.play import Play

# What a call may be refused for because of what is there; anything else is a mistake of a tool. Objects whose shape depends
# on each other's place (by a boolean) cannot always be placed against each other, which shows only afterwards.
REFUSED = {Fault.SCENE_CONFLICT, Fault.TARGET_NOT_FOUND, Fault.ARGS_INVALID, Fault.LIMIT_EXCEEDED}
# Copies of an object that a constraint holds do not stand where they were put, and a strip of one frame has no room for blending: this
# shows only afterwards too.
REFUSED_AFTERWARDS = {
    *("animation.add_strip", "object.duplicate_grid"),
    *("place.align", "place.distribute", "place.on_surface", "scene.audit"),
}
# A solver that makes no sound solid of what is there is found out while it runs.
REFUSED_MEANWHILE = {"mesh.boolean"}
# Slow, and no different in a full scene.
LEFT_OUT = {"render.still", "render.preview"}


def calls_of(cases: list[Case]) -> list[tuple[str, Any]]:
    return [call for case in cases for call in (*case.example.given, (case.tool.name, case.args))]


def fair(name: str, answer: StepAnswer) -> bool:
    """Whether a call succeeded, or was refused for a reason that lies in the scene."""
    afterwards = name in REFUSED_AFTERWARDS and answer["fault"] == Fault.VERIFICATION_FAILED
    meanwhile = name in REFUSED_MEANWHILE and answer["fault"] == Fault.EXECUTION_FAILED
    return answer["ok"] or answer["fault"] in REFUSED or afterwards or meanwhile


# Every twelfth case of another order, and all of them in seven orders in make test-slow.
@pytest.mark.parametrize(
    ("order", "every"), [(0, 12), *(pytest.param(order, 1, marks=pytest.mark.slow) for order in range(1, 8))]
)
def test_a_long_session_reverts_every_step_and_survives_saving(play: Play, order: int, every: int) -> None:
    import bpy

    chosen = [case for case in every_case() if case.tool.name not in LEFT_OUT and case.fits(bpy.app.version)]
    random.Random(order).shuffle(chosen)
    chosen = chosen[::every]
    play.begin()
    done: list[tuple[str, Any]] = []
    for name, args in calls_of(chosen):
        tool = tools()[name]
        before = play.state.root()
        revert = tool.revert_for(validate_arguments(tool, args).model, bpy.app.version)
        if revert is Revert.MEMFILE and not HAS_UNDO:
            # What only Blender's own undo takes back leaves a scene which the core rebuilds, and there is no core here.
            continue
        way = revert.value
        if tool.safety_level is not SafetyLevel.READ_ONLY:
            rehearsal = play.call(name, args, rehearse=way)
            assert fair(name, rehearsal), (name, args, rehearsal, done[-5:])
            if rehearsal["ok"]:
                assert rehearsal["reverted_by"] == way, (name, args, rehearsal, done[-5:])
            assert play.state.full_root() == before, (name, args, rehearsal, done[-5:])
        answer = play.call(name, args)
        assert fair(name, answer), (name, args, answer, done[-5:])
        assert play.state.full_root() == answer["after"], (name, args, answer, done[-5:])
        if answer["ok"]:
            done.append((name, args))
        else:
            assert answer["after"] == before, (name, args, answer, done[-5:])
    after = play.state.root()
    leaves = play.leaves()
    play.open(play.save("after"))
    lost = sorted(key for key in leaves.keys() | play.leaves().keys() if leaves.get(key) != play.leaves().get(key))
    assert play.state.root() == after, lost
    assert len(done) > len(chosen) / 3, "most calls were refused: the session shows nothing"
