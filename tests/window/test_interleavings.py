"""Random orders of plans, edits by hand, undo, redo, saves and kills, checked against a model of Blender's undo history."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import blendwright
from blendwright.window.attach import attach
from window.playing import PlayedWindow
from window.test_stories import cubes, in_step

ACTS = ("plan", "plan", "edit", "edit", "failing", "undo", "undo", "redo", "save", "look", "reopen", "kill")
LENGTH = 14
QUICK, ORDERS, BLOCK = 2, 200, 10
NAMES = "sorted(o.name for o in bpy.data.objects)"


@dataclass
class Model:
    """A model of the undo history: the states as names of objects, and the index of the current state."""

    states: list[frozenset[str]]
    at: int = 0
    known: frozenset[str] = field(default_factory=frozenset[str])
    """What the journal was last told."""

    @property
    def now(self) -> frozenset[str]:
        return self.states[self.at]

    def push(self, *names: str) -> None:
        self.states = [*self.states[: self.at + 1], self.now | frozenset(names)]
        self.at += 1

    def restart(self) -> None:
        """Restart the model after a kill: the window has all acknowledged changes, and no undo history."""
        self.states, self.at = [self.known], 0


class Story:
    """A random sequence of acts with one window and one workspace."""

    def __init__(self, window: PlayedWindow, workspace: Path, seed: int) -> None:
        self._window = window
        self._workspace = workspace
        self._random = random.Random(seed)
        self._count = 0
        window.open()
        attach(workspace)
        self._model = Model([frozenset(window.ask(NAMES))])
        self._model.known = self._model.now
        self._scene: Any = blendwright.open(workspace)

    def run(self) -> None:
        try:
            for _ in range(LENGTH):
                act = self._random.choice(ACTS)
                getattr(self, act)()
                there = frozenset(self._window.ask(NAMES))
                assert there == self._model.now, (act, there ^ self._model.now)
        finally:
            self._scene.close()

    def _name(self) -> str:
        self._count += 1
        return f"Thing{self._count}"

    def _acknowledged(self) -> None:
        assert in_step(self._window, self._scene)
        self._model.known = self._model.now

    def plan(self) -> None:
        names = [self._name() for _ in range(self._random.randint(1, 4))]
        assert self._scene.run(cubes(f"plan {names[0]}", *names)).status == "succeeded"
        self._model.push(*names)
        self._acknowledged()

    def failing(self) -> None:
        removed_name = min(self._model.now)
        report = self._scene.run(cubes(f"fails {self._name()}", self._name(), removed_name), boundary="plan")
        assert report.status != "succeeded"
        self._acknowledged()

    def edit(self) -> None:
        name = self._name()
        self._window.do(f"bpy.context.scene.collection.objects.link(bpy.data.objects.new({name!r}, None))")
        self._model.push(name)

    def undo(self) -> None:
        if self._model.at:
            self._window.undo()
            self._model.at -= 1

    def redo(self) -> None:
        if self._model.at + 1 < len(self._model.states):
            self._window.redo()
            self._model.at += 1

    def save(self) -> None:
        file = self._workspace / "theirs.blend"
        self._window.save(file)
        assert b"~bw~" not in file.read_bytes()

    def look(self) -> None:
        assert self._scene.call("scene.snapshot").ok
        self._acknowledged()

    def reopen(self) -> None:
        self._scene.close()
        self._scene = blendwright.open(self._workspace)

    def kill(self) -> None:
        if self._random.random() < 0.7:
            return  # starting another Blender takes longer than everything else together
        self._scene.close()
        self._window.kill()
        self._window.start()
        attach(self._workspace, restore=True)
        self._model.restart()
        self._scene = blendwright.open(self._workspace)


def _tell(window: PlayedWindow, tmp_path: Path, seeds: range) -> None:
    for seed in seeds:
        Story(window, tmp_path / f"workspace{seed}", seed).run()


def test_any_order_of_plans_and_hands(window: PlayedWindow, tmp_path: Path) -> None:
    _tell(window, tmp_path, range(QUICK))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", range(0, ORDERS, BLOCK))
def test_two_hundred_orders_of_plans_and_hands(window: PlayedWindow, tmp_path: Path, first: int) -> None:
    _tell(window, tmp_path, range(first, first + BLOCK))
