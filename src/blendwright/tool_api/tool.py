"""The Tool base: one small class per tool, with its promises in view and nothing assumed.

A tool that leaves a declaration or its docstring out is refused when it is defined. A family (`class Creates(Tool[A, R],
family=True)`) is no tool itself: it holds the `check`, `apply` and `verify` that its tools share, and declares nothing for them.
The base owns no order of phases: that is the worker's, and no tool can skip a part of it.
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
    """Arguments that work; `given` are the calls that set the stage, as (tool name, arguments)."""

    def __init__(self, args: Mapping[str, Any], *given: tuple[str, Mapping[str, Any]]) -> None:
        self.args = args
        self.given = given


A = TypeVar("A", bound=Args)
R = TypeVar("R", bound=Result)

DECLARATIONS: dict[str, type] = {"name": str, "promises": Promises, "examples": tuple}


class Tool(Generic[A, R]):
    """What every tool is. Declared promises hold for all arguments; a `…_for` method may promise more for given ones."""

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
        """Everything that speaks against running; reads only."""
        raise NotImplementedError

    def apply(self, scene: Scene, args: A) -> R:
        """Do it; every write goes through `scene`."""
        raise NotImplementedError

    def stages(self, scene: Scene, args: A) -> Generator[None, None, R]:
        """`apply` in parts, where there are some: of calls that run together, one part after the other is done for all of them."""
        yield from ()
        return self.apply(scene, args)

    def verify(self, scene: Scene, args: A, result: R) -> Findings:
        """What is not as promised, read back from the data."""
        raise NotImplementedError

    def examine(self, args: A, blender: Version | None) -> Findings:
        """What is wrong with the arguments that their schema cannot say. Pure: no scene, no Blender; pointers into the arguments.

        Without a version: what no supported Blender would take.
        """
        return ()

    # ------------------------------------------------------------------ promises that may depend on the arguments

    def safety_level_for(self, args: A) -> SafetyLevel:
        """Of these arguments: some destroy more than the tool as such."""
        destroys = any(getattr(args, name) for name in self.destructive_with)
        if destroys:
            return SafetyLevel.DESTRUCTIVE
        return self.safety_level

    def reasons_for(self, args: A) -> tuple[str, ...]:
        """Return why these arguments make the call more dangerous than the tool as such, for the person who is asked."""
        return ()

    def determinism_for(self, args: A) -> Determinism:
        return self.determinism

    def idempotence_for(self, args: A) -> Idempotence:
        return self.idempotence

    def replayable_for(self, args: A) -> bool:
        return self.replayable

    def revert_for(self, args: A, blender: Version) -> Revert:
        """How a call with these arguments is taken back in this Blender."""
        return self.revert

    def frames_for(self, args: A) -> Mapping[str, Any] | None:
        """Of a call that renders frames one by one: all that decides, together with the scene, what each looks like. Frames of equal
        keys are rendered once."""
        return None

    def seed_for(self, args: A) -> int | None:
        """The seed, for seeded tools: it is always an argument and is echoed."""
        if self.determinism is Determinism.SEEDED:
            return getattr(args, "seed", None)
        return None

    def tolerance_for(self, args: A) -> float | None:
        """The tolerance within which results agree, where one applies."""
        return None

    def vertices_for(self, args: A) -> int:
        """How many vertices the arguments ask for, where they tell: the contract bounds it."""
        return 0

    def code_chars_for(self, args: A) -> int:
        """How long the code in the arguments is, where there is some: the contract bounds it."""
        return 0

    def capabilities_for(self, args: A) -> tuple[str, ...]:
        """What these arguments need; some need more than the tool as such."""
        return self.requires.capabilities

    def mentions_for(self, args: A) -> Iterable[Mention]:
        """The datablocks that these arguments name: what the call uses, makes and removes."""
        return mentions(args)

    def isolation_for(self, args: A) -> Isolation:
        """Which process the call runs in."""
        return Isolation.SHARED

    def seconds_for(self, args: A) -> float | None:
        """A deadline in the arguments themselves; the contract's own holds in any case."""
        return None

    def time_asked(self, args: A) -> tuple[str, float] | None:
        """The argument that asks for time, and the seconds; the contract bounds it."""
        return None

    def reads_back(self, args: A) -> tuple[str, str] | None:
        """The form and the profile by which another process reads the file that the call writes, before it leaves; None for none."""
        return None

    def read_back(self, args: A, result: Mapping[str, Any], found: FileFacts) -> tuple[Mapping[str, Any], Findings]:
        """The result with what was found in the file, and what is wrong with that."""
        return result, ()

    def shown_for(self, args: A) -> str:
        """What a person must see whole before allowing the call, such as code; nothing beyond the arguments by default."""
        return ""

    # ------------------------------------------------------------------ what is derived

    @classmethod
    def summary(cls) -> str:
        """The first paragraph of the docstring, as one line."""
        return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())

    @classmethod
    @cache
    def args_schema(cls) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return cls.args_model.model_json_schema()

    @classmethod
    @cache
    def result_schema(cls) -> dict[str, Any]:
        """The JSON Schema of the result."""
        return cls.result_model.model_json_schema(mode="serialization")

    @classmethod
    def declaration(cls) -> dict[str, Any]:
        """Every promise as data: what the reference page, the host and the planner are told."""
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
    """What stages come to that are done in one go."""
    while True:
        try:
            next(stages)
        except StopIteration as done:
            return done.value


class Reads(Tool[A, R], Generic[A, R], family=True):
    """Answers a question about the scene. A tool defines `apply`, and `check` where something can be wrong."""

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
    """What a class says for the parameters of `Tool`, itself or by way of a family."""
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
