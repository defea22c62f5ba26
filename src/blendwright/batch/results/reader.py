"""What whoever only looks asks of a table of results, wherever it lies: the port to `results_view` for SQLite and to
`postgres.results_view`.

A row that somebody has changed is shown as what it is, and takes no page of others with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import orjson

from blendwright.batch.cases.case import Case
from blendwright.batch.definition import Batch
from blendwright.batch.results.table import CaseStatus, Counts, ResultRow, Standing
from blendwright.values.errors import EnvironmentUnfit
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

LONGEST_MESSAGE = 300
# What data raises that is not as it was written.
UNSOUND = (ValueError, TypeError, LookupError, AttributeError, EnvironmentUnfit)
_NOT_SOUND = Finding(
    Fault.SCHEMA_INVALID,
    "its row in the table of results is not sound, and is not shown",
    "",
    "Somebody has changed it: restore the table from a backup, or let the case be made again.",
)


@dataclass(frozen=True, slots=True)
class FailureReason:
    """Cases that failed for the same reason, told by the first finding of each."""

    code: str
    message: str
    cases: int


class ResultsReader(Protocol):
    """Nothing here writes. Raises EnvironmentUnfit where the table cannot be read now."""

    @property
    def pause(self) -> float:
        """Seconds for which what was counted stands, where counting takes its time."""
        ...

    def version(self) -> object:
        """Something else whenever somebody may have written since it was last asked for."""
        ...

    def batch(self) -> tuple[Batch, str] | None:
        """The batch that was run last, and since when it is known; None before there is one."""
        ...

    def counts(self, batch: str) -> Counts: ...

    def page(
        self, batch: str, *, offset: int, limit: int, status: CaseStatus | None = None
    ) -> tuple[int, list[Standing]]:
        """Cases by number, of all or of one status, and how many there are of these."""
        ...

    def standing(self, number: int) -> Standing | None: ...

    def failure_reasons(self, batch: str) -> Sequence[FailureReason]:
        """The most frequent first."""
        ...


def shown_standing(
    case: Case, status: CaseStatus, fence: int, attempts: int, worker: str, text: str | None
) -> Standing:
    """Where a case stands, with its row as it is written, if it has one by now."""
    if status in ("waiting", "running"):
        row = None
    else:
        row = _row(case, text)
    return Standing(case, status, fence, attempts, worker, row)


def params_of(text: str) -> dict[str, Any]:
    """The parameters of a case; none where they are not what they should be, which is not for whoever looks to mend."""
    found: Any = orjson.loads(text)
    if isinstance(found, dict):
        return cast("dict[str, Any]", found)
    return {}


def _row(case: Case, text: str | None) -> ResultRow:
    try:
        data: Any = orjson.loads(text or "null")
        if _has_shape(data):
            return ResultRow.from_json(data)
    except UNSOUND:
        pass
    return ResultRow(case.number, case.key, case.params, "failed", findings=(_NOT_SOUND.to_json(),))


def _has_shape(data: Any) -> bool:
    """Of what is shown of a row; the rest is passed on as it is."""
    return (
        isinstance(data["outputs"], dict)
        and all(isinstance(of, dict) for of in data["outputs"].values())
        and isinstance(data["findings"], list)
        and all(isinstance(finding, dict) for finding in data["findings"])
        and isinstance(data["times"], dict)
        and all(isinstance(seconds, int | float) for seconds in data["times"].values())
        and isinstance(data["location"], str | None)
        and isinstance(data["scene_hash"], str | None)
    )
