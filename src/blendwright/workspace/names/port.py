"""The port that answers "does this name exist?", and the findings about missing names in a plan.

Three sources implement it: the journal (without Blender), the Blender that holds the scene, and the window that a
person edits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from blendwright.plan.implied_order import Use
from blendwright.values.faults import Fault
from blendwright.values.findings import MOST_FINDINGS, Finding

Name = tuple[str, str]
"""The kind of a datablock and its name."""


class NameProblem(NamedTuple):
    """The reason why a plan cannot rely on a name."""

    fault: Fault
    message: str
    cure: str | None


class NameSource(Protocol):
    """A source that knows some or all names of a scene."""

    def problems(self, names: Sequence[Name]) -> Mapping[Name, NameProblem]:
        """Return the problems of these names.

        A name without a problem, or outside the source's knowledge, is missing in the result.
        """
        ...


def findings_about(uses: Iterable[Use], source: NameSource) -> tuple[Finding, ...]:
    """Return a finding, with its location in the plan, for each use of a name that has a problem."""
    all_uses = tuple(uses)
    names = tuple(dict.fromkeys((use.mention.kind, use.mention.name) for use in all_uses))
    if not names:
        return ()
    problems = source.problems(names)
    findings: list[Finding] = []
    for operation, mention in all_uses:
        problem = problems.get((mention.kind, mention.name))
        if problem is not None:
            finding = Finding(problem.fault, problem.message, mention.at, problem.cure)
            findings.append(operation.in_arguments(finding))
    return tuple(dict.fromkeys(findings))[:MOST_FINDINGS]
