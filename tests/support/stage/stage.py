"""A stage for tests of tools: real Blender in the test's own process, arguments checked as the core does, steps as the worker runs them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from blendwright.blender.scene import SceneState
from blendwright.blender.step import Stepper
from blendwright.blender.step_modes import HAS_UNDO
from blendwright.plan.validate import validate_arguments
from blendwright.tools.catalog import tools
from blendwright.wire.methods import StepAnswer, StepRequest


def needs_undo() -> None:
    """Before 4.5 a step that only Blender's own undo takes back is rebuilt by the core, which is not on this stage."""
    if not HAS_UNDO:
        pytest.skip("Blender's own undo is off before 4.5")


@cache
def state_of_this_process() -> SceneState:
    """One, as in a worker: another would hash what the test before has left, only to be reset."""
    return SceneState()


class Stage:
    """An empty scene, and calls on it."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.state = state_of_this_process()
        self.state.reset()
        self._stepper = Stepper(self.state, tools(), scratch)

    def call(self, tool: str, args: Mapping[str, Any], **options: Any) -> StepAnswer:
        """Run one step, with the incremental hash compared to a full one; fails the test when arguments are invalid."""
        canonical, findings, _ = validate_arguments(tools()[tool], dict(args))
        assert not findings, findings
        request: dict[str, Any] = {"tool": tool, "version": 1, "args": canonical, "cross_check": True, **options}
        return self._stepper.run(cast("StepRequest", request))

    def do(self, tool: str, args: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        """A call that must succeed; its result."""
        answer = self.call(tool, args, **options)
        assert answer["ok"], (tool, args, answer["fault"], answer["message"])
        assert answer["result"] is not None
        return answer["result"]

    def refusal(self, tool: str, args: Mapping[str, Any], **options: Any) -> list[dict[str, Any]]:
        """A call that must fail and leave the scene as it was; its findings."""
        answer = self.call(tool, args, **options)
        assert not answer["ok"], (tool, args)
        assert answer["after"] == answer["before"] == self.state.full_root()
        return answer["findings"]

    def invalid(self, tool: str, args: Mapping[str, Any]) -> list[str]:
        """Arguments that must be refused before Blender is asked; the pointers of the findings."""
        _, findings, _ = validate_arguments(tools()[tool], dict(args))
        assert findings, (tool, args)
        return [finding.pointer for finding in findings]
