"""Playing one case on a real scene: the calls that set the stage, then the call that is examined.

Tests of a case come one after the other and share what they can (`Play.set`, `Play.first`, `Play.done`): a scene is made anew only
where the test before has not shown that it is as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene import BpyScene
from blendwright.blender.scene.state import is_tombstone
from blendwright.blender.step import Stepper
from blendwright.plan.validate import validate_arguments
from blendwright.tools.catalog import tools
from blendwright.wire.methods import StepAnswer, StepRequest
from conformance.cases import Case, doubted, places
from conformance.mentions import Block, datablocks, recording_lookups
from support.stage.stage import Stage


@dataclass(frozen=True)
class Done:
    """What came of an example, run once on the scene that it takes for granted."""

    given: list[str]
    """The hash after each call that set the stage."""
    changes: list[list[str]]
    """What changed and the hash after it, from the data itself, whatever the step reported."""
    answer: StepAnswer
    full_root: str
    checkpoint: Path
    """The scene saved before, and after."""
    saved: Path
    named_before: set[Block]
    named_after: set[Block]
    looked_up: set[Block]
    """What was asked for by name, whether it is there or not."""


class Play:
    """One Blender for many cases. `begin` makes the scene empty by opening an empty file, in half the time of a reset."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._stage = Stage(scratch)
        self._empty = scratch / "empty.blend"
        self._room = scratch
        self._plays = 0
        self._of_empty: dict[fp.Key, bytes] | None = None
        self._given: list[str] = []
        self._before: dict[fp.Key, bytes] = {}
        self._root = ""
        self._stands: tuple[str, Case] | Literal["empty"] | None = None
        """What the scene is at this moment, if it is known: empty, the stage of a case that was set, or what its example has done."""
        self._first: tuple[Case, Done] | None = None
        self._outcomes: dict[str, dict[str, Any]] = {}
        self.state = self._stage.state
        self.state.save(self._empty)

    def begin(self) -> None:
        """An empty scene and an empty directory."""
        self._plays += 1
        self._room = self._scratch / f"play-{self._plays}"
        self._room.mkdir()
        if self._stands != "empty":
            self.state.open(self._empty)
        self._stands = None

    def stands_empty(self) -> None:
        """Whoever has shown that nothing has changed since `begin` says so: the next one need not open the file again."""
        self._stands = "empty"

    def set_anew(self, case: Case) -> list[str]:
        """Begin, and run what the example takes for granted; the hash after each call.

        What a call of the stage writes and does not report is found where that tool is examined."""
        import bpy

        if not case.fits(bpy.app.version):
            pytest.skip(f"{case.tool.name} is not for Blender {bpy.app.version_string}")
        self.begin()
        return [self.ok(name, args, cross_check=False)["after"] for name, args in case.example.given]

    def set(self, case: Case) -> None:
        """The scene that the example takes for granted, anew unless it stands."""
        if self._stands == ("set", case):
            return
        self._given = self.set_anew(case)
        self._before = self.leaves()
        self._root = self.state.root()
        self._stands = ("set", case)

    def unlike_set(self, case: Case) -> list[list[str]]:
        """How the scene differs from what `set` made. Where it does not, it stands for the next test of the case."""
        changes = difference(self._before, self.leaves())
        self._stands = None if changes else ("set", case)
        return changes

    def first(self, case: Case) -> Done:
        """What came of the example when it was run on what it takes for granted, whatever the scene is now."""
        if self._first is None or self._first[0] != case:
            self._first = (case, self._run_first(case))
        return self._first[1]

    def done(self, case: Case) -> Done:
        """The same, with the scene as the example left it, and not as it was saved."""
        if self._stands != ("done", case):
            self._first = (case, self._run_first(case))
        return self.first(case)

    def _run_first(self, case: Case) -> Done:
        self.set(case)
        given, before, root, checkpoint = self._given, self._before, self._root, self.save("before")
        named = datablocks(self.state)
        with recording_lookups() as looked_up:
            answer = self.run(case, cross_check=False)
        assert answer["before"] == root, "whatever was checked or taken back on this scene before has left its hash"
        self._outcomes[case.id] = self._outcome(case, given, answer)
        changes = difference(before, self.leaves())
        full_root, saved = self.state.full_root(), self.save("after")
        done = Done(given, changes, answer, full_root, checkpoint, saved, named, datablocks(self.state), looked_up)
        self._stands = ("done", case)
        return done

    def outcome(self, case: Case) -> dict[str, Any]:
        """What must be equal wherever the example is run: what came of it when it was run here first."""
        if case.id not in self._outcomes:
            self._outcomes[case.id] = self._outcome(case, self.set_anew(case), self.run(case, cross_check=False))
        return self._outcomes[case.id]

    def _outcome(self, case: Case, given: list[str], answer: StepAnswer) -> dict[str, Any]:
        # A rendered picture holds the time of its making; the hash of its pixels is in the result.
        places_of = (
            places(case.tool, case.args, self._room, "write") if not case.tool.name.startswith("render.") else {}
        )
        files = {name: hashlib.sha256(Path(place).read_bytes()).hexdigest() for name, place in places_of.items()}
        result, after = dict(answer["result"] or {}), answer["after"]
        if str(case.args.get("asset", "")).endswith(".blend"):
            # Blender writes equal scenes in other bytes, so each process has a file of its own.
            written = (self._room / str(case.args["asset"])).read_bytes()
            result["sha256"] = result["sha256"] == hashlib.sha256(written).hexdigest()
            # What is instanced is marked by that hash, which is then in the scene's.
            after = after if result["mode"] == "append" else ""
        return {"given": given, "after": after, "result": result, "files": files}

    def call(self, name: str, args: Mapping[str, Any], **options: Any) -> StepAnswer:
        self._stands = None
        return self._stage.call(name, args, files=self._files(name, args), **options)

    def ok(self, name: str, args: Mapping[str, Any], **options: Any) -> StepAnswer:
        answer = self.call(name, args, **options)
        assert answer["ok"], (name, args, answer["fault"], answer["message"])
        return answer

    def run(self, case: Case, **options: Any) -> StepAnswer:
        """The example itself, which must succeed. Whoever compares the whole scene afterwards needs no `cross_check` of the step."""
        return self.ok(case.tool.name, case.args, **options)

    def run_doubted(self, case: Case) -> StepAnswer:
        """The example with a verification that fails."""
        self._stands = None
        stepper = Stepper(self.state, {case.tool.name: doubted(case.tool)}, self._scratch)
        request: StepRequest = {
            "tool": case.tool.name,
            "version": case.tool.version,
            "args": canonical(case),
            "files": self._files(case.tool.name, case.args),
            "verify": True,
        }
        return stepper.run(request)

    def check(self, case: Case) -> tuple[list[Any], BpyScene]:
        """Only the first phase; its findings, and the port with what was recorded."""
        self._stands = None
        scene = BpyScene(self.state, self._files(case.tool.name, case.args), self._scratch)
        return list(case.tool.check(scene, case.parsed)), scene

    def save(self, name: str) -> Path:
        path = self._room / f"{name}.blend"
        self.state.save(path)
        return path

    def open(self, path: Path) -> None:
        self._stands = None
        self.state.open(path)

    def leaves_of_empty(self) -> dict[fp.Key, bytes]:
        """What `leaves` finds in a scene that has just begun; looked for once."""
        if self._of_empty is None:
            self.begin()
            self._of_empty = self.leaves()
        return self._of_empty

    def leaves(self) -> dict[fp.Key, bytes]:
        """Every datablock's hash from the data itself, whatever the steps reported."""
        return fp.full(is_tombstone)

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
