"""The policy of a machine: the content of blendwright.toml, and its verdict about a call. This module reads no files.

A smaller bound is a stricter one, and negotiation never raises a bound. The default of each part is `model_construct()`.
It equals a call without arguments, but pydantic builds the validator of the part only when the program needs it.
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
    """A base for models whose fields are numbers. The smaller number is the stricter one."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class Limits(Bounds):
    """The largest amounts that a host may send at once."""

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
    """The limits of time, memory, disk and geometry for work in Blender."""

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
    """Limits that a host asks for. The policy decides the fields that it leaves out."""

    calls_at_once: Count | None = None
    payload_bytes: Annotated[int, Field(ge=1024)] | None = None
    operations_per_plan: Count | None = None
    python_code_chars: Count | None = None


class CostsAsked(Bounds):
    """Costs that a host asks for. The policy decides the fields that it leaves out."""

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
    """Return a copy of the bounds in which each bound is the lowest of itself and the requested values.

    A request cannot raise a bound. Null values and unknown names have no effect.
    """
    wishes = [dict(request) for request in requests]
    lowered: dict[str, Any] = {}
    for name, value in bounds:
        lowest = value
        for wish in wishes:
            requested = wish.get(name)
            if requested is not None:
                lowest = min(lowest, requested)
        if lowest != value:
            lowered[name] = lowest
    return bounds.model_copy(update=lowered)


class Verdict(StrEnum):
    """A verdict of the policy about a call, ordered from free to forbidden."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"

    @property
    def rank(self) -> int:
        return list(Verdict).index(self)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class Levels(_Part):
    """The verdicts for calls by their safety level: how much a call may change."""

    read_only: Verdict = Field(default=Verdict.ALLOW, description="Calls that only look.")
    safe_write: Verdict = Field(default=Verdict.ALLOW, description="Calls that make things or change what they name.")
    destructive: Verdict = Field(default=Verdict.ASK, description="Calls that delete or overwrite.")

    def of(self, level: str) -> Verdict:
        return getattr(self, level)


class Modes(_Part):
    """The verdicts for calls by their safety mode: whether a call needs the user interface or the context.

    The owner opts into the user interface and into context-dependent operators here.
    """

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
    """The table [constraints]: the limits of work, and the demands on its results."""

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
        description="A command that receives the head of the audit chain on its standard input, as a list of its name and "
        "arguments. Only the user's own file can set it.",
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
    """The content of blendwright.toml, one field for each table."""

    blender: BlenderChoice = BlenderChoice.model_construct()
    policy: Rules = Rules.model_construct()
    constraints: Constraints = Constraints.model_construct()
    limits: Limits = Limits.model_construct()
    audit: AuditSettings = AuditSettings.model_construct()
    journal: JournalSettings = JournalSettings.model_construct()
    assets: AssetSettings = AssetSettings.model_construct()


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdict of the rules about a call. `reasons` names the rules that are stricter than allow, by their setting."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    grants: tuple[str, ...] = ()
    """The level, mode, tool and roots that the rules in `reasons` concern."""
    in_person: bool = False
    """True if only a person who has seen this exact call can allow it."""
    notes: tuple[str, ...] = ()
    """Further facts that the person must know before the answer. They are not rules of the policy."""


def ruling(rules: Rules, tool: str, mode: SafetyMode, level: str, roots: Iterable[tuple[str, Verdict]] = ()) -> Ruling:
    """Return the strictest verdict of the rules for a call, with its reasons.

    A rule for the tool replaces only the rule for its level. `roots` holds policy roots of files with their verdicts.
    """
    tool_rule = named_rule(rules, tool)
    if tool_rule is None:
        verdicts = [(level, f"policy.levels.{level}", rules.levels.of(level))]
    else:
        verdicts = [(tool, *tool_rule)]
    verdicts.append((mode.value, f"policy.modes.{mode.value}", rules.modes.of(mode)))
    for root, root_verdict in roots:
        verdicts.append((root, f"policy.roots.'{root}'", root_verdict))

    strictest_verdict = Verdict.ALLOW
    reasons: list[str] = []
    grants: list[str] = []
    for name, rule, verdict in verdicts:
        if verdict is Verdict.ALLOW:
            continue
        strictest_verdict = max(strictest_verdict, verdict, key=lambda item: item.rank)
        reasons.append(f"{rule} = {verdict.value}")
        grants.append(name)
    return Ruling(strictest_verdict, tuple(reasons), tuple(grants))


def named_rule(rules: Rules, tool: str) -> tuple[str, Verdict] | None:
    """Return the setting and the verdict of the rule that names a tool, or None.

    A rule with the exact name comes first. Otherwise the longest matching beginning, such as `file.*`, counts.
    """
    if tool in rules.tools:
        return f"policy.tools.'{tool}'", rules.tools[tool]
    fitting = [name for name in rules.tools if name.endswith("*") and tool.startswith(name[:-1])]
    if not fitting:
        return None
    nearest = max(fitting, key=len)
    return f"policy.tools.'{nearest}'", rules.tools[nearest]


def nearest_root(roots: Mapping[str, Verdict], path: PurePath) -> tuple[str, Verdict] | None:
    """Return the innermost root that contains the path, with its verdict, or None.

    The path and the roots must be absolute and without links.
    """
    fitting = [root for root in roots if lies_in(path, root)]
    if not fitting:
        return None
    nearest = max(fitting, key=lambda root: len(PurePath(root).parts))
    return nearest, roots[nearest]


def lies_in(path: PurePath, root: str) -> bool:
    """Return whether a path is the directory `root` or inside it. Both must be absolute and without links."""
    if os.sep != "/":
        return path.is_relative_to(root)

    # Calls with files check this many times, and pathlib is slower than comparing strings.
    text = str(path)
    if root.endswith("/"):
        prefix = root
    else:
        prefix = f"{root}/"
    return text == root or text.startswith(prefix)
