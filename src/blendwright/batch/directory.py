"""The directory of a batch on one machine: its layout, and the lock that lets only one process run the batch."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blendwright.batch.cases.prefix_store import PREFIXES
from blendwright.batch.engines.engine import LaneSettings
from blendwright.batch.outputs.owned_directories import refuse_links, remove_own
from blendwright.batch.outputs.store import CASES
from blendwright.batch.results.sqlite import FILE as RESULTS
from blendwright.journal.lock import WorkspaceLock, current_holder
from blendwright.journal.store import utc_now
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault


def is_batch(directory: Path) -> bool:
    """Return whether the directory contains a batch."""
    return (directory / RESULTS).is_file()


@dataclass(frozen=True, slots=True)
class BatchDirectory:
    """A batch's directory: `results.db` with the results, `cases/` with the outputs, `work/` with temporary files."""

    root: Path

    @property
    def results(self) -> Path:
        return self.root / RESULTS

    @property
    def work(self) -> Path:
        return self.root / "work"

    def require(self) -> None:
        """Raise Refusal if there is no batch here, and EnvironmentUnfit if a symbolic link replaces a file or folder of the batch."""
        refuse_links(self._made_here())
        if not is_batch(self.root):
            message = f"{self.root} contains no batch"
            fix = "Pass the directory that `blendwright batch run` had as --out."
            raise Refusal.of(Fault.TARGET_NOT_FOUND, message, fix)

    def holder(self) -> dict[str, Any] | None:
        """Return a description of the process that runs the batch now, or None if the system knows none."""
        return current_holder(self.work)

    def require_own_cases(self) -> None:
        """Raise Refusal if there are outputs but no table of results, because then their origin is unknown."""
        cases = self.root / CASES
        if not is_batch(self.root) and cases.is_dir() and any(cases.iterdir()):
            message = f"{cases} is not empty, but its table {self.results} is missing"
            fix = f"Choose another directory as --out, or restore {RESULTS}."
            raise Refusal.of(Fault.SCENE_CONFLICT, message, fix)

    def lane_settings(self) -> LaneSettings:
        return LaneSettings(str(self.results), str(self.root), str(self.work), str(self.root))

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Hold the lock of this batch. Raise EnvironmentUnfit if another process runs it or a symbolic link replaces one of its files."""
        try:
            refuse_links(self._made_here())
            self.work.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            fix = "Choose another directory as --out."
            raise EnvironmentUnfit(f"{self.root} cannot be used: {error.strerror}", cure=fix) from error
        try:
            lock = WorkspaceLock(self.work, utc_now())
        except EnvironmentUnfit as error:
            holder = error.details.get("holder") or {"pid": "unknown"}
            message = f"process {holder['pid']} already runs the batch in {self.root}"
            fix = "Wait for it or stop it; a stopped batch can be resumed."
            raise EnvironmentUnfit(message, cure=fix) from error
        try:
            yield
        finally:
            lock.release()

    def clear_work(self) -> None:
        """Remove temporary files of earlier worker processes. Keep the workspaces of interrupted cases. Requires the lock."""
        remove_own(self.root, Path(self.work.name), "staging", "scratch", PREFIXES)

    def _made_here(self) -> Iterator[Path]:
        """Yield the existing paths that batches write to and clear. Other files in the directory belong to the user."""
        yield from (self.work, self.root / CASES)
        for pattern in (f"{RESULTS}*", ".results.*.part"):
            yield from self.root.glob(pattern)
        yield from self.work.glob("*")
