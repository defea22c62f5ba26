"""One tool call as it is run and recorded: what is called, under which ids, and what its tool promises for these arguments.

Its key is what makes two operations the same; anyone can recompute it from the plan.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from typing import Any

import orjson
import rfc8785

from blendwright.tool_api.arguments import file_arguments, paths_in
from blendwright.tool_api.promises import Determinism, Isolation, SafetyLevel
from blendwright.tool_api.tool import AnyTool, Tool
from blendwright.util.canonical import digest
from blendwright.values.approval import Approval
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


class OperationKeys:
    """The keys of a plan's operations, each made when it is first asked for: those of a new plan are, while its operations run.

    Made of the arguments as the plan has them, before paths are made absolute."""

    def __init__(self, request_id: str, args: Mapping[str, Mapping[str, Any]]) -> None:
        self._request_id = request_id
        self._args = args
        self._made: dict[str, str] = {}

    def of(self, operation_id: str) -> str:
        key = self._made.get(operation_id)
        if key is None:
            key = operation_key(self._request_id, operation_id, self._args[operation_id])
            self._made[operation_id] = key
        return key


class _Remembers:
    """Has room for what is worked out once; a frozen value has none for more than its fields."""


@dataclass(frozen=True, slots=True)
class Invocation(_Remembers):
    """`args` are canonical."""

    request_id: str
    operation_id: str
    tool: AnyTool
    args: Mapping[str, Any]
    model: Any
    """The arguments as the tool's model; None where they are refused."""
    safety_level: str
    keys: OperationKeys
    call_id: str
    approval: Approval | None = None
    """What a person said to it, where one was asked."""
    macro_operation: str | None = None
    """The caller's operation, where this is a step of the macro that it calls."""
    single_call: bool = False
    """It belongs to no plan, and its key never comes again."""
    proof_demanded: bool = False
    """What foreign code does counts only where it does the same twice."""
    ended_early: bool = False
    """Its time was over before it had done all: how far it came is another matter on another machine."""

    @property
    def key(self) -> str:
        return self.keys.of(self.operation_id)

    @property
    def ids(self) -> CallIds:
        return CallIds(self.request_id, self.operation_id, self.call_id)

    @cached_property
    def promises(self) -> Promises:
        """What the tool promises for these arguments, which must be sound."""
        made = _fixed_promises(self.tool.__class__) or _promises(self.tool, self.model, proven=self.proof_demanded)
        if self.ended_early:
            return replace(made, determinism=Determinism.NONDETERMINISTIC, replayable=False)
        return made

    @property
    def writes_outside(self) -> bool:
        """Whether it may leave something outside the scene, which no rebuild takes back."""
        return "file_write" in self.promises.capabilities or self.promises.isolation is Isolation.REPLACED

    @property
    def takes_in(self) -> bool:
        """Whether code or a file may bring what no hash covers: that the hash is the one from before proves nothing then."""
        return self.promises.isolation is not Isolation.SHARED or "file_read" in self.tool.requires.capabilities

    @property
    def effect(self) -> str:
        """What it leaves outside, for whoever has to find out whether it did."""
        if self.promises.isolation is Isolation.REPLACED:
            return f"{self.tool.name} ran trusted code ({digest(dict(self.args))[:12]})"
        named = [each.path for each in paths_in(self.tool.args_model, self.args) if each.role in ("write", "frames")]
        return f"{self.tool.name} writes {', '.join(named) or 'an artifact of the workspace'}"

    def request(self) -> StepRequest:
        return {"tool": self.tool.name, "version": self.tool.version, "args": self.args, "call": self.call_id}

    def short_request(self) -> StepRequest:
        """The same without arguments that nobody gave: the worker's model has them by itself, and most of a call are such."""
        given = self.model.model_fields_set
        args = {name: value for name, value in self.args.items() if name in given}
        return {"tool": self.tool.name, "version": self.tool.version, "args": args, "call": self.call_id}


# The argument of tools that names a file among the workspace's artifacts.
ARTIFACT = "artifact"


@cache
def _fixed_promises(tool: type[AnyTool]) -> Promises | None:
    """Those of every call of the tool; None where arguments decide."""
    methods = ("capabilities_for", "isolation_for", "determinism_for", "replayable_for")
    varies = any(getattr(tool, name) is not getattr(Tool, name) for name in methods)
    if varies:
        return None
    return _promises(tool(), None)


def _promises(tool: AnyTool, model: Any, *, proven: bool = False) -> Promises:
    determinism, isolation = tool.determinism_for(model), tool.isolation_for(model)
    if isolation is not Isolation.SHARED and not proven:
        determinism = Determinism.NONDETERMINISTIC  # of foreign code nobody knows, unless it did the same twice
    replayable = tool.replayable_for(model) and determinism is not Determinism.NONDETERMINISTIC
    with_files = bool(WITH_FILES.intersection(tool.requires.capabilities) or file_arguments(tool.args_model))
    return Promises(
        tool.capabilities_for(model),
        isolation,
        determinism,
        replayable,
        reads_only=tool.safety_level is SafetyLevel.READ_ONLY,
        with_files=with_files,
        # What makes a picture has the worker for itself too: the picture is brought to the workspace before the next step.
        exclusive=with_files or not replayable or ARTIFACT in tool.args_model.model_fields,
    )


# Nothing but what JSON has: orjson knows dates and the like too, which no plan can hold.
PLAINLY = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
# Between these, orjson and RFC 8785 spell a number that is no integer alike: without an exponent.
SMALLEST, LARGEST = 1e-3, 1e15
# With so many digits in a row a number may not be what a double holds.
UNSURE = b"0" * 16
ANY_DIGIT = bytes.maketrans(b"123456789", b"000000000")
# What both spell alike in any case.
PLAIN = frozenset({str, bool, type(None)})
# The digit of a UUID that says which kind it is keeps two of its bits.
VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


def operation_key(request_id: str, operation_id: str, args: Mapping[str, Any]) -> str:
    """sha256 of the RFC 8785 form of both ids and the canonical arguments."""
    return hashlib.sha256(canonical([request_id, operation_id, dict(args)])).hexdigest()


def canonical(value: Any) -> bytes:
    """RFC 8785. Nearly everything is written by orjson, which is twenty times faster, and put in the words of the RFC."""
    try:
        return _reworded(orjson.dumps(value, option=PLAINLY)) or orjson.dumps(_alike(value), option=PLAINLY)
    except (_Unlike, TypeError):
        pass
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError:
        # An integer beyond what a double holds: plans cannot have one, and the key of a single call is never asked for again.
        return digest(value).encode()


def new_id() -> str:
    """For a call (`mcp_call_id`) or a committed mutation (`blender_mutation_id`)."""
    return new_ids(1)[0]


def new_ids(count: int) -> list[str]:
    """Random UUIDs (RFC 9562, version 4) by their digits: the class takes five times as long, and every operation has two."""
    drawn = os.urandom(16 * count).hex()
    return [
        f"{drawn[at : at + 12]}4{drawn[at + 13 : at + 16]}{VARIANT[drawn[at + 16]]}{drawn[at + 17 : at + 32]}"
        for at in range(0, 32 * count, 32)
    ]


def _reworded(raw: bytes) -> bytes | None:
    """What orjson wrote, without the `.0` of whole numbers; None where more may differ. Bytes tell sooner than values."""
    if b"\\" in raw or not raw.isascii() or not raw.endswith((b"]", b"}")):
        return None  # a quote may be inside a text, keys may be sorted otherwise, or it is a number with no end to it
    parts = raw.split(b'"')
    numbers = _reworded_numbers(b'"'.join(parts[::2]))  # every second part is a text or a key
    if numbers is None:
        return None
    parts[::2] = numbers
    return b'"'.join(parts)


@lru_cache(maxsize=1024)
def _reworded_numbers(outside: bytes) -> list[bytes] | None:
    """What stands outside of texts and keys, and is the same for many operations that are alike."""
    exponents = outside.count(b"e") - outside.count(b"true") - outside.count(b"false")
    if exponents or b"-0.0" in outside or UNSURE in outside.translate(ANY_DIGIT):
        return None  # numbers that the two may spell differently
    for end in (b",", b"]", b"}"):
        outside = outside.replace(b".0" + end, end)
    return outside.split(b'"')


class _Unlike(Exception):
    """The two may spell this differently."""


def _alike(value: Any) -> Any:
    """The value in a form that both spell alike: RFC 8785 has no 1.0, and sorts keys by UTF-16."""
    kind = value.__class__
    if kind is float:
        return _number(value)
    if kind is dict:
        if not "".join(value).isascii():
            raise _Unlike
        return {key: item if item.__class__ in PLAIN else _alike(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [_number(item) if item.__class__ is float else _alike(item) for item in value]
    if kind in PLAIN or (kind is int and -LARGEST < value < LARGEST):
        return value
    raise _Unlike


def _number(value: float) -> float:
    if -LARGEST < value < LARGEST:
        if value.is_integer():
            return int(value)
        if value >= SMALLEST or value <= -SMALLEST:
            return value
    raise _Unlike
