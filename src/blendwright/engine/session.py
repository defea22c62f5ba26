"""The engine for one scene under one contract. Callers that run plans or calls hold one session."""

from __future__ import annotations

from collections.abc import Mapping

from blendwright.approvals.ask import Approvals
from blendwright.engine.contract import ActiveContract, ContractDraft
from blendwright.engine.files.access import FileAccess
from blendwright.engine.ledger import Ledger
from blendwright.engine.scene.host import SceneHost
from blendwright.journal import Journal
from blendwright.macros import Macro
from blendwright.policy.session_contract import Proposal
from blendwright.tool_api.tool import AnyTool
from blendwright.values.approval import NOBODY, Approver
from blendwright.values.events import Observer, silent


class Session:
    """The objects that a run needs. A preview has other `files` and `approvals` than its session."""

    def __init__(
        self,
        scene: SceneHost,
        journal: Journal,
        tools: Mapping[str, AnyTool],
        draft: ContractDraft,
        files: FileAccess,
        *,
        macros: Mapping[str, Macro] | None = None,
        approver: Approver = NOBODY,
        approvals: Approvals | None = None,
        observe: Observer = silent,
    ) -> None:
        self.scene = scene
        self.journal = journal
        self.tools = tools
        self.draft = draft
        self.files = files
        self.macros: Mapping[str, Macro] = macros or {}
        self.approver = approver
        self.approvals = approvals or Approvals(journal, files)
        self.observe = observe
        self.contract = ActiveContract(draft, scene, journal)
        self.ledger = Ledger(journal, scene, self.contract)
        self.exclusive = scene.exclusive_runner(self.ledger, files)

    def for_host(self, proposal: Proposal) -> Session:
        """Return a session for the same scene under a contract with another host. Raises Refusal when no contract
        is possible.
        """
        return Session(
            self.scene, self.journal, self.tools, self.draft.for_host(proposal), self.files,
            macros=self.macros, approver=self.approver, observe=self.observe,
        )  # fmt: skip
