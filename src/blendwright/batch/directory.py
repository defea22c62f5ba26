"""The directory of a batch on one machine: what lies where in it, and that only one process runs it at a time."""

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
        """Raises Refusal where no batch was run, EnvironmentUnfit where a link is in the place of something that batches make."""
        refuse_links(self._made_here())
        if not is_batch(self.root):
            message = f"there is no batch in {self.root}"
            raise Refusal.of(
                Fault.TARGET_NOT_FOUND, message, "Give the directory that `blendwright batch run` had as --out."
            )

    def holder(self) -> dict[str, Any] | None:
        """The process that runs it now, as far as the system tells; None where nobody does."""
        return current_holder(self.work)

    def require_own_cases(self) -> None:
        """Raises Refusal where there are cases and no table of results: nobody could tell which of them a batch has made."""
        cases = self.root / CASES
        if not is_batch(self.root) and cases.is_dir() and any(cases.iterdir()):
            message = f"{cases} is not empty, and {self.results}, which says what is in it, is not there"
            cure = f"Name another directory as --out, or restore {RESULTS}."
            raise Refusal.of(Fault.SCENE_CONFLICT, message, cure)

    def lane_settings(self) -> LaneSettings:
        return LaneSettings(str(self.results), str(self.root), str(self.work), str(self.root))

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Raises EnvironmentUnfit where another process runs this batch, or a link is in the place of something that batches make."""
        try:
            refuse_links(self._made_here())
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
        remove_own(self.root, Path(self.work.name), "staging", "scratch", PREFIXES)

    def _made_here(self) -> Iterator[Path]:
        """What batches write to and clear in the directory, as far as it is there; other files in it are its owner's."""
        yield from (self.work, self.root / CASES)
        for pattern in (f"{RESULTS}*", ".results.*.part"):
            yield from self.root.glob(pattern)
        yield from self.work.glob("*")
