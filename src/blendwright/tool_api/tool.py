"""The Tool base: one small class per tool, which states all its promises.

Defining a tool without a declaration or a docstring fails. A family (`class Creates(Tool[A, R], family=True)`) is not
a tool: it holds the `check`, `apply` and `verify` that its tools share, and declares nothing for them. The worker
owns the order of the phases, and no tool can skip a phase.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Generator, Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar, get_args, get_origin

from blendwright.tool_api.arguments import Args, Result
from blendwright.tool_api.mentions import Mention, mentions
from blendwright.tool_api.promises import (
    Determinism,
    Idempotence,
    Isolation,
    Promises,
    Requires,
    Revert,
    SafetyLevel,
    SafetyMode,
    Version,
)
from blendwright.tool_api.scene import Kind, Scene
from blendwright.values.findings import Finding
from blendwright.wire.file_facts import FileFacts

# What `check` and `verify` yield.
Findings: TypeAlias = Iterable[Finding]
# What replaces a file loses what was in it.
OVERWRITE = "overwrite"
NAME = re.compile(r"[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*")


class Example:
    """Arguments that work. `given` are the calls that prepare the scene, as (tool name, arguments)."""

    def __init__(self, args: Mapping[str, Any], *given: tuple[str, Mapping[str, Any]]) -> None:
        self.args = args
        self.given = given


A = TypeVar("A", bound=Args)
R = TypeVar("R", bound=Result)

DECLARATIONS: dict[str, type] = {"name": str, "promises": Promises, "examples": tuple}


class Tool(Generic[A, R]):
    """The base of every tool. Declared promises hold for all arguments; a `…_for` method may promise more for certain
    arguments.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    """Raised with every change of a promise."""
    promises: ClassVar[Promises]
    examples: ClassVar[tuple[Example, ...]]
    destructive_with: ClassVar[tuple[str, ...]] = ()
    """Arguments that make a call destructive where they are true."""
    time_limit: ClassVar[Literal["call_seconds", "code_seconds", "render_seconds"]] = "call_seconds"
    """The constraint of the contract that says how long one call may take."""
    makes_others: ClassVar[bool] = False
    """Whether a call makes, renames or removes datablocks that no argument names: a file's content decides, or code."""
    together: ClassVar[bool] = False
    """Whether a call reads and writes nothing of a scene but what its arguments name, and places in collections. Of calls that name
    different datablocks, all may be checked before the first one is applied, and all applied before the first one is verified."""

    # Set from `promises` when a tool is defined.
    safety_level: ClassVar[SafetyLevel]
    safety_mode: ClassVar[SafetyMode]
    determinism: ClassVar[Determinism]
    idempotence: ClassVar[Idempotence]
    revert: ClassVar[Revert]
    replayable: ClassVar[bool]
    writes: ClassVar[tuple[Kind, ...]]
    requires: ClassVar[Requires]
    # Set from the models that a tool names in its base.
    args_model: ClassVar[type[Args]]
    result_model: ClassVar[type[Result]]

    def __init_subclass__(cls, *, family: bool = False) -> None:
        super().__init_subclass__()
        if family:
            return
        problems = list(_problems(cls))
        if problems:
            raise TypeError(f"tool {cls.__name__}: " + "; ".join(problems))

    # ------------------------------------------------------------------ the parts an author writes

    def check(self, scene: Scene, args: A) -> Findings:
        """Yield every finding that prevents the call. Only reads."""
        raise NotImplementedError

    def apply(self, scene: Scene, args: A) -> R:
        """Perform the call and return its result. All writes go through `scene`."""
        raise NotImplementedError

    def stages(self, scene: Scene, args: A) -> Generator[None, None, R]:
        """Run `apply` in stages. For calls that run together, the worker runs each stage for all of them before the
        next stage.
        """
        yield from ()
        return self.apply(scene, args)

    def verify(self, scene: Scene, args: A, result: R) -> Findings:
        """Read the data back and yield a finding for each broken promise."""
        raise NotImplementedError

    def examine(self, args: A, blender: Version | None) -> Findings:
        """Return findings about the arguments that the schema cannot express, with pointers into the arguments. Uses
        neither scene nor Blender.

        Without a version, report only what no supported Blender accepts.
        """
        return ()

    # ------------------------------------------------------------------ promises that may depend on the arguments

    def safety_level_for(self, args: A) -> SafetyLevel:
        """Return the safety level of a call with these arguments, because some arguments destroy more."""
        destroys = any(getattr(args, name) for name in self.destructive_with)
        if destroys:
            return SafetyLevel.DESTRUCTIVE
        return self.safety_level

    def reasons_for(self, args: A) -> tuple[str, ...]:
        """Return the reasons why these arguments are more dangerous than the tool's level, for the person who
        approves.
        """
        return ()

    def determinism_for(self, args: A) -> Determinism:
        return self.determinism

    def idempotence_for(self, args: A) -> Idempotence:
        return self.idempotence

    def replayable_for(self, args: A) -> bool:
        return self.replayable

    def revert_for(self, args: A, blender: Version) -> Revert:
        """Return how to undo a call with these arguments in this Blender."""
        return self.revert

    def frames_for(self, args: A) -> Mapping[str, Any] | None:
        """Return everything except the scene that decides the look of each frame, or None if the call renders no
        frames.

        Frames with equal keys are rendered once.
        """
        return None

    def seed_for(self, args: A) -> int | None:
        """Return the seed of a seeded tool, which is always an argument, else None."""
        if self.determinism is Determinism.SEEDED:
            return getattr(args, "seed", None)
        return None

    def tolerance_for(self, args: A) -> float | None:
        """Return the tolerance within which results agree, or None."""
        return None

    def vertices_for(self, args: A) -> int:
        """Return the number of vertices that the arguments request, 0 if they do not tell. The contract limits it."""
        return 0

    def code_chars_for(self, args: A) -> int:
        """Return the number of characters of code in the arguments. The contract limits it."""
        return 0

    def capabilities_for(self, args: A) -> tuple[str, ...]:
        """Return the capabilities that these arguments need, which may be more than the tool's."""
        return self.requires.capabilities

    def mentions_for(self, args: A) -> Iterable[Mention]:
        """Return the datablocks that these arguments name: used, created and removed ones."""
        return mentions(args)

    def isolation_for(self, args: A) -> Isolation:
        """Return the process that the call runs in."""
        return Isolation.SHARED

    def seconds_for(self, args: A) -> float | None:
        """Return the deadline that the arguments set, or None. The contract's deadline always holds."""
        return None

    def time_asked(self, args: A) -> tuple[str, float] | None:
        """Return the argument that requests time and its seconds, or None. The contract limits it."""
        return None

    def reads_back(self, args: A) -> tuple[str, str] | None:
        """Return the format and profile for reading the written file in another process before delivery, or None."""
        return None

    def read_back(self, args: A, result: Mapping[str, Any], found: FileFacts) -> tuple[Mapping[str, Any], Findings]:
        """Return the result with the measures of the written file, and findings about them."""
        return result, ()

    def shown_for(self, args: A) -> str:
        """Return the text that a person must see completely before approving the call, such as code. The default is
        empty.
        """
        return ""

    # ------------------------------------------------------------------ what is derived

    @classmethod
    def summary(cls) -> str:
        """Return the first paragraph of the docstring as one line."""
        return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())

    @classmethod
    @cache
    def args_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        return cls.args_model.model_json_schema()

    @classmethod
    @cache
    def result_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the result."""
        return cls.result_model.model_json_schema(mode="serialization")

    @classmethod
    def declaration(cls) -> dict[str, Any]:
        """Return every promise as data, for the reference page, hosts and the planner."""
        return {
            "name": cls.name,
            "version": cls.version,
            "summary": cls.summary(),
            "safety_level": cls.safety_level.value,
            "destructive_with": list(cls.destructive_with),
            "safety_mode": cls.safety_mode.value,
            "determinism": cls.determinism.value,
            "idempotence": cls.idempotence.value,
            "writes": [kind.value for kind in cls.writes],
            "revert": cls.revert.value,
            "replayable": cls.replayable,
            **({"time_limit": cls.time_limit} if cls.time_limit != Tool.time_limit else {}),
            "requires": {
                "blender_min": list(cls.requires.blender_min),
                "blender_max": list(cls.requires.blender_max) if cls.requires.blender_max else None,
                "capabilities": list(cls.requires.capabilities),
            },
            "args_schema": cls.args_schema(),
            "result_schema": cls.result_schema(),
            "examples": [{"args": example.args, "given": example.given} for example in cls.examples],
        }


AnyTool = Tool[Any, Any]


def completed(stages: Generator[None, None, R]) -> R:
    """Run all stages and return the result."""
    while True:
        try:
            next(stages)
        except StopIteration as done:
            return done.value


class Reads(Tool[A, R], Generic[A, R], family=True):
    """The family of read-only tools. A tool defines `apply`, and `check` if a call can be wrong."""

    def check(self, scene: Scene, args: A) -> Findings:
        return ()

    def verify(self, scene: Scene, args: A, result: R) -> Findings:
        return ()


def _problems(cls: type[AnyTool]) -> Iterable[str]:
    for name, kind in DECLARATIONS.items():
        if name not in cls.__dict__:
            yield f"does not declare {name}"
        elif not isinstance(cls.__dict__[name], kind):
            yield f"declares {name} as {type(cls.__dict__[name]).__name__}"
    promises = cls.__dict__.get("promises")
    if isinstance(promises, Promises):
        for promise in fields(promises):
            setattr(cls, promise.name, getattr(promises, promise.name))
    for part in ("check", "apply", "verify"):
        if getattr(cls, part) is getattr(Tool, part):
            yield f"does not define {part}"
    if not (cls.__dict__.get("__doc__") or "").strip():
        yield "has no docstring"
    models = _models(cls)
    if models is None:
        yield "does not say Tool[Arguments, Result]"
    else:
        cls.args_model, cls.result_model = models
    yield from _contradictions(cls)


def _models(cls: type[AnyTool]) -> tuple[type[Args], type[Result]] | None:
    match _type_arguments(cls, {}):
        case [type() as args, type() as result] if issubclass(args, Args) and issubclass(result, Result):
            return args, result
        case _:
            return None


def _type_arguments(cls: Any, values: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Return the arguments that a class passes to the parameters of `Tool`, directly or through a family."""
    for base in getattr(cls, "__orig_bases__", ()):
        origin: Any = get_origin(base)
        if Tool in getattr(origin, "__mro__", ()):
            arguments = tuple(values.get(one, one) for one in get_args(base))
            if origin is Tool:
                return arguments
            return _type_arguments(origin, dict(zip(origin.__parameters__, arguments, strict=True)))
    return ()


def _contradictions(cls: type[AnyTool]) -> Iterable[str]:
    if not NAME.fullmatch(str(cls.__dict__.get("name", ""))):
        yield "needs a name like noun.verb"
    if not cls.__dict__.get("examples"):
        yield "has no example"
    models = _models(cls)
    if models:
        arguments = models[0].model_fields
    else:
        arguments = {}
    for name in cls.destructive_with:
        if name not in arguments:
            yield f"is destructive with {name}, which it does not take"
    promises = cls.__dict__.get("promises")
    if not isinstance(promises, Promises):
        return
    read_only = promises.safety_level is SafetyLevel.READ_ONLY
    if read_only != (promises.revert is Revert.NOTHING):
        yield "must revert by something exactly when it is not read-only"
    if promises.writes is None:
        yield "does not say what it writes to"
    if promises.requires is None:
        yield "does not say what capabilities it needs"
    if read_only and promises.writes:
        yield "is read-only and declares writes"
    if (
        OVERWRITE in arguments
        and promises.safety_level is not SafetyLevel.DESTRUCTIVE
        and OVERWRITE not in cls.destructive_with
    ):
        yield "takes overwrite and is not destructive with it"
    if models and promises.determinism is Determinism.SEEDED and "seed" not in arguments:
        yield "is seeded and takes no seed"
