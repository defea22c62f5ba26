"""The building blocks of argument models: strict, closed and finite, with units and limits in the schema."""

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
    """The base of every tool's argument model."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, defer_build=True)


class Result(BaseModel):
    """The base of every tool's result model."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


def name_of(most: int) -> AfterValidator:
    """Return a validator for names of at most `most` bytes.

    Blender cuts longer names and ends names at the first NUL, so that they would name another datablock.
    """

    def fits(value: str) -> str:
        if len(value) <= most and value.isascii() and value.isprintable():
            return value  # nearly every name, told apart soonest
        if len(value.encode()) > most:
            raise PydanticCustomError("name_too_long", "a name may have at most {limit} bytes", {"limit": most})
        if CONTROL.search(value):
            raise PydanticCustomError("name_control", "a name may not contain control characters")
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
    """Marks a colour without opacity. It also accepts a fourth component of 1, which is dropped, and a web colour
    #rrggbb, which becomes linear RGB.
    """

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
    """Marks factors along X, Y and Z. One number stands for all three."""

    @staticmethod
    def in_own_terms(value: Any) -> Any:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if number:
            return [value, value, value]
        return value


def _linear(part: float) -> float:
    """Return an sRGB component in linear light, rounded because the last digits of powers differ between machines."""
    return round(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4, 6)


WEB_COLOR = re.compile(r"#[0-9a-fA-F]{6}")
Color3 = Annotated[tuple[UnitFloat, UnitFloat, UnitFloat], Field(strict=False), Opaque()]
Scale3 = Annotated[tuple[BoundedFloat, BoundedFloat, BoundedFloat], Field(strict=False), Factors()]
Seed = Annotated[int, Field(ge=0, le=2**31 - 1)]


def optional(description: str, **constraints: Any) -> Any:
    """Return an optional field of an argument model with the default None."""
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
    """Return a field that had other names before. Plans and journals may still use the `former` names."""
    missing = [word for word in former if name not in RENAMED.get(word, ())]
    if missing:
        raise TypeError(f"RENAMED does not say that {', '.join(missing)} is called {name} now")
    return Field(validation_alias=AliasChoices(name, *former), description=description, **constraints)


@cache
def former_names(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the former names of a model's arguments, each with its current name."""
    return {
        str(former): name
        for name, info in model.model_fields.items()
        if isinstance(info.validation_alias, AliasChoices)
        for former in info.validation_alias.choices
        if former != name
    }


@cache
def _other_forms(model: type[BaseModel]) -> Mapping[str, Opaque | Factors]:
    """Return the arguments that accept another form, each with the mark that converts it."""
    marks = {
        name: [
            *info.metadata,
            *(mark for part in get_args(info.annotation) for mark in getattr(part, "__metadata__", ())),
        ]
        for name, info in model.model_fields.items()
    }
    return {name: mark for name, each in marks.items() for mark in each if isinstance(mark, (Opaque, Factors))}


def in_own_terms(model: type[BaseModel], raw: Any) -> tuple[Any, Mapping[str, str]]:
    """Return the arguments with current names and forms, and the former names that the caller used, by current name.

    A scale may be one number, a colour a web colour or have an opacity of 1. If both names of an argument are given,
    the former name stays and is an unknown field.
    """
    former = former_names(model)
    if not isinstance(raw, dict):
        return raw, {}
    arguments = cast("dict[str, Any]", raw)
    for name, mark in _other_forms(model).items():
        if name in arguments:
            value = mark.in_own_terms(arguments[name])
            if value is not arguments[name]:
                arguments = {**arguments, name: value}
    if not former:
        return arguments, {}
    used_former_names = {former[name]: name for name in arguments if name in former and former[name] not in arguments}
    if not used_former_names:
        return arguments, {}
    current_names = {old: name for name, old in used_former_names.items()}
    return {current_names.get(name, name): value for name, value in arguments.items()}, used_former_names


def former_name_note(tool: str, former: str, name: str) -> str:
    return f"{tool}: '{former}' is now called '{name}'; the former name still works"


class FileRole:
    """Marks a path argument, so that the core copies files that a call reads into the scratch, and files that it
    writes out of it.
    """

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
    """A path in the arguments of a call. `key` and `number` locate it inside an argument with several paths."""

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
    """Return every path in the arguments with its role ("read", "write", "frames", "asset", or "pictures" for a
    folder).
    """
    paths: list[PathArgument] = []
    for name, role in file_arguments(model).items():
        value = args.get(name)
        if value is None or role in SUPPLIED:
            continue
        if role != "declared":
            paths.append(PathArgument(name, role, value))
            continue
        for key, role_of_list in (("in", "read"), ("out", "write")):
            paths += (PathArgument(name, role_of_list, path, key, at) for at, path in enumerate(value.get(key) or ()))
    return paths


def supplied_in(model: type[BaseModel], args: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the arguments for which the core looks something up, with their roles."""
    return [
        (name, role) for name, role in file_arguments(model).items() if role in SUPPLIED and args.get(name) is not None
    ]


@cache
def file_arguments(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the top-level path arguments with their roles ("read", "write", or "declared" for arguments that name
    the role of each path).
    """
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
