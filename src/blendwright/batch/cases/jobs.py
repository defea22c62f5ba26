"""The jobs of a batch's open cases, each with the prefixes that its case shares with other cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from blendwright.batch.cases.case import Case
from blendwright.batch.cases.case_runner import case_plan
from blendwright.batch.cases.prefixes import Sharing, jobs_with_prefixes
from blendwright.batch.definition import Batch
from blendwright.batch.engines.engine import Job
from blendwright.values.plan import Plan
from blendwright.workspace.settings import WorkspaceSettings


def jobs_of(
    batch: Batch, settings: WorkspaceSettings, cases: Iterable[Case], go_on: Callable[[], bool]
) -> Iterator[Job]:
    """Yield a job for each case. `go_on` returns whether the search for shared prefixes still pays.

    Cases of a plan have no parameters, so their jobs have no prefixes."""
    if not batch.source.is_program:
        return (Job(batch.id, case.key) for case in cases)
    names = (*settings.tools, *settings.macros)

    def plan_of(case: Case) -> Plan:
        return case_plan(batch.source, case.params, batch.request_id, names)

    return jobs_with_prefixes(batch.id, cases, plan_of, Sharing(settings.tools, settings.macros), go_on)
