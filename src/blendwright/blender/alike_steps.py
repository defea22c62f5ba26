"""Groups of similar consecutive steps that run together: check all, then apply all stage by stage, then verify all.

Running each step to its end goes through more code of Blender and Python than the nearest processor cache holds, once per step.
Only calls of one tool that declares `Tool.together` and that name different datablocks run together.

This module answers each step as if it had run alone. A step that fails or exceeds the time ends the group before it:
the module reverts this step and the following ones, proves that by the hash, and then runs each of them alone.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile
from time import monotonic
from typing import Any

from blendwright.blender import fingerprint as fp
from blendwright.blender.step import Stepper, StepRun, may_wait
from blendwright.tool_api.mentions import Role
from blendwright.wire.methods import StepAnswer, StepRequest

NEVER = float("inf")
# Time in seconds to finish the steps that remain in a group after its deadline. Each time this runs out, fewer steps remain.
GRACE_SECONDS = 0.25


def begin_all(stepper: Stepper, requests: Sequence[StepRequest], ends: float = NEVER) -> Sequence[StepAnswer | StepRun]:
    """Run steps from the first one on and return what `Stepper.begin` returns for each.

    Stops after a failed step, or when `monotonic()` exceeds `ends`; the first step always runs."""
    begun: list[StepAnswer | StepRun] = []
    while len(begun) < len(requests):
        group = _similar_steps(stepper, requests[len(begun) :])
        begun += _run_together(group, ends) or [stepper.begin(requests[len(begun)])]

        last = begun[-1]
        failed = not isinstance(last, StepRun) and not last["ok"]
        if failed or monotonic() > ends:
            break
    return begun


def _similar_steps(stepper: Stepper, requests: Sequence[StepRequest]) -> list[StepRun]:
    """Return the leading steps that can run together; an empty list if the first step must run alone."""
    tool = stepper.tools[requests[0]["tool"]]
    if not tool.together:
        return []
    same_tool = [*takewhile(lambda request: request["tool"] == tool.name, requests)]
    if len(same_tool) < 2:
        return []

    runs: list[StepRun] = []
    used_by_group: set[tuple[str, str]] = set()
    written_by_group: set[tuple[str, str]] = set()
    for request in same_tool:
        args: Any = tool.args_model.model_validate(request["args"])
        if not may_wait(tool, args, request):
            break

        used: set[tuple[str, str]] = set()
        written: set[tuple[str, str]] = set()
        for mention in tool.mentions_for(args):
            if mention.role is Role.USES:
                used.add((mention.kind, mention.name))
            else:
                written.add((mention.kind, mention.name))
        if not written_by_group.isdisjoint(used | written) or not used_by_group.isdisjoint(written):
            break

        written_by_group |= written
        used_by_group |= used
        runs.append(stepper.prepared(tool, args, request))
    return runs


def _run_together(runs: list[StepRun], ends: float) -> list[StepRun]:
    """Run these steps and return the leading ones that succeeded and wait for hashing. The other steps are reverted."""
    group = _Group(runs, ends)
    group.each(lambda run: not run.check())
    while not all(run.applied for run in group.runs):
        group.each(_advance)
    group.each(lambda run: not run.verify() and run.waits)
    touched = set[fp.Key]()
    for run in group.runs:
        # Such steps can be neither reverted nor hashed separately. The core ends this worker and sends them one by one to the next.
        if not touched.isdisjoint(run.touched()):
            raise RuntimeError(f"steps that run together touched the same: {sorted(touched & run.touched())[:3]}")
        touched |= run.touched()
    for run in group.runs:
        run.keep()
    return group.runs


class _Group:
    """The steps that still run together. A group only becomes smaller."""

    def __init__(self, runs: list[StepRun], ends: float) -> None:
        self.runs = runs
        self._ends = ends

    def each(self, phase: Callable[[StepRun], bool]) -> None:
        """Run one phase for each step, until one fails or the time is over. Revert and drop the steps that did not finish it."""
        done = 0
        for run in self.runs:
            try:
                succeeded = phase(run)
            except Exception:  # A tool may raise anything. The error is reported when the step runs alone.
                succeeded = False
            if not succeeded:
                break
            done += 1
            if monotonic() > self._ends:
                break

        for run in reversed(self.runs[done:]):
            run.take_back()
        self.runs = self.runs[:done]
        if monotonic() > self._ends:
            self._ends = monotonic() + GRACE_SECONDS


def _advance(run: StepRun) -> bool:
    run.advance()
    return True
