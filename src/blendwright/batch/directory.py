"""The directory of a batch on one machine: what lies where in it, and that only one process runs it at a time."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.batch.engines.engine import LaneSettings
from blendwright.batch.prefix_store import PREFIXES
from blendwright.batch.results_sqlite import FILE as RESULTS
from blendwright.journal.lock import WorkspaceLock, current_holder
from blendwright.journal.store import utc_now
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault


def is_batch(directory: Path) -> bool:
    """Whether a batch was begun there."""
    return (directory / RESULTS).is_file()


@dataclass(frozen=True, slots=True)
class BatchDirectory:
    """`results.db` with the results, `cases/` with the outputs, `work/` with what is under way."""

    root: Path

    @property
    def results(self) -> Path:
        return self.root / RESULTS

    @property
    def work(self) -> Path:
        return self.root / "work"

    def require(self) -> None:
        """Raises Refusal where no batch was run."""
        if not is_batch(self.root):
            message = f"there is no batch in {self.root}"
            raise Refusal.of(
                Fault.TARGET_NOT_FOUND, message, "Give the directory that `blendwright batch run` had as --out."
            )

    def holder(self) -> dict[str, Any] | None:
        """The process that runs it now, as far as the system tells; None where nobody does."""
        return current_holder(self.work)

    def lane_settings(self) -> LaneSettings:
        return LaneSettings(str(self.results), str(self.root), str(self.work), str(self.root))

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Raises EnvironmentUnfit where another process runs this batch."""
        try:
            self.work.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            cure = "Name another directory as --out."
            raise EnvironmentUnfit(f"{self.root} cannot be used: {error.strerror}", cure=cure) from error
        try:
            lock = WorkspaceLock(self.work, utc_now())
        except EnvironmentUnfit as error:
            holder = error.details.get("holder") or {"pid": "unknown"}
            message = f"the batch in {self.root} is being run already, by process {holder['pid']}"
            raise EnvironmentUnfit(
                message, cure="Wait until it has ended, or end it: it can be gone on with."
            ) from error
        try:
            yield
        finally:
            lock.release()

    def clear_work(self) -> None:
        """What lanes of an earlier run left behind; the workspaces of cases that were cut off stay. Only under the lock."""
        for name in ("staging", "scratch", PREFIXES):
            shutil.rmtree(self.work / name, ignore_errors=True)
