"""The protocol of engines, which run each job of a batch at least once, in worker processes on one or many machines.

An engine knows no cases: it carries jobs that name a case. It may run a job twice, even at the same time. The claims in the table of
results decide which run counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

JobEnd = Literal["published", "done_before", "given_back", "lost", "skipped"]


@dataclass(frozen=True, slots=True)
class Job:
    """A case to run. `prefixes` are the shared beginnings of its plan: number of operations and hash, shortest first.

    Engines prefer a worker process that already has one of the prefixes, but any worker process can make it."""

    batch: str
    case: str
    prefixes: tuple[tuple[int, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"batch": self.batch, "case": self.case, "prefixes": [list(prefix) for prefix in self.prefixes]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(data["batch"], data["case"], tuple((size, hash) for size, hash in data["prefixes"]))


@dataclass(frozen=True, slots=True)
class JobReport:
    """The report of a worker process about one job.

    - `published`: its row counts; `row` is that row as JSON.
    - `done_before`: the case was already finished.
    - `given_back`: the worker process must stop, so the case waits again.
    - `lost`: the worker process died; the engine writes this report.
    - `skipped`: the job cannot be done, for the given `reason`."""

    job: Job
    end: JobEnd
    row: Mapping[str, Any] | None = None
    retire: bool = False
    """Whether the worker process takes no more jobs because it is too old or uses too much memory."""
    reason: str | None = None


# A function that processes one job in the worker process that created it.
Handler = Callable[[Job], JobReport]
# A function that receives the report of every finished job, from any thread.
OnReport = Callable[[JobReport], None]


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """The settings that a worker process needs to process jobs of any batch. They are plain values, since they go to another process.

    `results` and `outputs` are paths or URLs. `work` is a local directory for workspaces and staging; it must be on the same file system
    as `outputs` if that is a directory. The engine replaces a worker process after `most_cases` cases or `most_seconds` seconds, or
    above `most_memory_mb` MB."""

    results: str
    outputs: str
    work: str
    settings: str
    """The directory whose blendwright.toml applies to every case, in addition to the user's own settings."""
    most_cases: int = 1000
    most_seconds: float = 3600.0
    most_memory_mb: int = 6144
    prefixes: bool = True
    most_attempts: int = 4
    """A case fails if its process ended this many times."""
    approve: Sequence[str] | None = None
    """The grants that a foreign definition may have. None allows every grant of the definition."""
    places: Sequence[str] | None = None
    """The locations to which a job may write its outputs. None allows the location in `outputs`."""
    queue: str | None = None
    """The queue of foreign jobs, named by Blender version and tools. An invalid foreign job or definition fails only its own case.

    None means that the jobs are our own; then an invalid one ends the run."""

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in LaneSettings.__dataclass_fields__}


class Engine(ABC):
    """A scheduler that accepts jobs and runs them in worker processes."""

    @abstractmethod
    def submit(self, jobs: Iterable[Job]) -> None:
        """Accept jobs. A durable engine has stored them when this returns; another engine may read the iterable later."""

    @abstractmethod
    def work(self, lanes: LaneSettings, count: int, report: OnReport) -> None:
        """Run jobs in `count` worker processes until no job is left or `stop` is called. A durable engine waits for further jobs."""

    @abstractmethod
    def stop(self, *, at_once: bool = False) -> None:
        """End `work`, from any thread. Let running cases finish, or give them back at once."""
