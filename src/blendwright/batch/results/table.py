"""The table of results: the cases of a batch, the worker process of each running case, and the row of each finished case.

An engine may run a job twice, or run a case whose worker process only seemed dead. Therefore a worker process claims a case and receives
a fence, a number that only grows. The table accepts a row only under the newest fence, and only if the case has no row yet.
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
    """The right to publish the row of a case until another process claims the case. `attempts` counts the claims so far."""

    case: Case
    fence: int
    attempts: int


@dataclass(frozen=True, slots=True)
class ResultRow:
    """The result of one finished case.

    `outputs` are its files by name, each with `sha256` and `bytes`; `location` is their directory. `findings` are findings as JSON.
    `times` are seconds by phase. `finished` is the UTC time in the journal's format."""

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
    """The number of operations that a shared prefix or an interrupted attempt had already done."""
    prefix: str | None = None
    """The hash of the shared prefix from which the case started, or None."""
    source: str = ""
    worker: str = ""
    attempts: int = 1
    finished: str = ""
    memory_mb: int = 0
    """The memory of the worker process and its Blender after the case; 0 if the system does not report it."""

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
    """The state of a case. `row` is set once the case is finished."""

    case: Case
    status: CaseStatus
    fence: int
    attempts: int
    worker: str
    row: ResultRow | None


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of cases of one batch in each state."""

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
    """The interface of all tables of results. Every method is one transaction, which is durable when the method returns.

    An object belongs to one thread; many processes may open the same table."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def begin(self, batch: Batch, *, clear_members: bool = False) -> None:
        """Store the definition under its id, unless it is stored already, and make it the latest batch.

        With `clear_members`, the batch has only the cases that the caller adds afterwards. Earlier cases stay in the table."""

    @abstractmethod
    def batch(self, id: str | None = None) -> Batch | None:
        """Return the definition with this id, or the latest one; None if there is none."""

    @abstractmethod
    def add(self, batch: Batch, rows: Iterable[tuple[Mapping[str, Any], str]]) -> int:
        """Add cases to a batch and return the number of new ones. Each row consists of parameters and the row's position.

        A case that the table already contains keeps its number and row. Equal rows are one case. Further calls add more cases."""

    @abstractmethod
    def open_cases(self, batch: str) -> Iterator[Case]:
        """Yield the cases of a batch that have no row yet, ordered by number. Other processes may write in the meantime."""

    @abstractmethod
    def claim(self, key: str, worker: str) -> Claim | None:
        """Claim a case, which ends every earlier claim. Return None if the case has its row already or does not exist."""

    @abstractmethod
    def publish(self, row: ResultRow, fence: int) -> bool:
        """Store a row and return whether it counts. It does not if the case was claimed again or is already finished."""

    @abstractmethod
    def give_back(self, key: str, fence: int) -> bool:
        """Let a claimed case wait again, without counting the attempt. Return False if the claim is no longer valid."""

    @abstractmethod
    def holds(self, key: str, fence: int) -> bool:
        """Return whether a claim is still valid. Check it before a costly or final step."""

    @abstractmethod
    def retry_failed(self, batch: str) -> int:
        """Let the failed cases of a batch wait again, and return their number."""

    @abstractmethod
    def standing(self, case: int | str) -> Standing | None:
        """Return the state of a case by its number, its key or the beginning of its key; None if there is none."""

    @abstractmethod
    def rows(self, batch: str | None = None) -> Iterator[ResultRow]:
        """Yield the rows of finished cases, ordered by number. Without a batch, yield the rows of all batches."""

    @abstractmethod
    def counts(self, batch: str) -> Counts: ...

    @abstractmethod
    def close(self) -> None: ...
