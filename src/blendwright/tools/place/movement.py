"""Moves objects by a distance in the world, and checks whether several can be moved at once: the family of tools that do so."""

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

# The name of an object, and how far it has to go in the world.
Offset = tuple[str, Point]

AXES = {"X": 0, "Y": 1, "Z": 2}

# Shorter distances are the noise of single precision: leaving them makes a repetition write nothing.
ABSOLUTE = 1e-6
RELATIVE = 1e-6
# A shape that depends on its place comes to rest within a few rounds, or never.
ROUNDS = 8


class MoveArgs(Args):
    objects: Annotated[list[ObjectName], Field(min_length=1, max_length=1000)] = Field(
        description="Names of the objects to move."
    )


class Moved(Result):
    """Objects that a tool has put in place."""

    objects: list[str] = Field(description="Names of all objects, in their order.")
    moved: list[str] = Field(description="Names of those that were not there already.")


A = TypeVar("A", bound=MoveArgs)


class MovesObjects(Tool[A, Moved], Generic[A], family=True):
    """Moves objects to where they belong in the world. A tool says how far each has to go."""

    in_place: ClassVar[str] = "in its place"

    def offsets(self, scene: Scene, args: A) -> list[Offset]:
        """How far each object has to go, in their order."""
        raise NotImplementedError

    def references(self, args: A) -> Iterable[str]:
        """Names of other objects that the places depend on."""
        return ()

    def apply(self, scene: Scene, args: A) -> Moved:
        """An object whose shape depends on its place is moved until it comes to rest."""
        offsets = self.offsets(scene, args)
        names = [name for name, _ in offsets]
        moved = _shift_all(scene, offsets)
        rounds = most_rounds(*(scene.require(Kind.OBJECT, name) for name in (*names, *self.references(args))))
        while rounds and (offsets := [each for each in self.offsets(scene, args) if not _is_in_place(scene, each)]):
            rounds -= 1
            if not rounds:
                raise does_not_settle(offsets[0][0], _pointer(args, offsets[0]))
            moved |= _shift_all(scene, offsets)
        return Moved(objects=names, moved=[name for name in names if name in moved])

    def verify(self, scene: Scene, args: A, result: Moved) -> Findings:
        for offset in self.offsets(scene, args):
            what = f"that '{offset[0]}' is {self.in_place}"
            yield from differs(what, True, _is_in_place(scene, offset), _pointer(args, offset))


def _pointer(args: MoveArgs, offset: Offset) -> str:
    return f"/objects/{args.objects.index(offset[0])}"


def is_negligible(delta: Sequence[float], location: Sequence[float]) -> bool:
    """Whether a distance is too short to count at that place."""
    return max(map(abs, delta)) <= ABSOLUTE + RELATIVE * max(map(abs, location))


def shift(scene: Scene, obj: Block, delta: Sequence[float]) -> bool:
    """Move an object by a distance in the world; False, and nothing is written, when the distance is too short to count.

    Takes the world matrix as last evaluated: evaluating anew for each of a thousand objects would take seconds."""
    matrix = obj.matrix_world
    if is_negligible(delta, matrix.translation):
        return False
    # Only the location is written: taking a whole matrix apart would touch rotation and scale with rounding noise.
    frame = (matrix @ obj.matrix_basis.inverted_safe()).to_3x3()
    scene.set(obj, "location", obj.location + frame.inverted_safe() @ scene.vector(delta))
    return True


def _shift_all(scene: Scene, offsets: Iterable[Offset]) -> set[str]:
    """Move objects by their offsets; the names of those that were moved."""
    return {name for name, delta in offsets if shift(scene, scene.require(Kind.OBJECT, name), delta)}


def _is_in_place(scene: Scene, offset: Offset) -> bool:
    """Whether an object is where it should be. A little more than one step of noise is allowed: moving is itself rounded."""
    name, delta = offset
    location = scene.evaluated(scene.require(Kind.OBJECT, name)).matrix_world.translation
    return is_negligible([part / 4 for part in delta], location)


def most_rounds(*objects: Block) -> int:
    """How often to move again, at the most: not at all unless a modifier ties the shape of an object to its place."""
    if any(_depends_on_place(obj) for obj in objects):
        return ROUNDS
    return 0


def _depends_on_place(obj: Block) -> bool:
    for modifier in obj.modifiers:
        if modifier.type == "NODES":
            return True  # nodes may ask for any object, and for the place of their own
        pointers = [prop for prop in modifier.bl_rna.properties if prop.type == "POINTER"]
        others = [prop.identifier for prop in pointers if prop.fixed_type.identifier in ("Object", "Collection")]
        if any(getattr(modifier, name) is not None for name in others):
            return True
    return False


def does_not_settle(name: str, at: str) -> StepError:
    """Moving it changed its shape, and moving it accordingly changed it again."""
    message = f"the shape of '{name}' depends on where it is, and it does not come to rest there"
    return StepError.of(Fault.SCENE_CONFLICT, message, at=at, cure="Apply the modifier that uses another object first.")


def movement_problems(scene: Scene, names: Sequence[str], at: str) -> Findings:
    """Why these objects cannot be moved, each with its own pointer."""
    seen: dict[str, int] = {}
    for number, name in enumerate(names):
        pointer = f"{at}/{number}"
        earlier = seen.setdefault(name, number)
        if earlier != number:
            yield invalid(f"object '{name}' is named twice", pointer, "Name each object once.")
            continue
        obj = yield from evaluated_object(scene, name, pointer)
        if obj is not None:
            yield from move_conflicts(scene, obj, pointer)
    for number, name in enumerate(names):
        obj = scene.find(Kind.OBJECT, name)
        parent = next((parent for parent in ancestors(obj) if parent.name in seen), None)
        if parent is not None:
            message = f"object '{name}' moves along with its parent '{parent.name}', which is named too"
            yield conflict(message, f"{at}/{number}", "Name only one of the two.")


def ancestors(obj: Block | None) -> Iterator[Block]:
    while obj is not None and obj.parent is not None:
        obj = obj.parent
        yield obj


def along(axis: int, distance: float) -> Point:
    x, y, z = (distance if index == axis else 0.0 for index in range(3))
    return x, y, z
