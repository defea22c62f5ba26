"""Scenes of two commits, seen from the same places."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import blendwright
from blendwright.engine.scene.rebuild import rebuild_commit
from blendwright.values.outcome import Outcome
from blendwright.views.before_and_after import LookBack, look_back_from, look_back_in
from blendwright.workspace.open_scene import OpenScene
from support.engine.engine import UNASKED

WIDTH = 120


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Generator[OpenScene]:
    """Commit 3 has a near box, 4 a far one of the same size beside it."""
    with blendwright.open(tmp_path_factory.mktemp("seen") / "w", spare=False, policy=UNASKED) as opened:
        assert opened.call("scene.set_render", resolution=[400, 300]).ok
        for name, location in (("Near", [-3, -60, 3]), ("Far", [3, 20, 3])):
            assert opened.call("mesh.create_primitive", kind="cube", name=name, location=location).ok
        yield opened


def panels(outcome: Outcome) -> list[Any]:
    """Before, after and their difference, as grey values without their captions."""
    with Image.open(outcome.artifacts[0]) as picture:
        grey = np.asarray(picture.convert("L"))
    high = WIDTH * 3 // 4
    third = grey.shape[1] // 3
    return [grey[-high:, place * third + 4 : (place + 1) * third - 4] for place in range(3)]


def test_straight_sides_have_no_perspective_and_show_what_was_nearer_before(opened: OpenScene) -> None:
    head = opened.journal.head_number
    assert head is not None
    assert opened.call("object.delete", object="Near").ok
    assert opened.call("mesh.create_primitive", kind="cube", name="Low", location=[-3, 20, -3]).ok
    seen = look_back_in(opened, head, look=LookBack("FRONT", width=WIDTH))
    assert seen.ok, seen.message
    before, after, _ = panels(seen)
    # Near stood eighty metres before all that is there now, and is as large as what is there: all in the same place.
    assert (before > 40).sum() == pytest.approx((after > 40).sum(), rel=0.05)
    sizes = [np.ptp(np.nonzero(side > 40)[1]) + 1 for side in np.array_split(before, 2, axis=1)]
    assert sizes[0] == pytest.approx(sizes[1], abs=1)


def test_several_places_take_one_rebuild_of_each_scene(opened: OpenScene, monkeypatch: pytest.MonkeyPatch) -> None:
    rebuilt: list[int] = []

    def counted(worker: Any, journal: Any, number: int) -> Any:
        rebuilt.append(number)
        return rebuild_commit(worker, journal, number)

    monkeypatch.setattr("blendwright.views.before_and_after.rebuild_commit", counted)
    looks = [LookBack(view, width=WIDTH) for view in ("FRONT", "TOP", "ISO")]
    seen = look_back_from(opened, looks, 3, 4)
    assert rebuilt == [4, 3] and all(one.ok for one in seen)
    assert len({Path(one.artifacts[0]).name for one in seen}) == 3
    assert len({Path(one.artifacts[0]).read_bytes() for one in seen}) == 3
    alone = look_back_in(opened, 3, 4, LookBack("TOP", width=WIDTH))
    assert Path(alone.artifacts[0]).read_bytes() == Path(seen[1].artifacts[0]).read_bytes()


def test_where_there_is_no_camera_only_that_look_is_from_a_corner(opened: OpenScene) -> None:
    own, top, corner = look_back_from(opened, [LookBack(view, width=WIDTH) for view in (None, "TOP", "ISO")], 3, 4)
    assert Path(own.artifacts[0]).read_bytes() == Path(corner.artifacts[0]).read_bytes()
    assert Path(top.artifacts[0]).read_bytes() != Path(corner.artifacts[0]).read_bytes()
