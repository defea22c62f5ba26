"""Observes a planner run while it goes on. Every method may be left as it is: it does nothing."""

from __future__ import annotations

from blendwright.planner.feedback import AttemptFailure
from blendwright.planner.port import PlannerError
from blendwright.planner.proposal import PlanProposal
from blendwright.run.preview import Preview
from blendwright.values.report import OperationReport


class PlannerObserver:
    """Observes nothing; override what you need."""

    def requesting(self, attempt: int, attempts: int) -> None:
        """The model is about to be called."""

    def service_failed(self, error: PlannerError, wait: float | None) -> None:
        """The service failed; it is called again after `wait` seconds, or not at all."""

    def planned(self, proposal: PlanProposal) -> None:
        """There is a plan; nobody has checked it yet."""

    def previewing(self) -> None:
        """The plan is about to be tried on a copy."""

    def previewed(self, preview: Preview) -> None:
        """The plan would succeed."""

    def executing(self, proposal: PlanProposal) -> None:
        """The plan is about to be run."""

    def progressed(self, report: OperationReport) -> None:
        """An operation is durable."""

    def attempt_failed(self, failure: AttemptFailure) -> None:
        """The plan was not carried through; the model is asked to repair it while attempts are left."""


SILENT = PlannerObserver()
