"""The contract of a session as it is used: negotiated once Blender is known, kept in the journal, and asked before every call."""

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
    """What a session is to be held to, before Blender is known. Raises Refusal when there can be no contract, whatever the Blender."""

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
        """`earlier` is a contract from before that must still hold: what it names must be the same, and no limit is raised above it."""
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
        self._made: tuple[BlenderProfile, SessionContract] | None = None
        if earlier is not None:
            self._refuse_outdated(earlier)

    def _refuse_outdated(self, earlier: SessionContract) -> None:
        findings = tuple(outdated(earlier, tool_registry(self._tools), self._macros))
        if findings:
            raise Refusal(findings)

    def for_host(self, proposal: Proposal) -> ContractDraft:
        """The same to another host. Raises Refusal."""
        return ContractDraft(self._tools, proposal=proposal, policy=self._policy, macros=self._macros)

    def contract(self, blender: WorkerProfile) -> SessionContract:
        """The contract with this Blender. Raises Refusal."""
        lasting = blender.lasting
        if self._made is not None and self._made[0] == lasting:
            return self._made[1]
        if self.earlier is None:
            findings = ()
        else:
            findings = tuple(other_blender(self.earlier, lasting))
        made = negotiate(
            Negotiation(
                session_id=self.session_id,
                proposal=self._proposal or Proposal(),
                policy=self._policy,
                blender=lasting,
                tool_registry=tool_registry(self._tools),
                macro_registry=self._macros,
            )
        )
        if findings or isinstance(made, tuple):
            raise Refusal(findings + (made if isinstance(made, tuple) else ()))
        self._made = (lasting, made)
        return made


def _refuse_edited(contract: SessionContract) -> None:
    # How one of another version was hashed is not known here.
    findings = tuple(other_version(contract.contract_version)) or tuple(edited(contract))
    if findings:
        raise Refusal(findings)


@dataclass(frozen=True, slots=True)
class _ToolCheck:
    """What is known of all calls of a tool that need the same: the findings of the objections that do not depend on single arguments,
    and the objections that do. `asks` says whether a person may have to allow such a call."""

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
        """What holds whatever Blender it is."""
        self._contract: SessionContract | None = None
        # A plan of thousands of operations has a handful of tools.
        self._tool_checks: dict[tuple[Any, ...], _ToolCheck] = {}
        self.fingerprint: str | None = None
        """Of the contract, once there is one."""

    def contract(self) -> SessionContract:
        """Starts Blender when need be, which is asked what it is; kept in the journal before anything is done under it. Raises Refusal."""
        if self._contract is None:
            made = self._draft.contract(self._scene.profile)
            document = made.model_dump(mode="json", exclude={"session_id"})
            self._journal.contracts.keep(made.session_id, made.fingerprint, document)
            self._contract = made
            self.fingerprint = made.fingerprint
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
        """Phase 2: everything that contract, policy and this very Blender say against these calls, and whether a person may have to
        allow one of them. Raises Refusal, as `contract` does."""
        contract = self._contract or self.contract()
        if determinism is None:
            terms = contract
        else:
            terms = contract.demanding(determinism)
        if background:
            terms = terms.in_background()
        findings, asks = list[Finding](), False
        for call in calls:
            operation, promises = operations[call.operation_id], call.promises
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
    lines = concerning(call.tool, call.terms, Stage.BLENDER)
    fixed = [finding for line in lines if not line.by_arguments for finding in line.find(call)]
    # Where files lie decides about each call by itself.
    asks = with_files or approval_ruling(call.terms, call.tool, call.model, call.level) is not None
    return _ToolCheck(tuple(fixed), tuple(line for line in lines if line.by_arguments), asks)
