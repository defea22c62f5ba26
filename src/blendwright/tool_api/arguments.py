"""The building blocks of argument models: strict, closed, finite, with units and limits in the schema."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

# Blender 5.0 keeps names of up to 255 bytes, older ones 63: the Scene port checks the limit of the Blender at hand.
NAME_BYTES = 255
# What lies inside a datablock has shorter names in every version (4.2, 4.5, 5.0): vertex groups, nodes, custom properties;
# attributes and UV maps.
INNER_BYTES = 63
ATTRIBUTE_BYTES = 67
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class Args(BaseModel):
    """Base of every tool's arguments."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)


class Result(BaseModel):
    """Base of every tool's result."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


def name_of(most: int) -> AfterValidator:
    """Holds a text to be a name of at most so many bytes.

    Blender cuts a longer one, and ends any at its first NUL: it would be the name of another thing."""

    def fits(value: str) -> str:
        if len(value) <= most and value.isascii() and value.isprintable():
            return value  # nearly every name, told apart soonest
        if len(value.encode()) > most:
            raise PydanticCustomError("name_too_long", "a name has at most {limit} bytes", {"limit": most})
        if CONTROL.search(value):
            raise PydanticCustomError("name_control", "a name has no control characters")
        return value

    return AfterValidator(fits)


# Names are taken literally, blanks and all: trimming one would address another datablock.
Name = Annotated[str, Field(min_length=1, max_length=NAME_BYTES), name_of(NAME_BYTES)]
# Names inside a datablock; an empty one means none where an argument allows it.
InnerName = Annotated[str, Field(max_length=INNER_BYTES), name_of(INNER_BYTES)]
AttributeName = Annotated[str, Field(max_length=ATTRIBUTE_BYTES), name_of(ATTRIBUTE_BYTES)]
Text = Annotated[str, StringConstraints(strip_whitespace=True)]

# Blender computes in single precision, which ends at 3e38. Up to this the area of a face is finite, and so is the square of a
# size times a scale, which lengths are made of (docs/decisions/0036).
LARGEST = 1e9
BoundedFloat = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
UnitFloat = Annotated[float, Field(ge=0.0, le=1.0)]
PositiveFloat = Annotated[float, Field(gt=0.0, le=LARGEST)]
LengthFloat = Annotated[float, Field(ge=0.0, le=LARGEST)]

# JSON has arrays, not tuples: these three accept a list and check each element strictly.
Vector2 = Annotated[tuple[BoundedFloat, BoundedFloat], Field(strict=False)]
Vector3 = Annotated[tuple[BoundedFloat, BoundedFloat, BoundedFloat], Field(strict=False)]
Vector4 = Annotated[tuple[BoundedFloat, BoundedFloat, BoundedFloat, BoundedFloat], Field(strict=False)]


class Opaque:
    """Marks a colour without opacity. Blender's colours often have one as fourth part: where it is 1 it says nothing, and is left out.
    A colour as web pages have it, #rrggbb, is the same colour in linear RGB."""

    @staticmethod
    def in_own_terms(value: Any) -> Any:
        if isinstance(value, str) and WEB_COLOR.fullmatch(value.strip()):
            digits = value.strip()[1:]
            return [_linear(int(digits[at : at + 2], 16) / 255) for at in (0, 2, 4)]
        if not isinstance(value, list):
            return value
        parts = cast("list[Any]", value)
        if len(parts) == 4 and parts[3] == 1:
            return parts[:3]
        return parts


class Factors:
    """Marks factors along X, Y and Z: one number is all three of them."""

    @staticmethod
    def in_own_terms(value: Any) -> Any:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if number:
            return [value, value, value]
        return value


def _linear(part: float) -> float:
    """A part of a colour as screens have it, in linear light; the last digits of powers are not equal on every machine."""
    return round(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4, 6)


WEB_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
Color3 = Annotated[tuple[UnitFloat, UnitFloat, UnitFloat], Field(strict=False), Opaque()]
Scale3 = Annotated[tuple[BoundedFloat, BoundedFloat, BoundedFloat], Field(strict=False), Factors()]
Seed = Annotated[int, Field(ge=0, le=2**31 - 1)]


def optional(description: str, **constraints: Any) -> Any:
    """A field of an argument model that may be left out: it is None then."""
    return Field(default=None, description=description, **constraints)


# What arguments are called now, by their former names, of all tools: who hides an argument by one of its names hides it by the other.
# Written down, since not every process loads every tool.
RENAMED: Mapping[str, frozenset[str]] = {
    "child": frozenset({"object"}),
    "modifier_name": frozenset({"modifier"}),
    "name": frozenset({"object"}),
    "object_name": frozenset({"object"}),
    "source": frozenset({"object"}),
    "targets": frozenset({"objects"}),
}


def renamed(name: str, *former: str, description: str, **constraints: Any) -> Any:
    """A field that had another name before. `name` is the field's own; the former ones are accepted still, in plans and in journals."""
    missing = [word for word in former if name not in RENAMED.get(word, ())]
    if missing:
        raise TypeError(f"RENAMED does not say that {', '.join(missing)} is called {name} now")
    return Field(validation_alias=AliasChoices(name, *former), description=description, **constraints)


@cache
def former_names(model: type[BaseModel]) -> Mapping[str, str]:
    """The former names of a model's arguments, each with the name that it has now."""
    return {
        str(former): name
        for name, info in model.model_fields.items()
        if isinstance(info.validation_alias, AliasChoices)
        for former in info.validation_alias.choices
        if former != name
    }


@cache
def _other_forms(model: type[BaseModel]) -> Mapping[str, Opaque | Factors]:
    """The arguments that may be written in another form, with the mark that knows it."""
    marks = {
        name: [
            *info.metadata,
            *(mark for part in get_args(info.annotation) for mark in getattr(part, "__metadata__", ())),
        ]
        for name, info in model.model_fields.items()
    }
    return {name: mark for name, each in marks.items() for mark in each if isinstance(mark, (Opaque, Factors))}


def in_own_terms(model: type[BaseModel], raw: Any) -> tuple[Any, Mapping[str, str]]:
    """Arguments under the names and in the form that they have now, and which arguments were given under a former name (name: former
    name). A scale may be one number, a colour a web colour or one with an opacity that says nothing.

    An argument that is there under both names is left as it is: the former name is an unknown field then."""
    former = former_names(model)
    if not isinstance(raw, dict):
        return raw, {}
    given = cast("dict[str, Any]", raw)
    for name, mark in _other_forms(model).items():
        if name in given:
            value = mark.in_own_terms(given[name])
            if value is not given[name]:
                given = {**given, name: value}
    if not former:
        return given, {}
    found = {former[name]: name for name in given if name in former and former[name] not in given}
    if not found:
        return given, {}
    now = {old: name for name, old in found.items()}
    return {now.get(name, name): value for name, value in given.items()}, found


def former_name_note(tool: str, former: str, name: str) -> str:
    return f"{tool}: '{former}' is called '{name}'; the former name is accepted still"


class FileRole:
    """Marks a path argument, so that the core stages the file: what is read is copied in, what is written is copied out."""

    def __init__(self, role: str) -> None:
        self.role = role

    def __repr__(self) -> str:
        return f"FileRole({self.role!r})"


ReadPath = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096), FileRole("read")]
WritePath = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096), FileRole("write")]

# A folder whose pictures are read; what else is in it, and folders in it, are not.
PictureFolder = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096), FileRole("pictures")
]

# Where the frames of an animation go: `####` in its name is the number of the frame.
FramesPath = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096), FileRole("frames")]

# A file or a folder of the libraries in [assets], as asset.search names it, or a path in the roots; what tells of it comes along.
AssetPath = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096), FileRole("asset")]

# What the core looks up for a call, and leaves for the worker under the role's own name: assets that fit, or one from another machine.
SUPPLIED = frozenset({"search", "online"})

# Files that code reads ("in") and writes ("out").
MOST_FILES = 64
AnyPath = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4096)]
DeclaredFiles = Annotated[
    dict[Literal["in", "out"], Annotated[list[AnyPath], Field(max_length=MOST_FILES)]], FileRole("declared")
]


@dataclass(frozen=True, slots=True)
class PathArgument:
    """One path in the arguments of a call: the argument, and where in it the path stands, if it has several."""

    name: str
    role: str
    path: str
    key: str = ""
    number: int = 0

    @property
    def pointer(self) -> str:
        if self.key:
            return f"/{self.name}/{self.key}/{self.number}"
        return f"/{self.name}"


def paths_in(model: type[BaseModel], args: Mapping[str, Any]) -> list[PathArgument]:
    """Every path in the arguments, with its role ("read", "write", "frames", "asset", or "pictures", a folder that is read)."""
    found: list[PathArgument] = []
    for name, role in file_arguments(model).items():
        value = args.get(name)
        if value is None or role in SUPPLIED:
            continue
        if role != "declared":
            found.append(PathArgument(name, role, value))
            continue
        for key, each in (("in", "read"), ("out", "write")):
            found += (PathArgument(name, each, path, key, at) for at, path in enumerate(value.get(key) or ()))
    return found


def supplied_in(model: type[BaseModel], args: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The arguments by which the core looks something up, with their roles."""
    return [
        (name, role) for name, role in file_arguments(model).items() if role in SUPPLIED and args.get(name) is not None
    ]


@cache
def file_arguments(model: type[BaseModel]) -> Mapping[str, str]:
    """The top-level arguments that are paths, with their role ("read", "write", or "declared" where they say it themselves)."""
    roles: dict[str, str] = {}
    for name, info in model.model_fields.items():
        for mark in _marks(info.annotation, info.metadata):
            roles[name] = mark.role
    return roles


def _marks(annotation: Any, metadata: list[Any]) -> list[FileRole]:
    marks = [mark for mark in metadata if isinstance(mark, FileRole)]
    for part in getattr(annotation, "__args__", ()):
        marks += [mark for mark in getattr(part, "__metadata__", ()) if isinstance(mark, FileRole)]
    return marks
