"""The session contract and its negotiation: who calls which Blender, with which tools, under which constraints.

Pure: equal input, in whatever order, gives a byte-equal contract. Limits only tighten. What a host asks for and does not exist is
refused by name; what exists and the policy denies is left out.
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
# Proven on 4.2, 4.5 and 5.0; the first that is too new is one that nobody has tried.
BLENDER_MIN = (4, 2, 0)
BLENDER_MAX = (6, 0, 0)
FEATURES: dict[str, str] = {
    "network": "tools that reach other machines",
    "trusted_python": "Python without confinement, each piece of code allowed by a person",
    "ui_optional": "tools that use Blender's user interface, where there is one",
    "unsafe_ops": "tools that call context-dependent operators",
}

# The deadlines of single calls: a host waits for each of them.
WAITED_FOR: tuple[str, ...] = ("call_seconds", "code_seconds", "render_seconds")

Version = tuple[int, int, int]
Names = Annotated[tuple[str, ...], AfterValidator(lambda names: tuple(sorted(set(names))))]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class Registry(_Part):
    """A catalogue by reference. `entries` has the fingerprint of each, so that a difference can be named."""

    version: str
    fingerprint: str
    entries: dict[str, str]


class Proposal(_Part):
    """What a host brings to the negotiation. Null asks for all that the policy grants."""

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
    """Everything that a contract is made of."""

    session_id: Annotated[str, Field(min_length=1, max_length=200)]
    proposal: Proposal
    policy: Policy
    blender: BlenderProfile
    tool_registry: Registry
    macro_registry: Registry


class Agreed(Constraints):
    """The constraints of a contract: what work may cost, what results must be, and what the policy says to calls."""

    rules: Rules = Rules.model_construct()


class ContractTerms(_Part):
    """What holds whatever Blender is used: known before one is started."""

    host: HostProfile = HostProfile.model_construct()
    capabilities: Names = tuple(sorted(CAPABILITIES))
    constraints: Agreed = Agreed.model_construct()
    limits: Limits = Limits.model_construct()
    audit: AuditSettings = AuditSettings.model_construct()
    ui_optional: bool = False

    def demanding(self, determinism: Determinism | None) -> Self:
        """The same terms for a run or call that demands a class of results; a demand never weakens that of the session."""
        if determinism is None or determinism is Determinism.NONDETERMINISTIC:
            return self
        stricter = strictest(self.constraints.determinism, determinism)
        if stricter is self.constraints.determinism:
            return self
        return self.model_copy(update={"constraints": self.constraints.model_copy(update={"determinism": stricter})})

    def in_background(self) -> Self:
        """The same terms for a run in the background, which nobody waits for: one limit for all of it and for each of its calls."""
        seconds = dict.fromkeys((*WAITED_FOR, "run_seconds"), self.constraints.background_seconds)
        return self.model_copy(update={"constraints": self.constraints.model_copy(update=seconds)})

    def seconds_for(self, tool: AnyTool) -> float:
        """How long one call of a tool may take."""
        return getattr(self.constraints, tool.time_limit)


class SessionContract(ContractTerms):
    """What both sides of a session hold to."""

    contract_version: str
    session_id: str
    blender: BlenderProfile
    tool_registry: Registry
    macro_registry: Registry
    fingerprints: dict[str, str]
    """One for each part that others may compare, and `contract` for all of it except the session's id."""

    @property
    def fingerprint(self) -> str:
        return self.fingerprints["contract"]

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    def to_bytes(self) -> bytes:
        return stable_json(self.to_json())


def agree(proposal: Proposal, policy: Policy) -> ContractTerms | tuple[Finding, ...]:
    """What can be settled before Blender is started: the terms, or everything that speaks against a contract."""
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
    # Both sides are validated: what is the stricter of the two needs no second look.
    return ContractTerms.model_construct(
        host=host,
        capabilities=tuple(sorted(CAPABILITIES)) if proposal.capabilities is None else proposal.capabilities,
        constraints=Agreed.model_construct(**dict(costs) | demands),
        limits=tightened(policy.limits, proposal.limits, {"payload_bytes": host.payload_bytes}),
        audit=policy.audit,
        ui_optional=rules.modes.ui_assisted is not Verdict.DENY,
    )


def negotiate(negotiation: Negotiation) -> SessionContract | tuple[Finding, ...]:
    """The contract, or everything that speaks against one."""
    terms = agree(negotiation.proposal, negotiation.policy)
    findings = (terms if isinstance(terms, tuple) else ()) + tuple(_blender_range(negotiation))
    if findings or isinstance(terms, tuple):
        return findings
    fields: dict[str, Any] = {name: getattr(terms, name) for name in ContractTerms.model_fields} | {
        "contract_version": CONTRACT_VERSION,
        "blender": negotiation.blender,
        "tool_registry": negotiation.tool_registry,
        "macro_registry": negotiation.macro_registry,
    }
    bare = SessionContract(**fields, session_id=negotiation.session_id, fingerprints={})
    return bare.model_copy(update={"fingerprints": _fingerprints(bare.to_json())})


def _fingerprints(contract: Mapping[str, Any]) -> dict[str, str]:
    """Of the content that a contract has, whatever it says of itself."""
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
    """Where a contract, or who proposes one, is of a version that is not spoken here."""
    if version.partition(".")[0] != CONTRACT_VERSION.partition(".")[0]:
        message = f"contract_version {version[:100]} is not spoken here"
        found = refusal("contract_version", message, "/contract_version", known=CONTRACT_VERSION)
        yield replace(found, expected=CONTRACT_VERSION, actual=version[:100])


def edited(contract: SessionContract) -> Iterator[Finding]:
    """Where a contract does not have the fingerprints of its own content: somebody has changed it since it was made."""
    document = contract.to_json()
    expected, given = _fingerprints(document), contract.fingerprints
    stated = {pointer_of(("fingerprints", name)): (right, given.get(name)) for name, right in expected.items()}
    for name in ("tool_registry", "macro_registry"):
        stated[pointer_of((name, "fingerprint"))] = (expected[name], document[name]["fingerprint"])
    for pointer, (right, actual) in stated.items():
        if actual != right:
            message = f"the contract has {str(actual)[:12]} at {pointer}, and its content gives {right[:12]}"
            found = refusal("contract_edited", message, pointer)
            yield replace(found, expected=right, actual=str(actual)[:100])


def proposal_of(contract: SessionContract) -> Proposal:
    """What a host asks for who wants a contract again: never more than it had."""
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
    """What has changed in the registries since a contract was made; each difference by name."""
    for word, then, now in (("tool", contract.tool_registry, tools), ("macro", contract.macro_registry, macros)):
        if then.fingerprint == now.fingerprint:
            continue
        for name in sorted(then.entries.keys() | now.entries.keys()):
            before, after = then.entries.get(name), now.entries.get(name)
            if before != after:
                if before is None:
                    how = "is new"
                elif after is None:
                    how = "is gone"
                else:
                    how = "has changed"
                message = f"the {word} {name} {how} since contract {contract.fingerprint[:12]}"
                found = refusal("registry_changed", message, pointer_of((f"{word}_registry", "entries", name)))
                yield replace(found, expected=before or "none", actual=after or "none")


def other_blender(contract: SessionContract, blender: BlenderProfile) -> Iterator[Finding]:
    if contract.blender.version != blender.version:
        message = (
            f"the contract is for Blender {contract.blender.version_string}, and this one is {blender.version_string}"
        )
        then, now = contract.blender.version_string, blender.version_string
        yield replace(refusal("blender_changed", message, "/blender/version"), expected=then, actual=now)


def registry(version: str, hashes: Mapping[str, str]) -> Registry:
    """The reference of a catalogue, from the hash of each declaration by name."""
    each = {name: hashes[name] for name in sorted(hashes)}
    return Registry(version=version, fingerprint=digest(each), entries=each)


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
    """The rules with everything denied that the host does not ask for."""
    if features is None:
        requested = frozenset(FEATURES)
    else:
        requested = frozenset(features)
    denied = {
        mode: Verdict.DENY
        for mode, feature in (("ui_assisted", "ui_optional"), ("unsafe_ops", "unsafe_ops"))
        if feature not in requested
    }
    return rules.model_copy(
        update={
            "modes": rules.modes.model_copy(update=denied),
            "network": rules.network if "network" in requested else "deny",
            "trusted_python": rules.trusted_python if "trusted_python" in requested else "deny",
        }
    )


def _blender_range(negotiation: Negotiation) -> Iterator[Finding]:
    least = max(BLENDER_MIN, negotiation.proposal.blender_min or BLENDER_MIN)
    most = min(BLENDER_MAX, negotiation.proposal.blender_max or BLENDER_MAX)
    if not least <= negotiation.blender.version < most:
        message = f"Blender {negotiation.blender.version_string} is outside the range of this session"
        yield refusal("session_blender", message, "", least=dotted(least), most=dotted(most))
