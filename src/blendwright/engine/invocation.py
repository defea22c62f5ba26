"""A tool call: the tool and its arguments, the ids of the call, and the promises of the tool for these arguments.

Two calls with the same key are the same operation. Anyone can compute the key from the plan.
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

# Capabilities of tools whose files lie in the scratch directory, where the next step would overwrite them.
WITH_FILES = frozenset({"file_read", "file_write", "render"})


@dataclass(frozen=True, slots=True)
class Promises:
    """Properties of a call that hold whatever its outcome. Most tools promise the same for all their calls."""

    capabilities: tuple[str, ...]
    isolation: Isolation
    determinism: Determinism
    replayable: bool
    reads_only: bool
    with_files: bool
    """True when the call reads, writes or renders files."""
    exclusive: bool
    """True when the call needs the worker for itself until its files are delivered and its scene is saved."""


class OperationKeys:
    """The keys of a plan's operations, computed on first use, because a new plan needs them only while its
    operations run.

    The keys use the arguments of the plan, before relative paths become absolute.
    """

    def __init__(self, request_id: str, args: Mapping[str, Mapping[str, Any]]) -> None:
        self._request_id = request_id
        self._args = args
        self._keys: dict[str, str] = {}

    def of(self, operation_id: str) -> str:
        """Return the key of an operation."""
        key = self._keys.get(operation_id)
        if key is None:
            key = operation_key(self._request_id, operation_id, self._args[operation_id])
            self._keys[operation_id] = key
        return key


class _HasCache:
    """A base class that adds `__dict__`, which `cached_property` needs, to a frozen dataclass with slots."""


@dataclass(frozen=True, slots=True)
class Invocation(_HasCache):
    """A call with its ids. `args` are canonical."""

    request_id: str
    operation_id: str
    tool: AnyTool
    args: Mapping[str, Any]
    model: Any
    """The arguments as the tool's model, or None when the tool refuses them."""
    safety_level: str
    keys: OperationKeys
    call_id: str
    approval: Approval | None = None
    """The approval of a person, or None when none was necessary."""
    macro_operation: str | None = None
    """The caller's operation id when this call is a step of a macro."""
    single_call: bool = False
    """True when the call belongs to no plan. Its key never occurs again."""
    proof_demanded: bool = False
    """True when the result of foreign code counts only if two executions agree."""
    ended_early: bool = False
    """True when the time limit ended the call with a partial result, which differs between machines."""

    @property
    def key(self) -> str:
        return self.keys.of(self.operation_id)

    @property
    def ids(self) -> CallIds:
        return CallIds(self.request_id, self.operation_id, self.call_id)

    @cached_property
    def promises(self) -> Promises:
        """The promises of the tool for these arguments, which must be valid."""
        promises = _fixed_promises(self.tool.__class__) or _promises(self.tool, self.model, proven=self.proof_demanded)
        if self.ended_early:
            return replace(promises, determinism=Determinism.NONDETERMINISTIC, replayable=False)
        return promises

    @property
    def writes_outside(self) -> bool:
        """True when the call may change something outside the scene, which no rebuild reverts."""
        return "file_write" in self.promises.capabilities or self.promises.isolation is Isolation.REPLACED

    @property
    def takes_in(self) -> bool:
        """True when code or a file may bring data into the scene that no hash covers. An equal hash then proves
        nothing.
        """
        return self.promises.isolation is not Isolation.SHARED or "file_read" in self.tool.requires.capabilities

    @property
    def effect(self) -> str:
        """A description of the call's effect outside the scene, for a person who must check whether it happened."""
        if self.promises.isolation is Isolation.REPLACED:
            return f"{self.tool.name} ran trusted code ({digest(dict(self.args))[:12]})"

        path_arguments = paths_in(self.tool.args_model, self.args)
        paths = [argument.path for argument in path_arguments if argument.role in ("write", "frames")]
        return f"{self.tool.name} writes {', '.join(paths) or 'an artifact of the workspace'}"

    def request(self) -> StepRequest:
        return {"tool": self.tool.name, "version": self.tool.version, "args": self.args, "call": self.call_id}

    def short_request(self) -> StepRequest:
        """Return the request without default arguments, which the worker's model adds. Most arguments of a call
        are defaults.
        """
        set_names = self.model.model_fields_set
        args = {name: value for name, value in self.args.items() if name in set_names}
        return {"tool": self.tool.name, "version": self.tool.version, "args": args, "call": self.call_id}


# The argument of tools that names a file among the workspace's artifacts.
ARTIFACT = "artifact"


@cache
def _fixed_promises(tool: type[AnyTool]) -> Promises | None:
    """Return the promises that hold for every call of the tool, or None when they depend on arguments."""
    methods = ("capabilities_for", "isolation_for", "determinism_for", "replayable_for")
    varies = any(getattr(tool, name) is not getattr(Tool, name) for name in methods)
    if varies:
        return None
    return _promises(tool(), None)


def _promises(tool: AnyTool, model: Any, *, proven: bool = False) -> Promises:
    determinism = tool.determinism_for(model)
    isolation = tool.isolation_for(model)
    if isolation is not Isolation.SHARED and not proven:
        determinism = Determinism.NONDETERMINISTIC  # foreign code is nondeterministic until two executions agree
    replayable = tool.replayable_for(model) and determinism is not Determinism.NONDETERMINISTIC
    with_files = bool(WITH_FILES.intersection(tool.requires.capabilities) or file_arguments(tool.args_model))
    return Promises(
        tool.capabilities_for(model),
        isolation,
        determinism,
        replayable,
        reads_only=tool.safety_level is SafetyLevel.READ_ONLY,
        with_files=with_files,
        # A tool that makes a picture also needs the worker for itself, because the picture goes to the workspace
        # before the next step.
        exclusive=with_files or not replayable or ARTIFACT in tool.args_model.model_fields,
    )


# JSON types only: orjson also writes dates and the like, which no plan can contain.
ORJSON_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
# Between these limits, orjson and RFC 8785 write a non-integer number the same way, without an exponent.
SMALLEST, LARGEST = 1e-3, 1e15
# A number with this many digits in a row may not be exactly representable as a double.
LONG_DIGITS = b"0" * 16
ANY_DIGIT = bytes.maketrans(b"123456789", b"000000000")
# Types that both encoders write the same way.
SAME_TYPES = frozenset({str, bool, type(None)})
# The variant digit of a UUID keeps two random bits.
VARIANT_DIGITS = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}


def operation_key(request_id: str, operation_id: str, args: Mapping[str, Any]) -> str:
    """Return the sha256 of the RFC 8785 form of both ids and the canonical arguments, as hexadecimal digits."""
    return hashlib.sha256(canonical([request_id, operation_id, dict(args)])).hexdigest()


def canonical(value: Any) -> bytes:
    """Return the RFC 8785 form of a value.

    orjson writes nearly all values, because it is twenty times faster; its output is then adjusted to RFC 8785.
    """
    try:
        return _adjusted(orjson.dumps(value, option=ORJSON_OPTIONS)) or orjson.dumps(
            _common_form(value), option=ORJSON_OPTIONS
        )
    except (_NotAlike, TypeError):
        pass
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError:
        # An integer beyond the range of a double. Plans cannot contain one, and the key of a single call is never
        # looked up.
        return digest(value).encode()


def new_id() -> str:
    """Return a new id for a call (`mcp_call_id`) or a committed mutation (`blender_mutation_id`)."""
    return new_ids(1)[0]


def new_ids(count: int) -> list[str]:
    """Return random UUIDs (RFC 9562, version 4). The class `uuid.UUID` takes five times as long, and every
    operation needs two ids.
    """
    digits = os.urandom(16 * count).hex()
    ids: list[str] = []
    for start in range(0, 32 * count, 32):
        variant = VARIANT_DIGITS[digits[start + 16]]
        middle = digits[start + 13 : start + 16]
        ids.append(f"{digits[start : start + 12]}4{middle}{variant}{digits[start + 17 : start + 32]}")
    return ids


def _adjusted(raw: bytes) -> bytes | None:
    """Return orjson's output without the `.0` of whole numbers, or None when it may differ from RFC 8785 in
    another way.
    """
    if b"\\" in raw or not raw.isascii() or not raw.endswith((b"]", b"}")):
        # a quote may be inside a string, keys may have another order, or a top-level number has no delimiter
        return None
    parts = raw.split(b'"')
    numbers = _adjusted_numbers(b'"'.join(parts[::2]))  # every second part is a string or a key
    if numbers is None:
        return None
    parts[::2] = numbers
    return b'"'.join(parts)


@lru_cache(maxsize=1024)
def _adjusted_numbers(outside: bytes) -> list[bytes] | None:
    """Return the adjusted text between strings and keys, or None for numbers that the encoders may write
    differently.

    Cached, because many similar operations share this text.
    """
    exponents = outside.count(b"e") - outside.count(b"true") - outside.count(b"false")
    if exponents or b"-0.0" in outside or LONG_DIGITS in outside.translate(ANY_DIGIT):
        return None  # the encoders may write these numbers differently
    for end in (b",", b"]", b"}"):
        outside = outside.replace(b".0" + end, end)
    return outside.split(b'"')


class _NotAlike(Exception):
    """The signal that orjson and RFC 8785 may write a value differently."""


def _common_form(value: Any) -> Any:
    """Return the value in a form that both encoders write the same way. Raises _NotAlike when there is none.

    RFC 8785 writes 1.0 as 1, and sorts keys by UTF-16.
    """
    kind = value.__class__
    if kind is float:
        return _number(value)
    if kind is dict:
        if not "".join(value).isascii():
            raise _NotAlike
        return {key: _common_form(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [_common_form(item) for item in value]
    if kind in SAME_TYPES or (kind is int and -LARGEST < value < LARGEST):
        return value
    raise _NotAlike


def _number(value: float) -> float:
    if -LARGEST < value < LARGEST:
        if value.is_integer():
            return int(value)
        if value >= SMALLEST or value <= -SMALLEST:
            return value
    raise _NotAlike
