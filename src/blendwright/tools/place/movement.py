"""Shared base of tools that move objects by a distance in the world, and checks that several objects can move together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, ClassVar, Generic, TypeVar

from pydantic import Field

from blendwright.tool_api.arguments import Args, Result
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.scene import Block, Kind, Point, Scene
from blendwright.tool_api.tool import Findings, Tool
from blendwright.tools.animation_data import move_conflicts
from blendwright.tools.checks import conflict, differs, evaluated_object, invalid
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# The name of an object, and its distance to the requested position along the world axes, in metres.
Offset = tuple[str, Point]

AXES = {"X": 0, "Y": 1, "Z": 2}

# Distances below these limits are rounding errors of single precision. Skipping them makes a repetition write nothing.
# The first is in metres, the second a share of the largest coordinate.
ABSOLUTE = 1e-6
RELATIVE = 1e-6
# A shape that depends on its position settles within a few rounds, or never.
MAX_ROUNDS = 8


class MoveArgs(Args):
    objects: Annotated[list[ObjectName], Field(min_length=1, max_length=1000)] = Field(
        description="Names of the objects to move."
    )


class Moved(Result):
    """Objects that a tool moved to their requested positions."""

    objects: list[str] = Field(description="Names of all objects, in the order of the argument.")
    moved: list[str] = Field(description="Names of the objects that had to move.")


A = TypeVar("A", bound=MoveArgs)


class MovesObjects(Tool[A, Moved], Generic[A], family=True):
    """Move objects to requested positions in the world. A subclass computes how far each has to move."""

    in_place: ClassVar[str] = "in place"

    def offsets(self, scene: Scene, args: A) -> list[Offset]:
        """Return the distance of each object to its requested position, in the order of the objects."""
        raise NotImplementedError

    def references(self, args: A) -> Iterable[str]:
        """Return the names of further objects that the requested positions depend on."""
        return ()

    def apply(self, scene: Scene, args: A) -> Moved:
        """Move the objects. Repeat this for shapes that depend on their position, until they settle.

        Raise StepError if they do not settle.
        """
        offsets = self.offsets(scene, args)
        names = [name for name, _ in offsets]
        moved_names = _shift_all(scene, offsets)
        rounds = max_rounds(*(scene.require(Kind.OBJECT, name) for name in (*names, *self.references(args))))
        while rounds:
            offsets = [offset for offset in self.offsets(scene, args) if not _is_in_place(scene, offset)]
            if not offsets:
                break
            rounds -= 1
            if not rounds:
                raise does_not_settle(offsets[0][0], _pointer(args, offsets[0]))
            moved_names |= _shift_all(scene, offsets)
        return Moved(objects=names, moved=[name for name in names if name in moved_names])

    def verify(self, scene: Scene, args: A, result: Moved) -> Findings:
        for offset in self.offsets(scene, args):
            what = f"that '{offset[0]}' is {self.in_place}"
            yield from differs(what, True, _is_in_place(scene, offset), _pointer(args, offset))


def _pointer(args: MoveArgs, offset: Offset) -> str:
    return f"/objects/{args.objects.index(offset[0])}"


def is_negligible(delta: Sequence[float], location: Sequence[float]) -> bool:
    """Return True if a distance is a rounding error at that position."""
    return max(map(abs, delta)) <= ABSOLUTE + RELATIVE * max(map(abs, location))


def shift(scene: Scene, obj: Block, delta: Sequence[float]) -> bool:
    """Move an object by a distance in the world. Return False and write nothing if the distance is negligible.

    This uses the world matrix of the last evaluation: evaluating again for each of a thousand objects would take seconds.
    """
    matrix = obj.matrix_world
    if is_negligible(delta, matrix.translation):
        return False
    # Write only the location, because decomposing a whole matrix would change rotation and scale by rounding errors.
    frame = (matrix @ obj.matrix_basis.inverted_safe()).to_3x3()
    scene.set(obj, "location", obj.location + frame.inverted_safe() @ scene.vector(delta))
    return True


def _shift_all(scene: Scene, offsets: Iterable[Offset]) -> set[str]:
    """Move objects by their offsets. Return the names of the objects that moved."""
    return {name for name, delta in offsets if shift(scene, scene.require(Kind.OBJECT, name), delta)}


def _is_in_place(scene: Scene, offset: Offset) -> bool:
    """Return True if an object is at its requested position, within four times the negligible distance."""
    name, delta = offset
    location = scene.evaluated(scene.require(Kind.OBJECT, name)).matrix_world.translation
    return is_negligible([part / 4 for part in delta], location)


def max_rounds(*objects: Block) -> int:
    """Return how many rounds of moving are allowed: 0 unless a modifier ties the shape of an object to its position."""
    if any(_depends_on_position(obj) for obj in objects):
        return MAX_ROUNDS
    return 0
    return 0


def _depends_on_position(obj: Block) -> bool:
    for modifier in obj.modifiers:
        if modifier.type == "NODES":
            return True  # nodes can read any object, and the position of their own object
        pointers = [prop for prop in modifier.bl_rna.properties if prop.type == "POINTER"]
        references = [prop.identifier for prop in pointers if prop.fixed_type.identifier in ("Object", "Collection")]
        if any(getattr(modifier, name) is not None for name in references):
            return True
    return False


def does_not_settle(name: str, at: str) -> StepError:
    """Return the error for an object that changes its shape with every move, so that it never fits its position."""
    message = f"the shape of '{name}' changes with its position, so it never reaches the requested position"
    return StepError.of(Fault.SCENE_CONFLICT, message, at=at, cure="Apply the modifier that uses another object first.")


def movement_problems(scene: Scene, names: Sequence[str], at: str) -> Findings:
    """Yield findings that explain why these objects cannot be moved together, each with its JSON pointer."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names):
        pointer = f"{at}/{number}"
        first_number = seen.setdefault(name, number)
        if first_number != number:
            yield invalid(f"object '{name}' is named twice", pointer, "Name each object once.")
            continue
        obj = yield from evaluated_object(scene, name, pointer)
        if obj is not None:
            yield from move_conflicts(scene, obj, pointer)
    for number, name in enumerate(names):
        obj = scene.find(Kind.OBJECT, name)
        parent = next((parent for parent in ancestors(obj) if parent.name in seen), None)
        if parent is not None:
            message = f"object '{name}' moves together with its parent '{parent.name}', which is named too"
            yield conflict(message, f"{at}/{number}", "Name only one of them.")


def ancestors(obj: Block | None) -> Iterator[Block]:
    while obj is not None and obj.parent is not None:
        obj = obj.parent
        yield obj


def along(axis: int, distance: float) -> Point:
    """Return the vector with this length in metres along a world axis."""
    vector = [0.0, 0.0, 0.0]
    vector[axis] = distance
    x, y, z = vector
    return x, y, z
