"""Trials of steps on a real scene: they check the scene after a step, after its revert, and after saving and opening."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene import BpyScene, SceneState
from blendwright.blender.scene.state import is_tombstone
from blendwright.values.errors import StepError

Act = Callable[[BpyScene], object]
Leaves = dict[fp.Key, bytes]
data: Any = bpy.data


class Trial:
    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.state = SceneState()
        self.state.reset()

    def given(self, build: Callable[[], object]) -> None:
        """Create the scene that a test starts from, without the port."""
        build()
        self.state.refresh()

    def begin(self) -> BpyScene:
        return BpyScene(self.state, {}, self.scratch)

    def step(self, act: Act) -> BpyScene:
        """Run a step and keep it. The incremental hash must equal the full hash."""
        scene = self.begin()
        act(scene)
        scene.protect_unused()
        scene.undo_log.seal()
        self.is_sound()
        return scene

    def proves(self, act: Act, *, saves: bool = True) -> None:
        """Run a step, revert it, run it again, and check the file that it leaves."""
        before = self.leaves()
        self.is_sound()
        scene = self.step(act)
        after = self.leaves()
        assert after != before, "nothing was written"
        self.takes_back(scene, before)
        self.step(act)
        same(after, self.leaves())
        if saves:
            self.survives_a_save()

    def takes_back(self, scene: BpyScene, before: Leaves) -> None:
        """Check that the revert of a step restores the scene from before it."""
        scene.undo_log.revert()
        same(before, self.leaves())
        self.is_sound()

    def leaves(self) -> Leaves:
        return dict(self.state.fingerprint.leaves())

    def survives_a_save(self) -> None:
        before, root = self.leaves(), self.state.root()
        self.state.save(self.scratch / "saved.blend")
        assert not [block for block in _all_blocks() if is_tombstone(block)]
        self.is_sound()
        self.state.open(self.scratch / "saved.blend")
        same(before, self.leaves())
        assert self.state.root() == root

    def refuses(self, act: Act) -> str:
        """Run an act that must end in a finding, check that a revert still works, and return the finding's message."""
        before = self.leaves()
        scene = self.begin()
        message = ""
        try:
            act(scene)
        except StepError as error:
            message = error.finding.message
        assert message, "it was not refused"
        self.takes_back(scene, before)
        return message

    def is_sound(self) -> None:
        """Check that incremental and full hash agree, that names are exact, and that no pointer leads to a tombstone."""
        full = fp.full(is_tombstone)
        same(full, self.leaves())
        assert self.state.root() == fp.Fingerprint(full).root()
        for kind in fp.kinds():
            there = {block.name for block in getattr(data, kind) if not block.library and not is_tombstone(block)}
            assert set(self.state.named(kind)) == there
            assert all(block.name == name for name, block in self.state.named(kind).items())
            assert not [name for name in there if re.search(r"\.\d\d\d$", name)]
        tombstones = {block for block in _all_blocks() if is_tombstone(block)}
        users: dict[Any, set[Any]] = data.user_map(subset=tombstones) if tombstones else {}
        pointed_at = {block: [user for user in who if not is_tombstone(user)] for block, who in users.items()}
        assert {block: who for block, who in pointed_at.items() if who} == {}


def same(expected: Leaves, found: Leaves) -> None:
    """Compare two fingerprints leaf by leaf, so that a failure names the datablock."""
    differences = {
        key: "missing" if key not in found else "too much" if key not in expected else "another hash"
        for key in expected.keys() | found.keys()
        if expected.get(key) != found.get(key)
    }
    assert not differences, differences


def _all_blocks() -> list[Any]:
    return [block for kind in fp.kinds() for block in getattr(data, kind)]
