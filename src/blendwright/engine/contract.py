"""The contract of a session: negotiated once Blender is known, stored in the journal, and checked before every
call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blendwright.engine.invocation import Invocation, new_id
from blendwright.engine.scene.host import SceneHost
from blendwright.journal import Journal
from blendwright.policy.objections import Objection, PathFindings, ProposedCall, Stage, approval_ruling, concerning
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import (
    ContractTerms,
    Negotiation,
    Proposal,
    Registry,
    SessionContract,
    agree,
    edited,
    negotiate,
    other_blender,
    other_version,
    outdated,
    proposal_of,
    registry,
)
from blendwright.tool_api.promises import Determinism
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.registry import tool_registry
from blendwright.values.errors import Refusal
from blendwright.values.findings import Finding
from blendwright.values.plan import Operation
from blendwright.wire.blender_profile import BlenderProfile, WorkerProfile

NO_MACROS = registry("1", {})


class ContractDraft:
    """The terms of a session before its Blender is known."""

    def __init__(
        self,
        tools: Mapping[str, AnyTool],
        *,
        proposal: Proposal | None = None,
        policy: Policy | None = None,
        macros: Registry = NO_MACROS,
        earlier: SessionContract | None = None,
        session_id: str | None = None,
    ) -> None:
        """Initialize the draft. Raises Refusal when no contract is possible with any Blender.

        `earlier` is a previous contract that must still hold: its names must be the same, and no limit may be
        higher than in it.
        """
        if earlier is not None:
            _refuse_edited(earlier)
        self.session_id = session_id or new_id()
        self.earlier = earlier
        if earlier is None:
            self._proposal = proposal
        else:
            self._proposal = proposal_of(earlier)
        self._proposal = self._proposal or Proposal()
        self._policy = policy or Policy()
        self._tools = tools
        self._macros = macros
        terms = agree(self._proposal, self._policy)
        if isinstance(terms, tuple):
            raise Refusal(terms)
        self.terms: ContractTerms = terms
        self._negotiated: tuple[BlenderProfile, SessionContract] | None = None
        if earlier is not None:
            self._refuse_outdated(earlier)

    def _refuse_outdated(self, earlier: SessionContract) -> None:
        findings = tuple(outdated(earlier, tool_registry(self._tools), self._macros))
        if findings:
            raise Refusal(findings)

    def for_host(self, proposal: Proposal) -> ContractDraft:
        """Return a draft with the same tools and policy for another host's proposal. Raises Refusal."""
        return ContractDraft(self._tools, proposal=proposal, policy=self._policy, macros=self._macros)

    def contract(self, blender: WorkerProfile) -> SessionContract:
        """Return the contract with this Blender. Raises Refusal."""
        lasting = blender.lasting
        if self._negotiated is not None and self._negotiated[0] == lasting:
            return self._negotiated[1]
        if self.earlier is None:
            findings = ()
        else:
            findings = tuple(other_blender(self.earlier, lasting))
        result = negotiate(
            Negotiation(
                session_id=self.session_id,
                proposal=self._proposal or Proposal(),
                policy=self._policy,
                blender=lasting,
                tool_registry=tool_registry(self._tools),
                macro_registry=self._macros,
            )
        )
        if isinstance(result, tuple):
            findings += result
        if findings or isinstance(result, tuple):
            raise Refusal(findings)
        self._negotiated = (lasting, result)
        return result


def _refuse_edited(contract: SessionContract) -> None:
    # Only this version's way to hash a contract is known here, so check the version first.
    findings = tuple(other_version(contract.contract_version)) or tuple(edited(contract))
    if findings:
        raise Refusal(findings)


@dataclass(frozen=True, slots=True)
class _ToolCheck:
    """The findings and objections that all similar calls of a tool share.

    `findings` do not depend on arguments; `by_arguments` are objections that do. `asks` is true when a person may
    have to allow such a call.
    """

    findings: tuple[Finding, ...]
    by_arguments: tuple[Objection, ...]
    asks: bool


class ActiveContract:
    """The contract of one open scene."""

    def __init__(self, draft: ContractDraft, scene: SceneHost, journal: Journal) -> None:
        self._draft = draft
        self._scene = scene
        self._journal = journal
        self.terms: ContractTerms = draft.terms
        """The terms that hold for every Blender."""
        self._contract: SessionContract | None = None
        # Cached, because a plan of thousands of operations uses only a few tools.
        self._tool_checks: dict[tuple[Any, ...], _ToolCheck] = {}
        self.fingerprint: str | None = None
        """Fingerprint of the contract, or None before negotiation."""

    def contract(self) -> SessionContract:
        """Return the contract of this scene; negotiate it at the first call. Raises Refusal.

        The first call starts Blender if necessary, to read its version, and stores the contract in the journal
        before any work.
        """
        if self._contract is None:
            contract = self._draft.contract(self._scene.profile)
            document = contract.model_dump(mode="json", exclude={"session_id"})
            self._journal.contracts.keep(contract.session_id, contract.fingerprint, document)
            self._contract = contract
            self.fingerprint = contract.fingerprint
        return self._contract

    def check(
        self,
        calls: Sequence[Invocation],
        operations: Mapping[str, Operation],
        path_findings: PathFindings,
        determinism: Determinism | None,
        *,
        background: bool = False,
    ) -> tuple[tuple[Finding, ...], bool]:
        """Check these calls against the contract, the policy and this Blender (phase 2).

        Return the findings, and whether a person may have to allow one of the calls. Raises Refusal, as `contract`
        does.
        """
        contract = self._contract or self.contract()
        if determinism is None:
            terms = contract
        else:
            terms = contract.demanding(determinism)
        if background:
            terms = terms.in_background()
        findings: list[Finding] = []
        asks = False
        for call in calls:
            operation = operations[call.operation_id]
            promises = call.promises
            proposed = ProposedCall(
                terms, call.tool, call.model, call.args, call.safety_level, contract.blender, path_findings
            )
            key = (call.tool.name, call.safety_level, determinism, promises.capabilities, promises.isolation)
            check = self._tool_checks.get(key)
            if check is None:
                check = self._tool_checks[key] = _tool_check(proposed, with_files=promises.with_files)
            asks = asks or check.asks
            findings += [operation.as_a_whole(finding) for finding in check.findings]
            for objection in check.by_arguments:
                if objection.in_arguments:
                    locate = operation.in_arguments
                else:
                    locate = operation.as_a_whole
                findings += [locate(finding) for finding in objection.find(proposed)]
        return tuple(findings), asks


def _tool_check(call: ProposedCall, *, with_files: bool) -> _ToolCheck:
    objections = concerning(call.tool, call.terms, Stage.BLENDER)
    findings: list[Finding] = []
    by_arguments: list[Objection] = []
    for objection in objections:
        if objection.by_arguments:
            by_arguments.append(objection)
        else:
            findings += objection.find(call)
    # The paths of files decide whether a call needs approval, so each call with files is checked.
    asks = with_files or approval_ruling(call.terms, call.tool, call.model, call.level) is not None
    return _ToolCheck(tuple(findings), tuple(by_arguments), asks)
