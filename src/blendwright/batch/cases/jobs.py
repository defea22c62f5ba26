"""From the open cases of a batch to jobs for an engine, each with the beginnings that it shares with others."""

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
    """`go_on` says whether looking for what is shared is still worth its time; a plan has no parameters to differ by."""
    if not batch.source.is_program:
        return (Job(batch.id, case.key) for case in cases)
    names = (*settings.tools, *settings.macros)

    def plan_of(case: Case) -> Plan:
        return case_plan(batch.source, case.params, batch.request_id, names)

    return jobs_with_prefixes(batch.id, cases, plan_of, Sharing(settings.tools, settings.macros), go_on)
