"""Evaluator processes of a test: the check that none of them outlives it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from blendwright.programs import evaluator_process
from blendwright.programs.evaluator_process import EvaluatorProcess

# A cancelled program ends a moment after its test, because its thread asks every 0.2 s whether to continue.
PATIENCE_SECONDS = 60.0


class EvaluatorWatch:
    """A list of the evaluator processes that this interpreter started and that still run."""

    def __init__(self) -> None:
        self._started: list[EvaluatorProcess] = []

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Note every evaluator process that starts while `patch` holds."""
        start = EvaluatorProcess.__init__

        def started(process: EvaluatorProcess, *args: Any) -> None:
            start(process, *args)
            self._started.append(process)

        patch.setattr(EvaluatorProcess, "__init__", started)

    def end_leaked(self, patience_seconds: float = PATIENCE_SECONDS) -> list[int]:
        """End the processes that neither ended nor wait in the shared pool for the next program. Return their ids."""
        deadline = time.monotonic() + patience_seconds
        while (leaked := self._leaked()) and time.monotonic() < deadline:
            time.sleep(0.01)
        for process in leaked:
            process.end()
        return [process.pid for process in leaked]

    def _leaked(self) -> list[EvaluatorProcess]:
        self._started = [process for process in self._started if process.alive]
        pool = evaluator_process.EVALUATORS._idle  # pyright: ignore[reportPrivateUsage]
        return [process for process in self._started if process not in pool]
