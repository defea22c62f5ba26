"""The session contract and its negotiation: who calls which Blender, with which tools, under which constraints.

The functions are pure: equal input in any order gives a byte-equal contract. Limits only tighten. The negotiation refuses
an unknown feature or capability by name, and omits a feature that the policy denies.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from blendwright.policy.host_profile import HostProfile
from blendwright.policy.policy import (
    AuditSettings,
    Constraints,
    CostsAsked,
    Idempotency,
    Limits,
    LimitsAsked,
    Policy,
    Rules,
    Verdict,
    tightened,
)
from blendwright.policy.refusals import refusal
from blendwright.tool_api.promises import CAPABILITIES, Determinism, strictest
from blendwright.tool_api.tool import AnyTool
from blendwright.util.canonical import digest, stable_json
from blendwright.values.findings import Finding, pointer_of
from blendwright.wire.blender_profile import BlenderProfile

CONTRACT_VERSION = "1.0"
# The supported range, tested with 4.2, 4.5 and 5.0. BLENDER_MAX is the first version that is too new: an untested one.
BLENDER_MIN = (4, 2, 0)
BLENDER_MAX = (6, 0, 0)
FEATURES: dict[str, str] = {
    "network": "tools that reach other machines",
    "trusted_python": "Python without confinement, each piece of code allowed by a person",
    "ui_optional": "tools that use Blender's user interface, where there is one",
    "unsafe_ops": "tools that call context-dependent operators",
}

# The deadlines of single calls, which a host waits for.
WAITED_FOR: tuple[str, ...] = ("call_seconds", "code_seconds", "render_seconds")

Version = tuple[int, int, int]
Names = Annotated[tuple[str, ...], AfterValidator(lambda names: tuple(sorted(set(names))))]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class Registry(_Part):
    """A reference to a catalogue. `entries` has a fingerprint for each name, so that messages can name a difference."""

    version: str
    fingerprint: str
    entries: dict[str, str]


class Proposal(_Part):
    """The requests of a host in the negotiation. Null requests everything that the policy grants."""

    contract_version: str = Field(
        default=CONTRACT_VERSION, description="The version of the contract that the host speaks."
    )
    host: HostProfile = HostProfile.model_construct()
    features: Names | None = Field(default=None, description="Feature flags: " + ", ".join(FEATURES) + ".")
    capabilities: Names | None = Field(default=None, description="What tools may need: a part of what there is.")
    limits: LimitsAsked = LimitsAsked.model_construct()
    constraints: CostsAsked = CostsAsked.model_construct()
    determinism: Determinism | None = Field(default=None, description="The weakest class of results that is accepted.")
    idempotency: Idempotency | None = Field(
        default=None, description="'strict': a known operation whose effect was taken back since is a conflict."
    )
    blender_min: Version | None = Field(default=None, description="The oldest Blender that the host accepts.")
    blender_max: Version | None = Field(default=None, description="The first Blender that is too new for it.")


class Negotiation(_Part):
    """The input of a negotiation: the proposal, the policy, the Blender and the registries."""

    session_id: Annotated[str, Field(min_length=1, max_length=200)]
    proposal: Proposal
    policy: Policy
    blender: BlenderProfile
    tool_registry: Registry
    macro_registry: Registry


class Agreed(Constraints):
    """The constraints of a contract: the limits of work, the demands on results, and the policy's rules for calls."""

    rules: Rules = Rules.model_construct()


class ContractTerms(_Part):
    """The terms of a contract that do not depend on the Blender. The core knows them before it starts one."""

    host: HostProfile = HostProfile.model_construct()
    capabilities: Names = tuple(sorted(CAPABILITIES))
    constraints: Agreed = Agreed.model_construct()
    limits: Limits = Limits.model_construct()
    audit: AuditSettings = AuditSettings.model_construct()
    ui_optional: bool = False

    def demanding(self, determinism: Determinism | None) -> Self:
        """Return the terms for a run or call that demands a class of results. A demand never weakens the session's own."""
        if determinism is None or determinism is Determinism.NONDETERMINISTIC:
            return self
        stricter = strictest(self.constraints.determinism, determinism)
        if stricter is self.constraints.determinism:
            return self
        constraints = self.constraints.model_copy(update={"determinism": stricter})
        return self.model_copy(update={"constraints": constraints})

    def in_background(self) -> Self:
        """Return the terms for a run in the background: one deadline for the run and for each of its calls.

        No client waits for such a run, so the deadlines of single calls do not apply.
        """
        deadlines = dict.fromkeys((*WAITED_FOR, "run_seconds"), self.constraints.background_seconds)
        constraints = self.constraints.model_copy(update=deadlines)
        return self.model_copy(update={"constraints": constraints})

    def seconds_for(self, tool: AnyTool) -> float:
        """Return the deadline of one call of a tool in seconds."""
        return getattr(self.constraints, tool.time_limit)


class SessionContract(ContractTerms):
    """The agreement of both sides of a session: its terms, its Blender and its registries."""

    contract_version: str
    session_id: str
    blender: BlenderProfile
    tool_registry: Registry
    macro_registry: Registry
    fingerprints: dict[str, str]
    """A fingerprint for each part that a host may compare. `contract` covers all parts except the session's id."""

    @property
    def fingerprint(self) -> str:
        return self.fingerprints["contract"]

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    def to_bytes(self) -> bytes:
        return stable_json(self.to_json())


def agree(proposal: Proposal, policy: Policy) -> ContractTerms | tuple[Finding, ...]:
    """Return the terms that a host and a policy agree on before a Blender starts, or all findings against a contract."""
    findings = tuple(_objections(proposal))
    if findings:
        return findings

    rules = _granted(policy.policy, proposal.features)
    host = proposal.host
    costs = tightened(policy.constraints, proposal.constraints, dict.fromkeys(WAITED_FOR, host.call_seconds))
    demands: dict[str, Any] = {
        "determinism": strictest(policy.constraints.determinism, proposal.determinism),
        "idempotency": max(policy.constraints.idempotency, proposal.idempotency or "recorded"),  # in this order
        "rules": rules,
    }
    if proposal.capabilities is None:
        capabilities = tuple(sorted(CAPABILITIES))
    else:
        capabilities = proposal.capabilities

    # Pydantic has validated both sides, so the stricter value of the two needs no second validation.
    return ContractTerms.model_construct(
        host=host,
        capabilities=capabilities,
        constraints=Agreed.model_construct(**dict(costs) | demands),
        limits=tightened(policy.limits, proposal.limits, {"payload_bytes": host.payload_bytes}),
        audit=policy.audit,
        ui_optional=rules.modes.ui_assisted is not Verdict.DENY,
    )


def negotiate(negotiation: Negotiation) -> SessionContract | tuple[Finding, ...]:
    """Return the contract, or all findings against it."""
    terms = agree(negotiation.proposal, negotiation.policy)
    range_findings = tuple(_blender_range(negotiation))
    if isinstance(terms, tuple):
        return terms + range_findings
    if range_findings:
        return range_findings

    fields: dict[str, Any] = {name: getattr(terms, name) for name in ContractTerms.model_fields} | {
        "contract_version": CONTRACT_VERSION,
        "blender": negotiation.blender,
        "tool_registry": negotiation.tool_registry,
        "macro_registry": negotiation.macro_registry,
    }
    bare = SessionContract(**fields, session_id=negotiation.session_id, fingerprints={})
    return bare.model_copy(update={"fingerprints": _fingerprints(bare.to_json())})


def _fingerprints(contract: Mapping[str, Any]) -> dict[str, str]:
    """Return the fingerprints of a contract's content. They do not depend on the fingerprints that it states."""
    parts = {name: part for name, part in contract.items() if name not in ("session_id", "fingerprints")}
    return {
        "blender": digest(parts["blender"]),
        "contract": digest(parts),
        "host": digest(parts["host"]),
        "macro_registry": digest(parts["macro_registry"]["entries"]),
        "policy": digest([parts["constraints"], parts["limits"], parts["audit"]]),
        "tool_registry": digest(parts["tool_registry"]["entries"]),
    }


def other_version(version: str) -> Iterator[Finding]:
    """Yield a finding if this Blendwright does not support a version of the contract."""
    if version.partition(".")[0] != CONTRACT_VERSION.partition(".")[0]:
        message = f"contract_version {version[:100]} is not spoken here"
        finding = refusal("contract_version", message, "/contract_version", known=CONTRACT_VERSION)
        yield replace(finding, expected=CONTRACT_VERSION, actual=version[:100])


def edited(contract: SessionContract) -> Iterator[Finding]:
    """Yield a finding for each fingerprint of a contract that does not match its content.

    Such a contract has changed since the negotiation.
    """
    document = contract.to_json()
    expected_fingerprints = _fingerprints(document)

    # The expected and the stated fingerprint for each JSON pointer.
    pairs: dict[str, tuple[str, str | None]] = {}
    for name, expected in expected_fingerprints.items():
        pairs[pointer_of(("fingerprints", name))] = (expected, contract.fingerprints.get(name))
    for name in ("tool_registry", "macro_registry"):
        pairs[pointer_of((name, "fingerprint"))] = (expected_fingerprints[name], document[name]["fingerprint"])

    for pointer, (expected, actual) in pairs.items():
        if actual != expected:
            message = f"the contract has {str(actual)[:12]} at {pointer}, and its content gives {expected[:12]}"
            finding = refusal("contract_edited", message, pointer)
            yield replace(finding, expected=expected, actual=str(actual)[:100])


def proposal_of(contract: SessionContract) -> Proposal:
    """Return the proposal of a host that wants a contract again. It never requests more than the contract granted."""
    rules = contract.constraints.rules
    features = {
        "network": rules.network == "allow",
        "trusted_python": rules.trusted_python == "ask",
        "ui_optional": contract.ui_optional,
        "unsafe_ops": rules.modes.unsafe_ops is not Verdict.DENY,
    }
    costs = contract.constraints.model_dump(include=set(CostsAsked.model_fields))
    return Proposal(
        contract_version=contract.contract_version,
        host=contract.host,
        features=tuple(name for name, granted in features.items() if granted),
        capabilities=contract.capabilities,
        limits=LimitsAsked(**contract.limits.model_dump()),
        constraints=CostsAsked(**costs),
        determinism=contract.constraints.determinism,
        idempotency=contract.constraints.idempotency,
    )


def outdated(contract: SessionContract, tools: Registry, macros: Registry) -> Iterator[Finding]:
    """Yield a finding for each tool or macro that changed in the registries since the negotiation of a contract."""
    registries = (("tool", contract.tool_registry, tools), ("macro", contract.macro_registry, macros))
    for word, previous, current in registries:
        if previous.fingerprint == current.fingerprint:
            continue

        for name in sorted(previous.entries.keys() | current.entries.keys()):
            before = previous.entries.get(name)
            after = current.entries.get(name)
            if before == after:
                continue
            if before is None:
                change = "is new"
            elif after is None:
                change = "is gone"
            else:
                change = "has changed"
            message = f"the {word} {name} {change} since contract {contract.fingerprint[:12]}"
            finding = refusal("registry_changed", message, pointer_of((f"{word}_registry", "entries", name)))
            yield replace(finding, expected=before or "none", actual=after or "none")


def other_blender(contract: SessionContract, blender: BlenderProfile) -> Iterator[Finding]:
    """Yield a finding if a contract is for another Blender version."""
    if contract.blender.version != blender.version:
        expected = contract.blender.version_string
        actual = blender.version_string
        message = f"the contract is for Blender {expected}, and this one is {actual}"
        finding = refusal("blender_changed", message, "/blender/version")
        yield replace(finding, expected=expected, actual=actual)


def registry(version: str, hashes: Mapping[str, str]) -> Registry:
    """Return the reference to a catalogue. `hashes` has the hash of each declaration by its name."""
    entries = {name: hashes[name] for name in sorted(hashes)}
    return Registry(version=version, fingerprint=digest(entries), entries=entries)


def dotted(version: Version) -> str:
    return ".".join(str(part) for part in version)


def _objections(proposal: Proposal) -> Iterator[Finding]:
    yield from other_version(proposal.contract_version)
    yield from _unknown("feature_unknown", "feature flag", "features", proposal.features, FEATURES)
    yield from _unknown("capability_unknown", "capability", "capabilities", proposal.capabilities, CAPABILITIES)


def _unknown(
    rule: str, word: str, field: str, requested: Iterable[str] | None, supported: Mapping[str, str]
) -> Iterator[Finding]:
    for name in requested or ():
        if name not in supported:
            message = f"there is no {word} '{name[:100]}'"
            yield refusal(rule, message, pointer_of((field,)), known=", ".join(sorted(supported)))


def _granted(rules: Rules, features: tuple[str, ...] | None) -> Rules:
    """Return a copy of the rules that denies every feature that the host does not request."""
    if features is None:
        requested = frozenset(FEATURES)
    else:
        requested = frozenset(features)

    denied_modes: dict[str, Verdict] = {}
    if "ui_optional" not in requested:
        denied_modes["ui_assisted"] = Verdict.DENY
    if "unsafe_ops" not in requested:
        denied_modes["unsafe_ops"] = Verdict.DENY

    changes: dict[str, Any] = {
        "modes": rules.modes.model_copy(update=denied_modes),
        "network": rules.network,
        "trusted_python": rules.trusted_python,
    }
    if "network" not in requested:
        changes["network"] = "deny"
    if "trusted_python" not in requested:
        changes["trusted_python"] = "deny"
    return rules.model_copy(update=changes)


def _blender_range(negotiation: Negotiation) -> Iterator[Finding]:
    least = max(BLENDER_MIN, negotiation.proposal.blender_min or BLENDER_MIN)
    most = min(BLENDER_MAX, negotiation.proposal.blender_max or BLENDER_MAX)
    if not least <= negotiation.blender.version < most:
        message = f"Blender {negotiation.blender.version_string} is outside the range of this session"
        yield refusal("session_blender", message, "", least=dotted(least), most=dotted(most))
