"""The port to engines: whoever runs the jobs of a batch, each at least once, in lanes on one machine or on many.

An engine knows no cases: it carries jobs, which name one. It may run a job twice, at the same time too; what counts is decided by the
claims of the table of results.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

JobEnd = Literal["published", "done_before", "given_back", "lost", "skipped"]


@dataclass(frozen=True, slots=True)
class Job:
    """One case to be run. `prefixes` are the hashes of the operations that it shares with others, by how many they are, shortest
    first: lanes that hold one of them are preferred, and any lane can make it."""

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
    """What a lane says of a job: its row counts, somebody had done it, or it was given back because the lane is to stop. `row` is the
    row that was published, as JSON; `lost` is said by the engine, of a lane that died. `skipped` is a job that nobody can do, for what
    `reason` says."""

    job: Job
    end: JobEnd
    row: Mapping[str, Any] | None = None
    retire: bool = False
    """The lane has had its time, or too much memory: it takes no more jobs."""
    reason: str | None = None


# Does one job, in the lane that it was opened in.
Handler = Callable[[Job], JobReport]
# Is told of every job that ended, from any thread.
OnReport = Callable[[JobReport], None]


@dataclass(frozen=True, slots=True)
class LaneSettings:
    """What a lane needs to do jobs of any batch: plain values, since lanes are processes. `lane.py` opens a handler with them.

    `results` and `outputs` are a path or a URL each; `work` is a local directory for workspaces and staging, on the file system of
    `outputs` where that is a directory. A lane is replaced after so many cases, so many seconds, or above so much memory."""

    results: str
    outputs: str
    work: str
    settings: str
    """The directory whose blendwright.toml holds for every case, beside the user's own."""
    most_cases: int = 1000
    most_seconds: float = 3600.0
    most_memory_mb: int = 6144
    prefixes: bool = True
    most_attempts: int = 4
    """A case whose process ended more often while it ran is at fault itself."""
    approve: Sequence[str] | None = None
    """What definitions may allow beforehand, where they come from others; None: all that they do."""
    places: Sequence[str] | None = None
    """Where outputs may go, where a job names the place; None: wherever `outputs` says."""
    queue: str | None = None
    """Where jobs of others come from, named by a Blender and a catalogue. Then a job, case or definition that is not sound fails its own
    case; None: they are ours, and it ends the run."""

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in LaneSettings.__dataclass_fields__}


class Engine(ABC):
    """One place where jobs go and lanes come from."""

    @abstractmethod
    def submit(self, jobs: Iterable[Job]) -> None:
        """Take jobs on; durable engines have kept them when this returns, others may read them when they need them."""

    @abstractmethod
    def work(self, lanes: LaneSettings, count: int, report: OnReport) -> None:
        """Run jobs in `count` lanes until there are none, or until `stop`. A durable engine waits for more instead of ending."""

    @abstractmethod
    def stop(self, *, at_once: bool = False) -> None:
        """End `work`, from any thread: after the cases that are under way, or at once, which gives them back."""
