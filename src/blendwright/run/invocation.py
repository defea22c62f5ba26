"""One tool call as it is run and recorded: what is called, under which ids, and what its tool promises for these arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from blendwright.policy.approvals import Approval
from blendwright.tool_api.arguments import file_arguments
from blendwright.tool_api.promises import Determinism, Isolation, SafetyLevel
from blendwright.tool_api.tool import AnyTool, Tool
from blendwright.values.canonical import digest
from blendwright.values.events import CallIds
from blendwright.wire.methods import StepRequest

# What these tools make or take lies in places that the next step would write over.
WITH_FILES = frozenset({"file_read", "file_write", "render"})


@dataclass(frozen=True, slots=True)
class Promises:
    """What holds for a call whatever becomes of it. Most tools promise the same for all their calls."""

    capabilities: tuple[str, ...]
    isolation: Isolation
    determinism: Determinism
    replayable: bool
    reads_only: bool
    with_files: bool
    """It reads, writes or renders files."""
    exclusive: bool
    """It needs the worker for itself: nothing else may be on its way before its files and its save are done."""


@dataclass(frozen=True)
class Invocation:
    """`args` are canonical; the key is made of them as the plan has them, before paths are made absolute."""

    request_id: str
    operation_id: str
    tool: AnyTool
    args: Mapping[str, Any]
    model: Any
    """The arguments as the tool's model; None where they are refused."""
    safety_level: str
    key: str
    call_id: str
    approval: Approval | None = None
    """What a person said to it, where one was asked."""
    macro_operation: str | None = None
    """The caller's operation, where this is a step of the macro that it calls."""
    single_call: bool = False
    """It belongs to no plan, and its key never comes again."""

    @property
    def ids(self) -> CallIds:
        return CallIds(self.request_id, self.operation_id, self.call_id)

    @cached_property
    def promises(self) -> Promises:
        """What the tool promises for these arguments, which must be sound."""
        return _fixed_promises(type(self.tool)) or _promises(self.tool, self.model)

    @property
    def writes_outside(self) -> bool:
        """Whether it may leave something outside the scene, which no rebuild takes back."""
        return "file_write" in self.tool.requires.capabilities or self.promises.isolation is Isolation.REPLACED

    @property
    def takes_in(self) -> bool:
        """Whether code or a file may bring what no hash covers: that the hash is the one from before proves nothing then."""
        return self.promises.isolation is not Isolation.SHARED or "file_read" in self.tool.requires.capabilities

    @property
    def effect(self) -> str:
        """What it leaves outside, for whoever has to find out whether it did."""
        if self.promises.isolation is Isolation.REPLACED:
            return f"{self.tool.name} ran trusted code ({digest(dict(self.args))[:12]})"
        named = [str(self.args[name]) for name, role in file_arguments(self.tool.args_model).items()
                 if role == "write" and self.args[name] is not None]  # fmt: skip
        return f"{self.tool.name} writes {', '.join(named) or 'an artifact of the workspace'}"

    def request(self) -> StepRequest:
        return {"tool": self.tool.name, "version": self.tool.version, "args": self.args, "call": self.call_id}


@cache
def _fixed_promises(tool: type[AnyTool]) -> Promises | None:
    """Those of every call of the tool; None where arguments decide."""
    methods = ("capabilities_for", "isolation_for", "determinism_for", "replayable_for")
    varies = any(getattr(tool, name) is not getattr(Tool, name) for name in methods)
    return None if varies else _promises(tool(), None)


def _promises(tool: AnyTool, model: Any) -> Promises:
    determinism = tool.determinism_for(model)
    replayable = tool.replayable_for(model) and determinism is not Determinism.NONDETERMINISTIC
    with_files = bool(WITH_FILES.intersection(tool.requires.capabilities) or file_arguments(tool.args_model))
    return Promises(
        tool.capabilities_for(model),
        tool.isolation_for(model),
        determinism,
        replayable,
        reads_only=tool.safety_level is SafetyLevel.READ_ONLY,
        with_files=with_files,
        exclusive=with_files or not replayable,
    )
