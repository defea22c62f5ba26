"""The contract of a session as it is used: negotiated once Blender is known, kept in the journal, and asked before every call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from blendwright.policy.gate import of_arguments, tool_gate
from blendwright.policy.limits import Limits
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import (
    Negotiation,
    Proposal,
    Registry,
    SessionContract,
    Terms,
    agree,
    negotiate,
    other_blender,
    outdated,
    proposal_of,
    registry,
)
from blendwright.records.journal_port import JournalPort
from blendwright.run.invocation import Invocation
from blendwright.run.keys import new_id
from blendwright.run.live_scene import LiveScene
from blendwright.tool_api.effects import Determinism, Isolation
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.registry import tool_registry
from blendwright.values.errors import Refusal
from blendwright.values.findings import Finding
from blendwright.wire.profiles import WorkerProfile

NO_MACROS = registry("1", {})
# More than this does not fit the wire, nor any plan.
LARGEST = Limits().payload_bytes


class ContractDraft:
    """What a session is to be held to, before Blender is known. Raises Refusal when there can be no contract, whatever the Blender."""

    def __init__(
        self,
        tools: Iterable[AnyTool],
        *,
        proposal: Proposal | None = None,
        policy: Policy | None = None,
        macros: Registry = NO_MACROS,
        earlier: SessionContract | None = None,
        session_id: str | None = None,
    ) -> None:
        """`earlier` is a contract from before that must still hold: what it names must be the same, and no limit is raised above it."""
        self.session_id = session_id or new_id()
        self.earlier = earlier
        self._proposal = proposal if earlier is None else proposal_of(earlier)
        self._proposal = self._proposal or Proposal()
        self._policy = policy or Policy()
        self._tools = tuple(tools)
        self._macros = macros
        terms = agree(self._proposal, self._policy)
        if isinstance(terms, tuple):
            raise Refusal(terms)
        self.terms: Terms = terms
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
        findings = () if self.earlier is None else tuple(other_blender(self.earlier, lasting))
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
        return made


class ActiveContract:
    """The contract of one open scene."""

    def __init__(self, offer: ContractDraft, scene: LiveScene, journal: JournalPort) -> None:
        self._offer = offer
        self._scene = scene
        self._journal = journal
        self._contract: SessionContract | None = None
        # A plan of thousands of operations has a handful of tools.
        self._of_tools: dict[tuple[str, str, tuple[str, ...], Isolation], tuple[Finding, ...]] = {}

    @property
    def terms(self) -> Terms:
        """What holds whatever Blender it is."""
        return self._offer.terms

    @property
    def fingerprint(self) -> str | None:
        """Of the contract, once there is one."""
        return None if self._contract is None else self._contract.fingerprint

    def contract(self) -> SessionContract:
        """Starts Blender when need be, which is asked what it is; kept in the journal before anything is done under it. Raises Refusal."""
        if self._contract is None:
            made = self._offer.contract(self._scene.profile)
            kept = made.model_dump(mode="json", exclude={"session_id"})
            self._journal.keep_contract(made.session_id, made.fingerprint, kept)
            self._contract = made
        return self._contract

    def objections(self, call: Invocation, determinism: Determinism | None = None) -> Iterator[Finding]:
        """Phase 2: everything that the contract says against a call."""
        contract = self.contract()
        tool, model = call.tool, call.model
        known = (tool.name, call.safety_level, tool.capabilities_for(model), tool.isolation_for(model))
        if known not in self._of_tools:
            self._of_tools[known] = tuple(tool_gate(contract, contract.blender, tool, model, call.safety_level))
        yield from self._of_tools[known]
        size = payload_bytes(call.args) if contract.limits.payload_bytes < LARGEST else 0
        yield from of_arguments(contract.demanding(determinism), call.tool, call.model, size)


def payload_bytes(args: Mapping[str, Any]) -> int:
    try:
        return len(orjson.dumps(args))
    except TypeError:
        return 0  # an integer beyond 64 bits, which the arguments' own schema has let pass
