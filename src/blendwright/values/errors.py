"""The exceptions of Blendwright: one small tree.

Errors are findings until a promise is broken. An exception stops the current work.

    BlendwrightError
    ├── Refusal              findings prevented a call; it changed nothing
    ├── StepError            one finding inside a step; Blendwright reverts the step
    ├── WorkerError          the Blender process, as seen from the core
    │   ├── WorkerLost       it died
    │   ├── DeadlinePassed   the core killed it at its deadline
    │   ├── Cancelled        the core killed it because the caller cancelled
    │   ├── ProtocolBreach   it sent something that the wire protocol does not allow
    │   └── WorkerFault      it answered with an error, with a `code`
    ├── RebuildFailed        Blendwright could not restore the scene
    ├── JournalError         the journal refused a write, or is inconsistent
    └── EnvironmentUnfit     Blender or the workspace is unusable here
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, sentence


class BlendwrightError(Exception):
    """Base of all exceptions of Blendwright; `cure` is the fix, `details` is data for machines."""

    def __init__(self, message: str, *, cure: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.cure = cure
        self.details: dict[str, Any] = dict(details or {})


class Refusal(BlendwrightError):
    """The refusal of a call or plan before anything ran.

    Without a given cure, it uses the first cure among its findings.
    """

    def __init__(self, findings: Sequence[Finding], *, cure: str | None = None) -> None:
        first = next((finding.cure for finding in findings if finding.cure), None)
        super().__init__(sentence(findings), cure=cure or first)
        self.findings = tuple(findings)

    @classmethod
    def of(cls, fault: Fault, message: str, cure: str | None = None) -> Refusal:
        """Return a refusal with one finding, which has no location in a document."""
        return cls([Finding(fault, message, "", cure)])


class StepError(BlendwrightError):
    """A finding that ends a step; the `Scene` port or a tool raises it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message, cure=finding.cure)
        self.finding = finding

    @classmethod
    def of(cls, fault: Fault, message: str, *, at: str = "", cure: str | None = None) -> StepError:
        return cls(Finding(fault, message, at, cure))


class WorkerError(BlendwrightError):
    """A failure of the worker process."""


class WorkerLost(WorkerError):
    """The worker died."""


class DeadlinePassed(WorkerError):
    """The worker ran past its deadline and was killed."""


class Cancelled(WorkerError):
    """The caller cancelled and the worker was killed."""


class ProtocolBreach(WorkerError):
    """The worker sent something that the wire does not allow."""


class WorkerFault(WorkerError):
    """An error that the worker reported."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class RebuildFailed(BlendwrightError):
    """A rebuild from checkpoint and redo gave another scene hash than expected."""


class JournalError(BlendwrightError):
    """The journal refused a write and stored nothing of it, or its stored data contradicts itself."""


class EnvironmentUnfit(BlendwrightError):
    """The environment must be fixed before anything can run."""
