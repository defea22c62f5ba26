"""What the owner of a machine allows: the content of blendwright.toml, and what it says to a call. Reading files is the app's affair.

Every bound has one direction in which it tightens; negotiation only ever goes that way. A part that is left out is `model_construct()`:
the same as a call without arguments, and what validates the part is not built before it is needed.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from blendwright.tool_api.promises import Determinism, SafetyMode

Idempotency = Literal["recorded", "strict"]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Count = Annotated[int, Field(ge=1)]


class Bounds(BaseModel):
    """Base: every field is a number of which the smaller one is the stricter one."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class Limits(Bounds):
    """How much may come at once."""

    calls_at_once: Annotated[int, Field(ge=1, le=64)] = Field(
        default=64,
        description="Operations of a plan that may be on their way to Blender together; 64: a long run sends bulks of 128.",
    )
    payload_bytes: Annotated[int, Field(ge=1024, le=64 * 2**20)] = Field(
        default=64 * 2**20, description="The arguments of one call, as JSON."
    )
    operations_per_plan: Count = Field(default=1_000_000, description="Operations of one plan.")
    python_code_chars: Annotated[int, Field(ge=1, le=1_000_000)] = Field(
        default=20_000, description="Characters of one piece of Python code."
    )


class Costs(Bounds):
    """What work may cost."""

    call_seconds: Annotated[float, Field(gt=0, le=3600)] = Field(
        default=30.0, description="Deadline of one call that neither runs code nor renders."
    )
    code_seconds: Annotated[float, Field(gt=0, le=3600)] = Field(
        default=120.0, description="Deadline of one call that runs Python code, opening and saving the scene included."
    )
    render_seconds: Seconds = Field(
        default=600.0, description="Deadline of one call that renders; Cycles ends before it, with what it has."
    )
    run_seconds: Seconds = Field(default=3600.0, description="Deadline of one run of a plan.")
    background_seconds: Seconds = Field(
        default=14_400.0, description="Deadline of one run in the background, and of each call in it."
    )
    memory_mb: Annotated[int, Field(ge=6144)] = Field(
        default=16_384, description="Address space of a Blender process; it needs 6 GB to start."
    )
    scratch_mb: Annotated[int, Field(ge=64)] = Field(
        default=4096, description="What one Blender process may have in its scratch directory."
    )
    vertices: Count = Field(
        default=10_000_000, description="Vertices that the arguments of one call may ask for, where they tell."
    )


class LimitsAsked(Bounds):
    """Limits that a host asks for; what it leaves out is as the policy has it."""

    calls_at_once: Count | None = None
    payload_bytes: Annotated[int, Field(ge=1024)] | None = None
    operations_per_plan: Count | None = None
    python_code_chars: Count | None = None


class CostsAsked(Bounds):
    """Costs that a host asks for; what it leaves out is as the policy has it."""

    call_seconds: Seconds | None = None
    code_seconds: Seconds | None = None
    render_seconds: Seconds | None = None
    run_seconds: Seconds | None = None
    background_seconds: Seconds | None = None
    memory_mb: Annotated[int, Field(ge=6144)] | None = None
    scratch_mb: Annotated[int, Field(ge=64)] | None = None
    vertices: Count | None = None


B = TypeVar("B", bound=Bounds)


def tightened(bounds: B, *requests: Mapping[str, Any] | BaseModel) -> B:
    """The same bounds, each as low as the lowest that is asked for. Nothing can raise one; null and unknown names ask for nothing."""
    wishes = [dict(request) for request in requests]
    lower: dict[str, Any] = {}
    for name, value in bounds:
        lowest = min([value, *(wish[name] for wish in wishes if wish.get(name) is not None)])
        if lowest != value:
            lower[name] = lowest
    return bounds.model_copy(update=lower)


class Verdict(StrEnum):
    """What becomes of a call; ordered from free to forbidden."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def rank(self) -> int:
        return list(Verdict).index(self)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class Levels(_Part):
    """By how much a call may change."""

    read_only: Verdict = Field(default=Verdict.ALLOW, description="Calls that only look.")
    safe_write: Verdict = Field(default=Verdict.ALLOW, description="Calls that make things or change what they name.")
    destructive: Verdict = Field(default=Verdict.ASK, description="Calls that delete or overwrite.")

    def of(self, level: str) -> Verdict:
        return getattr(self, level)


class Modes(_Part):
    """By what a call needs around it. Context-dependent operators and the user interface are opted into here."""

    headless_safe: Verdict = Field(default=Verdict.ALLOW, description="Calls that need no window.")
    ui_assisted: Verdict = Field(default=Verdict.DENY, description="Calls that need Blender's user interface.")
    unsafe_ops: Verdict = Field(default=Verdict.DENY, description="Calls of operators that depend on the context.")

    def of(self, mode: SafetyMode) -> Verdict:
        return getattr(self, mode.value)


class Rules(_Part):
    """The table [policy]."""

    levels: Levels = Levels.model_construct()
    modes: Modes = Modes.model_construct()
    tools: dict[str, Verdict] = Field(
        default={}, description="By name, or by the beginning of a name as in 'file.*'; takes the place of the level."
    )
    roots: dict[str, Verdict] = Field(
        default={".": Verdict.ALLOW},
        description="Directories of files that calls read and write; the nearest one counts.",
    )
    trusted_python: Literal["deny", "ask"] = Field(
        default="deny",
        description="Python in the process that holds the scene. Every piece of code is asked about by itself.",
    )
    network: Literal["deny", "allow"] = Field(default="deny", description="Tools that reach other machines.")
    approval_seconds: float = Field(default=900.0, gt=0, le=86_400, description="How long an approval can be given.")


class Constraints(Costs):
    """The table [constraints]: what work may cost, and what results must be."""

    determinism: Determinism | None = Field(default=None, description="The weakest class of results that is accepted.")
    idempotency: Idempotency = Field(
        default="recorded",
        description="What becomes of a known operation whose effect a later commit took back: 'recorded' answers with its "
        "receipt, which names that commit; 'strict' is a conflict.",
    )


class AuditSettings(_Part):
    """The table [audit]."""

    redact: tuple[str, ...] = Field(
        default=("password", "token", "secret", "api_key", "authorization"),
        description="Arguments whose values are never shown in questions and logs.",
    )


class BlenderChoice(_Part):
    """The table [blender]."""

    use: Annotated[str, Field(min_length=1, max_length=4096)] | None = Field(
        default=None,
        description="The Blender to work with: one that was added, by its name such as '5.2'; in the user's own file also the path "
        "of an executable or of an environment with a bpy. By default that of the environment that Blendwright runs in.",
    )


class JournalSettings(_Part):
    """The table [journal]."""

    audit_heads: str | None = Field(
        default=None,
        pattern="^[/~]",
        description="A directory outside the workspace in which the head of the audit chain is noted, a file for each workspace.",
    )
    audit_heads_command: (
        Annotated[tuple[Annotated[str, Field(max_length=4096)], ...], Field(min_length=1, max_length=64)] | None
    ) = Field(
        default=None,
        description="A command that is told the head of the audit chain on its standard input, as a list of its name and arguments; "
        "in the user's own file only.",
    )


class OnlineAssets(_Part):
    """The table [assets.online], in the user's own file only."""

    url: str | None = Field(
        default=None,
        pattern="^https://|^http://(localhost|127[.]0[.]0[.]1)[:/]",
        description="The JSON document of a catalogue of assets; without one nothing is downloaded.",
    )
    max_mb: int = Field(default=512, ge=1, le=65_536, description="The largest file that is downloaded.")


class AssetSettings(_Part):
    """The table [assets]."""

    directories: dict[Annotated[str, Field(pattern="^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")], str] = Field(
        default={},
        description="Folders of assets by the names that asset.search gives them. They are read, never written to.",
    )
    online: OnlineAssets = OnlineAssets.model_construct()


class Policy(_Part):
    """All of blendwright.toml."""

    blender: BlenderChoice = BlenderChoice.model_construct()
    policy: Rules = Rules.model_construct()
    constraints: Constraints = Constraints.model_construct()
    limits: Limits = Limits.model_construct()
    audit: AuditSettings = AuditSettings.model_construct()
    journal: JournalSettings = JournalSettings.model_construct()
    assets: AssetSettings = AssetSettings.model_construct()


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the rules say to a call. `reasons` name the rules that are stricter than allow, by their place in the policy."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    """The level, mode, tool and roots that these rules are about."""
    in_person: bool = False
    """Only a person who has seen this very call can allow it."""
    notes: tuple[str, ...] = ()
    """What else the person must know before the answer; no rule of the policy."""


def ruling(rules: Rules, tool: str, mode: SafetyMode, level: str, roots: Iterable[tuple[str, Verdict]] = ()) -> Ruling:
    """The strictest of what the rules say. A rule for the tool takes the place of the one for its level, and of nothing else."""
    named = named_rule(rules, tool)
    verdicts = [
        (level, f"policy.levels.{level}", rules.levels.of(level)) if named is None else (tool, *named),
        (mode.value, f"policy.modes.{mode.value}", rules.modes.of(mode)),
        *((root, f"policy.roots.'{root}'", verdict) for root, verdict in roots),
    ]
    strict = [(name, rule, verdict) for name, rule, verdict in verdicts if verdict is not Verdict.ALLOW]
    return Ruling(
        max((verdict for _, _, verdict in strict), key=lambda verdict: verdict.rank, default=Verdict.ALLOW),
        tuple(f"{rule} = {verdict.value}" for _, rule, verdict in strict),
        tuple(name for name, _, _ in strict),
    )


def named_rule(rules: Rules, tool: str) -> tuple[str, Verdict] | None:
    """The rule that names a tool: exactly, or the longest beginning."""
    if tool in rules.tools:
        return f"policy.tools.'{tool}'", rules.tools[tool]
    fitting = [name for name in rules.tools if name.endswith("*") and tool.startswith(name[:-1])]
    if not fitting:
        return None
    nearest = max(fitting, key=len)
    return f"policy.tools.'{nearest}'", rules.tools[nearest]


def nearest_root(roots: Mapping[str, Verdict], path: PurePath) -> tuple[str, Verdict] | None:
    """The innermost of the directories that hold the path. All of them are absolute and without links."""
    fitting = [root for root in roots if lies_in(path, root)]
    if not fitting:
        return None
    nearest = max(fitting, key=lambda root: len(PurePath(root).parts))
    return nearest, roots[nearest]


def lies_in(path: PurePath, root: str) -> bool:
    """Whether a path is a directory, or something in it; both absolute and without links. Every call with files asks it many times, and
    pathlib takes its time."""
    if os.sep != "/":
        return path.is_relative_to(root)
    text = str(path)
    return text == root or text.startswith(root if root.endswith("/") else f"{root}/")
