"""Playing one case on a real scene: the calls that set the stage, then the call that is examined."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene import BpyScene
from blendwright.blender.scene.state import is_tombstone
from blendwright.blender.step import Stepper
from blendwright.plan.validate import validate_arguments
from blendwright.tools.catalog import tools
from blendwright.wire.methods import StepAnswer, StepRequest
from conformance.cases import Case, doubted, places
from stage import Stage


class Play:
    """One Blender for many cases. `begin` makes the scene empty by opening an empty file, ten times faster than a reset."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._stage = Stage(scratch)
        self._empty = scratch / "empty.blend"
        self._room = scratch
        self._plays = 0
        self.state = self._stage.state
        self.state.save(self._empty)

    def begin(self) -> None:
        """An empty scene and an empty directory."""
        self._plays += 1
        self._room = self._scratch / f"play-{self._plays}"
        self._room.mkdir()
        self.state.open(self._empty)

    def set(self, case: Case) -> list[str]:
        """Begin, and run what the example takes for granted; the hash after each call."""
        import bpy

        if not case.fits(bpy.app.version):
            pytest.skip(f"{case.tool.name} is not for Blender {bpy.app.version_string}")
        self.begin()
        return [self.ok(name, args)["after"] for name, args in case.example.given]

    def call(self, name: str, args: Mapping[str, Any], **options: Any) -> StepAnswer:
        return self._stage.call(name, args, files=self._files(name, args), **options)

    def ok(self, name: str, args: Mapping[str, Any], **options: Any) -> StepAnswer:
        answer = self.call(name, args, **options)
        assert answer["ok"], (name, args, answer["fault"], answer["message"])
        return answer

    def run(self, case: Case, **options: Any) -> StepAnswer:
        """The example itself, which must succeed."""
        return self.ok(case.tool.name, case.args, **options)

    def run_doubted(self, case: Case) -> StepAnswer:
        """The example with a verification that fails."""
        stepper = Stepper(self.state, {case.tool.name: doubted(case.tool)}, self._scratch)
        request: StepRequest = {
            "tool": case.tool.name,
            "version": case.tool.version,
            "args": canonical(case),
            "files": self._files(case.tool.name, case.args),
            "verify": True,
            "cross_check": True,
        }
        return stepper.run(request)

    def check(self, case: Case) -> tuple[list[Any], BpyScene]:
        """Only the first phase; its findings, and the port with what was recorded."""
        scene = BpyScene(self.state, self._files(case.tool.name, case.args), self._scratch)
        return list(case.tool.check(scene, case.parsed)), scene

    def checkpoint(self) -> Path:
        path = self._room / "checkpoint.blend"
        self.state.save(path)
        return path

    def leaves(self) -> dict[fp.Key, bytes]:
        """Every datablock's hash from the data itself, whatever the steps reported."""
        return fp.full(is_tombstone)

    def written(self, case: Case) -> dict[str, bytes]:
        """The bytes of the files that the example has written."""
        files = places(case.tool, case.args, self._room, "write")
        return {name: Path(place).read_bytes() for name, place in files.items()}

    def _files(self, name: str, args: Mapping[str, Any]) -> dict[str, str]:
        return places(tools()[name], args, self._room, "read", "write")


def canonical(case: Case) -> dict[str, Any]:
    found, findings, _ = validate_arguments(case.tool, case.args)
    assert not findings, findings
    return found


def difference(before: Mapping[fp.Key, bytes], after: Mapping[fp.Key, bytes]) -> list[list[str]]:
    """What changed between two sets of leaves, in the words of a step's answer."""
    changes: list[list[str]] = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old != new:
            changes.append([*fp.key_words(key), "created" if old is None else "removed" if new is None else "changed"])
    return changes
