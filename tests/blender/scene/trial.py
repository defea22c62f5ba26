"""Steps on a real scene that have to prove themselves: what a step leaves, what its revert leaves, what a saved file keeps."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene import BpyScene, SceneState
from blendwright.blender.scene.state import is_buried

Act = Callable[[BpyScene], object]
data: Any = bpy.data


class Trial:
    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.state = SceneState()
        self.state.reset()

    def given(self, build: Callable[[], object]) -> None:
        """Make the scene that a test starts from, past the port."""
        build()
        self.state.refresh()

    def begin(self) -> BpyScene:
        return BpyScene(self.state, {}, self.scratch)

    def step(self, act: Act) -> BpyScene:
        """One step that is kept: the incremental hash has to be the full one."""
        scene = self.begin()
        act(scene)
        scene.settle()
        scene.record.seal()
        self.is_sound()
        return scene

    def proves(self, act: Act, *, saves: bool = True) -> None:
        """A step and its revert, the step again, and the file that it leaves."""
        before = self.state.root()
        self.is_sound()
        scene = self.step(act)
        after = self.state.root()
        assert after != before, "nothing was written"
        scene.record.revert()
        assert _difference(self.state) == {}
        assert self.state.root() == before
        self.is_sound()
        self.step(act)
        assert self.state.root() == after
        if saves:
            self.survives_a_save()

    def survives_a_save(self) -> None:
        before = self.state.root()
        leaves = dict(self.state.fingerprint.leaves())
        self.state.save(self.scratch / "saved.blend")
        assert not [block for block in _all_blocks() if is_buried(block)]
        self.is_sound()
        self.state.open(self.scratch / "saved.blend")
        now = self.state.fingerprint.leaves()
        assert {key for key in leaves.keys() | now.keys() if leaves.get(key) != now.get(key)} == set()
        assert self.state.root() == before

    def refuses(self, act: Act) -> str:
        """An act that must end in a finding, after which the revert still works; the message."""
        from blendwright.values.errors import StepError

        before = self.state.root()
        scene = self.begin()
        message = ""
        try:
            act(scene)
        except StepError as error:
            message = error.finding.message
        assert message, "it was not refused"
        scene.record.revert()
        assert self.state.root() == before
        self.is_sound()
        return message

    def is_sound(self) -> None:
        """Incremental and full hash agree, names are exact, and nothing living knows of what is buried."""
        assert _difference(self.state) == {}
        assert self.state.root() == self.state.full_root()
        for kind in fp.kinds():
            there = {block.name for block in getattr(data, kind) if not block.library and not is_buried(block)}
            assert set(self.state.named(kind)) == there
            assert all(block.name == name for name, block in self.state.named(kind).items())
            assert not [name for name in there if re.search(r"\.\d\d\d$", name)]
        buried = {block for block in _all_blocks() if is_buried(block)}
        users = data.user_map(subset=buried) if buried else {}
        haunted = {block: [user for user in who if not is_buried(user)] for block, who in users.items()}
        assert {block: who for block, who in haunted.items() if who} == {}


def _difference(state: SceneState) -> dict[fp.Key, str]:
    """The leaves that a full recomputation sees otherwise: what to look at when a test fails."""
    known, full = state.fingerprint.leaves(), fp.full(is_buried)
    return {
        key: "stale" if key in known and key in full else "missed" if key in full else "gone"
        for key in known.keys() | full.keys()
        if known.get(key) != full.get(key)
    }


def _all_blocks() -> list[Any]:
    return [block for kind in fp.kinds() for block in getattr(data, kind)]
