"""Mentions: the datablocks that a call names, and its effect on them, read from marks on the arguments.

The order of a plan depends on mentions: a datablock must be created before an operation uses it, and must not be
removed yet. A modifier or constraint is not a datablock, but calls also create, use and remove it by name. Its name
is unique within its object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, NamedTuple, cast

from pydantic import BaseModel, Field

from blendwright.tool_api.arguments import InnerName, Name
from blendwright.tool_api.scene import Kind

# What goes for a kind where the argument does not tell it: the value of a socket may be the name of anything.
ANY_KIND = ""
MODIFIER = "modifiers"
CONSTRAINT = "constraints"
# What is no datablock, but has a name within an object: kind -> the word for one of them.
INSIDE_OBJECTS = {MODIFIER: "modifier", CONSTRAINT: "constraint"}


class Role(Enum):
    """The effect of a call on a datablock that it names. A rename removes the old name and creates the new one."""

    USES = "uses"
    MAKES = "makes"
    ENSURES = "ensures"  # makes it where there is none, else uses it
    REMOVES = "removes"


class Mention(NamedTuple):
    """A datablock that a call names. `at` points into the arguments.

    `owner` is the object that contains a modifier or constraint, "" for a datablock. Without `surely`, the call may
    also succeed if the datablock does not exist.
    """

    role: Role
    kind: str
    name: str
    owner: str = ""
    surely: bool = True
    at: str = ""


@dataclass(frozen=True, slots=True)
class Names:
    """Marks an argument that names one or several datablocks. `inside` is another argument, which names the owner."""

    role: Role
    kind: str
    inside: str | None = None
    surely: bool = True


def uses(kind: Kind) -> Names:
    return Names(Role.USES, kind.value)


def makes(kind: Kind) -> Names:
    return Names(Role.MAKES, kind.value)


def ensures(kind: Kind) -> Names:
    return Names(Role.ENSURES, kind.value)


def removes(kind: Kind) -> Names:
    return Names(Role.REMOVES, kind.value)


def in_stack(role: Role, inside: str = "object", kind: str = MODIFIER) -> Names:
    """Names a modifier or constraint. Others than this plan may have put it there, also by copying or renaming its object."""
    return Names(role, kind, inside, surely=False)


ObjectName = Annotated[Name, uses(Kind.OBJECT)]
NewObjectName = Annotated[Name, makes(Kind.OBJECT)]
CollectionName = Annotated[Name, uses(Kind.COLLECTION)]
MaterialName = Annotated[Name, uses(Kind.MATERIAL)]
ModifierName = Annotated[Name, in_stack(Role.USES)]
NewModifierName = Annotated[Name, in_stack(Role.MAKES)]
RemovedModifierName = Annotated[Name, in_stack(Role.REMOVES)]
ConstraintName = Annotated[InnerName, Field(min_length=1), in_stack(Role.USES, kind=CONSTRAINT)]
NewConstraintName = Annotated[InnerName, Field(min_length=1), in_stack(Role.MAKES, kind=CONSTRAINT)]
RemovedConstraintName = Annotated[InnerName, Field(min_length=1), in_stack(Role.REMOVES, kind=CONSTRAINT)]
# For a value that can be the name of a datablock, among other things.
PERHAPS_A_NAME = Names(Role.USES, ANY_KIND, surely=False)


def mentions(args: BaseModel, at: str = "") -> Iterator[Mention]:
    """Return the datablocks that the marked arguments name, including those inside parts and lists."""
    for field, mark in _marked_fields(type(args)):
        value = getattr(args, field)
        if value is None:
            continue
        place = f"{at}/{field}"
        if mark is None:
            yield from _inside(value, place)
        elif isinstance(value, str):
            if mark.inside:
                owner = getattr(args, mark.inside)
            else:
                owner = ""
            yield Mention(mark.role, mark.kind, value, owner, mark.surely, place)
        else:
            for key, part in _parts(value):
                if isinstance(part, str):
                    yield Mention(mark.role, mark.kind, part, "", mark.surely, f"{place}/{key}")


def _inside(value: Any, at: str) -> Iterator[Mention]:
    if isinstance(value, BaseModel):
        yield from mentions(value, at)
    for key, part in _parts(value):
        yield from _inside(part, f"{at}/{key}")


def _parts(value: Any) -> Iterator[tuple[object, Any]]:
    if isinstance(value, list | tuple):
        yield from enumerate(cast("list[Any]", value))
    elif isinstance(value, Mapping):
        yield from cast("Mapping[str, Any]", value).items()


@cache
def _marked_fields(model: type[BaseModel]) -> tuple[tuple[str, Names | None], ...]:
    """The fields that have a mark, and those (without one) that hold models which have some."""
    fields: list[tuple[str, Names | None]] = []
    for name, info in model.model_fields.items():
        marks = [one for one in (*info.metadata, *metadata_of(info.annotation)) if isinstance(one, Names)]
        if marks:
            fields.append((name, marks[0]))
        elif any(inner is not model and _marked_fields(inner) for inner in models_in(info.annotation)):
            fields.append((name, None))
    return tuple(fields)


def metadata_of(annotation: Any) -> Iterator[Any]:
    """Yield the metadata of an annotation at any depth."""
    yield from getattr(annotation, "__metadata__", ())
    for part in getattr(annotation, "__args__", ()):
        yield from metadata_of(part)


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that an argument can hold, at any depth."""
    parts: tuple[Any, ...] = getattr(annotation, "__args__", ())
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in parts:
        yield from models_in(part)
