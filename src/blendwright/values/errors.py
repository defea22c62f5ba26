"""The exceptions of Blendwright: one small tree.

Errors are findings until a promise is broken; what is raised is what stops the work at hand.

    BlendwrightError
    ├── Refusal              findings kept a call from running; nothing was touched
    ├── StepError            one finding met inside a step; the step is reverted
    ├── WorkerError          the Blender process, as seen from the core
    │   ├── WorkerLost       it died
    │   ├── DeadlinePassed   it was killed because time was up
    │   ├── Cancelled        it was killed because the caller asked
    │   ├── ProtocolBreach   it spoke what the wire does not allow
    │   └── WorkerFault      it answered with an error; `code` says which
    ├── RebuildFailed        the scene could not be brought back to the state it had
    ├── JournalError         the journal refused a write, or does not hold together
    └── EnvironmentUnfit     Blender or the workspace cannot be used here
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, sentence


class BlendwrightError(Exception):
    """Anything that Blendwright raises; `cure` says what to do, `details` is data for machines."""

    def __init__(self, message: str, *, cure: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.cure = cure
        self.details: dict[str, Any] = dict(details or {})


class Refusal(BlendwrightError):
    """A call or plan was refused before anything ran. Its cure is that of the first finding that has one, unless one is given for all."""

    def __init__(self, findings: Sequence[Finding], *, cure: str | None = None) -> None:
        first = next((finding.cure for finding in findings if finding.cure), None)
        super().__init__(sentence(findings), cure=cure or first)
        self.findings = tuple(findings)

    @classmethod
    def of(cls, fault: Fault, message: str, cure: str | None = None) -> Refusal:
        """A refusal for one thing, which has no place in a document."""
        return cls([Finding(fault, message, "", cure)])


class StepError(BlendwrightError):
    """Raised by the `Scene` port or by a tool; carries the finding that ends the step."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message, cure=finding.cure)
        self.finding = finding

    @classmethod
    def of(cls, fault: Fault, message: str, *, at: str = "", cure: str | None = None) -> StepError:
        return cls(Finding(fault, message, at, cure))


class WorkerError(BlendwrightError):
    """The worker process could not do what was asked."""


class WorkerLost(WorkerError):
    """The worker died."""


class DeadlinePassed(WorkerError):
    """The worker ran past its deadline and was killed."""


class Cancelled(WorkerError):
    """The caller cancelled and the worker was killed."""


class ProtocolBreach(WorkerError):
    """The worker sent something that the wire does not allow."""


class WorkerFault(WorkerError):
    """The worker answered with an error of its own."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class RebuildFailed(BlendwrightError):
    """Checkpoint and redo did not lead to the hash they should."""


class JournalError(BlendwrightError):
    """The journal keeps its promises by refusing: nothing of the write took place, or what is stored contradicts itself."""


class EnvironmentUnfit(BlendwrightError):
    """Nothing can run here until the environment is mended."""
