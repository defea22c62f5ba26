"""Who is told how a story goes on, while it does. Every method may be left as it is: it does nothing."""

from __future__ import annotations

from blendwright.planner.feedback import AttemptFailure
from blendwright.planner.port import PlannerError
from blendwright.planner.proposal import PlanProposal
from blendwright.run.preview import Preview
from blendwright.values.report import OperationReport


class PlannerObserver:
    """Sees everything, says nothing."""

    def asking(self, attempt: int, attempts: int) -> None:
        """The model is about to be asked."""

    def service_failed(self, error: PlannerError, wait: float | None) -> None:
        """The service failed; it is asked again after `wait` seconds, or not at all."""

    def planned(self, proposal: PlanProposal) -> None:
        """There is a plan; nobody has checked it yet."""

    def previewing(self) -> None:
        """The plan is about to be tried on a copy."""

    def previewed(self, shown: Preview) -> None:
        """The plan would succeed."""

    def executing(self, proposal: PlanProposal) -> None:
        """The plan is about to be run."""

    def progressed(self, report: OperationReport) -> None:
        """An operation is durable."""

    def went_wrong(self, wrong: AttemptFailure) -> None:
        """The plan did not get through; the model is asked to repair it where that is left."""


SILENT = PlannerObserver()
