"""The table of results: which cases there are, who works on one, and the one row that counts for each.

An engine may run a job twice, or run one that was thought dead. What counts is decided here: whoever works on a case claims it and gets a
fence, a number that only grows; a row is taken only under the newest fence, and only for a case that has none yet.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

from blendwright.batch.cases.case import Case, require_key
from blendwright.batch.definition import Batch

CaseStatus = Literal["waiting", "running", "done", "failed"]
FINISHED: frozenset[CaseStatus] = frozenset({"done", "failed"})


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to publish the row of a case, as long as nobody has claimed it again. `attempts` counts the claims so far."""

    case: Case
    fence: int
    attempts: int


@dataclass(frozen=True, slots=True)
class ResultRow:
    """What became of one case. `outputs` are its files by name, each with `path`, `sha256` and `bytes`; `location` is where they lie.

    `findings` are as findings are written everywhere. `times` are seconds by name. `finished` is UTC, as the journal writes it."""

    number: int
    key: str
    params: Mapping[str, Any]
    status: Literal["done", "failed"]
    scene_hash: str | None = None
    location: str | None = None
    outputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    findings: tuple[Mapping[str, Any], ...] = ()
    times: Mapping[str, float] = field(default_factory=dict[str, float])
    operations: int = 0
    reused: int = 0
    """How many of the operations were there already: those of a shared prefix, or of an attempt that was cut off."""
    prefix: str | None = None
    """The hash of the operations that it shares with other cases and started from."""
    source: str = ""
    worker: str = ""
    attempts: int = 1
    finished: str = ""
    memory_mb: int = 0
    """What the lane held when it was done with the case, its Blender included; 0 where the system does not tell."""

    def __post_init__(self) -> None:
        require_key(self.key)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "findings": [dict(finding) for finding in self.findings]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        fields: dict[str, Any] = dict(data)
        fields["findings"] = tuple(data["findings"])
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a case stands; `row` is there once it is finished."""

    case: Case
    status: CaseStatus
    fence: int
    attempts: int
    worker: str
    row: ResultRow | None


@dataclass(frozen=True, slots=True)
class Counts:
    """The cases of one batch, by where they stand."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.waiting + self.running + self.done + self.failed

    @property
    def open(self) -> int:
        return self.waiting + self.running


class ResultsTable(ABC):
    """Every method is one transaction, durable when it has returned. Usable from one thread; many processes may have it open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def begin(self, batch: Batch, *, anew: bool = False) -> None:
        """Keep the definition under its id; one that is there stays as it is. It is the latest from now on. `anew`: its cases are those
        that are added from now on; what others have become stays, and does not belong to it any more."""

    @abstractmethod
    def batch(self, id: str | None = None) -> Batch | None:
        """A definition by its id; the latest without one."""

    @abstractmethod
    def add(self, batch: Batch, rows: Iterable[tuple[Mapping[str, Any], str]]) -> int:
        """Cases of a batch: parameters, and where the row stands. Those that are known by their key keep number and row; equal rows are
        one case. Returns how many were new. May be called again with more."""

    @abstractmethod
    def open_cases(self, batch: str) -> Iterator[Case]:
        """Those of a batch that have no row yet, by number. Others may write while it is read."""

    @abstractmethod
    def claim(self, key: str, worker: str) -> Claim | None:
        """Work on a case from now on, instead of whoever did so before. None where its row is there, or there is no such case."""

    @abstractmethod
    def publish(self, row: ResultRow, fence: int) -> bool:
        """Whether this row counts: not where the case was claimed again since, or is finished."""

    @abstractmethod
    def give_back(self, key: str, fence: int) -> bool:
        """Let a claimed case wait again, without the attempt being counted. False where the claim holds no longer."""

    @abstractmethod
    def holds(self, key: str, fence: int) -> bool:
        """Whether a claim still counts: for whoever is about to do something costly or final."""

    @abstractmethod
    def retry_failed(self, batch: str) -> int:
        """Let the failed cases of a batch wait again; returns how many."""

    @abstractmethod
    def standing(self, case: int | str) -> Standing | None:
        """One case, by its number, its key or the beginning of its key."""

    @abstractmethod
    def rows(self, batch: str | None = None) -> Iterator[ResultRow]:
        """The rows that count, by number; those of one batch only where one is named."""

    @abstractmethod
    def counts(self, batch: str) -> Counts: ...

    @abstractmethod
    def close(self) -> None: ...
