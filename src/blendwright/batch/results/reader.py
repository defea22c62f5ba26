"""The read-only interface to a table of results, for the console. `ResultsView` implements it for SQLite, and the fleet for Postgres.

The reader shows a manipulated row as a failed case, and still shows the other rows of the page.
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

# Longer messages are cut to this number of characters.
LONGEST_MESSAGE = 300
# Exceptions that invalid data causes.
UNSOUND = (ValueError, TypeError, LookupError, AttributeError, EnvironmentUnfit)
_NOT_SOUND = Finding(
    Fault.SCHEMA_INVALID,
    "its row in the table of results is invalid and cannot be shown",
    "",
    "The row was changed. Restore the table from a backup, or run the case again.",
)


@dataclass(frozen=True, slots=True)
class FailureReason:
    """A number of failed cases whose first finding is the same."""

    code: str
    message: str
    cases: int


class ResultsReader(Protocol):
    """A reader of a table of results, which never writes. Its methods raise EnvironmentUnfit if the table cannot be read now."""

    @property
    def pause(self) -> float:
        """Return for how many seconds counts stay valid, because counting is slow; 0 if counting is fast."""
        ...

    def version(self) -> object:
        """Return a value that changes whenever another process may have written to the table."""
        ...

    def batch(self) -> tuple[Batch, str] | None:
        """Return the batch that was run last and the time of its first run, or None if there is no batch."""
        ...

    def counts(self, batch: str) -> Counts: ...

    def page(
        self, batch: str, *, offset: int, limit: int, status: CaseStatus | None = None
    ) -> tuple[int, list[Standing]]:
        """Return the number of cases and one page of them, ordered by number. `status` selects cases of one status."""
        ...

    def standing(self, number: int) -> Standing | None: ...

    def failure_reasons(self, batch: str) -> Sequence[FailureReason]:
        """Return the reasons of failed cases, the most frequent first."""
        ...


def shown_standing(
    case: Case, status: CaseStatus, fence: int, attempts: int, worker: str, text: str | None
) -> Standing:
    """Return the state of a case. A finished case includes its row, which is parsed from `text`."""
    row = None
    if status not in ("waiting", "running"):
        row = _row(case, text)
    return Standing(case, status, fence, attempts, worker, row)


def params_of(text: str) -> dict[str, Any]:
    """Return the parameters of a case from JSON, or no parameters if they are not an object."""
    params: Any = orjson.loads(text)
    if isinstance(params, dict):
        return cast("dict[str, Any]", params)
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
    """Return whether the fields of a row that the console shows have the right types. It passes other fields on unchecked."""
    return (
        isinstance(data["outputs"], dict)
        and all(isinstance(output, dict) for output in data["outputs"].values())
        and isinstance(data["findings"], list)
        and all(isinstance(finding, dict) for finding in data["findings"])
        and isinstance(data["times"], dict)
        and all(isinstance(seconds, int | float) for seconds in data["times"].values())
        and isinstance(data["location"], str | None)
        and isinstance(data["scene_hash"], str | None)
    )
