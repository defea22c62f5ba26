"""The `Scene` port: the only way a tool reads and writes a Blender scene.

A tool author never records an undo, never guards a name and never thinks about who else refers to a datablock: this port does.
Blender's own datablocks pass through it as they are (`Block`); reading their attributes is free. Writing is allowed in three ways:

* `create` a datablock, then write into it freely: on revert it is gone;
* `edit` an existing one, then write into it freely: on revert its pre-image is back;
* `set`, `set_item`, `link`, `rename`, `remove` …: single recorded writes, cheaper than a pre-image.

Anything else would escape the revert and the fingerprint, and the conformance suite finds it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from blendwright.tool_api.datablocks import Block, Kind, Point

if TYPE_CHECKING:
    from blendwright.tool_api.annotations import Annotates
    from blendwright.tool_api.file_port import FilePort
    from blendwright.tool_api.mesh_port import MeshPort
    from blendwright.tool_api.physics_port import PhysicsPort
    from blendwright.tool_api.picture_port import PicturePort
    from blendwright.tool_api.pictures import LooksCloser
    from blendwright.tool_api.rigging import Rigging
    from blendwright.tool_api.surfaces import Surfaces
    from blendwright.values.findings import Finding

    class _Parts(MeshPort, FilePort, PicturePort, LooksCloser, Annotates, PhysicsPort, Rigging, Protocol):
        pass
else:
    # Only type checkers hold a tool, and the worker's scene, against the port: whoever checks a plan does not wait for all its parts.
    class _Parts(Protocol):
        pass


__all__ = ["Block", "GeometryFacts", "Kind", "Point", "Scene"]


@dataclass(frozen=True, slots=True)
class GeometryFacts:
    """Counts and bounds of an object's geometry after its modifiers.

    Counts include each appearance of an instance; bounds are in object space. `loose_instances` are top-level
    instances that realise to nothing. `open_edges` are mesh edges without exactly two faces, None unless requested.
    `attributes` are those of all components.
    """

    vertices: int = 0
    edges: int = 0
    faces: int = 0
    curves: int = 0
    points: int = 0
    volumes: int = 0
    strokes: int = 0
    loose_instances: int = 0
    open_edges: int | None = None
    attributes: frozenset[str] = frozenset()
    low: Point | None = None
    high: Point | None = None

    @property
    def elements(self) -> int:
        """Return the number of elements that can be seen or edited."""
        return self.vertices + self.curves + self.points + self.volumes + self.strokes

    @property
    def size(self) -> Point:
        if self.low is None or self.high is None:
            return (0.0, 0.0, 0.0)
        return (self.high[0] - self.low[0], self.high[1] - self.low[1], self.high[2] - self.low[2])


class Scene(_Parts, Protocol):
    """The complete port. Methods for one sort of work (meshes, files, pictures) are declared in separate parts."""

    # ------------------------------------------------------------------ reading

    @property
    def version(self) -> tuple[int, int, int]:
        """Return the version of this Blender."""
        ...

    @property
    def active(self) -> Block:
        """Return the scene datablock that tools work in."""
        ...

    def find(self, kind: Kind, name: str) -> Block | None:
        """Return the local datablock of that name, or None."""
        ...

    def require(self, kind: Kind, name: str, at: str = "") -> Block:
        """Return the datablock of that name. Raises StepError with a suggestion if it does not exist."""
        ...

    def missing(self, kind: Kind, name: str, at: str) -> Sequence[Finding]:
        """Return a finding for `check` if no datablock has that name. `at` is the JSON pointer of the argument."""
        ...

    def name_conflicts(self, kind: Kind, name: str, at: str) -> Sequence[Finding]:
        """Return a finding for `check` if a new datablock cannot have this name (in use, or too long for this
        Blender).
        """
        ...

    def names(self, kind: Kind) -> Sequence[str]:
        """Return all names of a kind, sorted."""
        ...

    def blocks(self, kind: Kind) -> Iterable[Block]:
        """Return all datablocks of a kind in the order of their names."""
        ...

    def kind_of(self, block: Block) -> Kind:
        """Return the kind of a datablock."""
        ...

    def users(self, block: Block) -> Sequence[Block]:
        """Return the datablocks that refer to one. This is slow in large scenes, so call it rarely."""
        ...

    def users_of(self, blocks: Iterable[Block]) -> Mapping[Block, Sequence[Block]]:
        """Return the users of several datablocks, at the cost of one `users` call."""
        ...

    def collections_of(self, obj: Block) -> Sequence[Block]:
        """Return the collections that contain an object, including the scene's own."""
        ...

    def is_in(self, collection: Block, obj: Block) -> bool:
        """Return whether a collection contains an object, in constant time."""
        ...

    def depsgraph(self) -> Block:
        """The evaluated dependency graph, brought up to date when something was written since."""
        ...

    def evaluated(self, obj: Block) -> Block:
        """An object as the dependency graph sees it (modifiers applied, world matrix current)."""
        ...

    def evaluated_mesh(self, obj: Block) -> AbstractContextManager[Block | None]:
        """The mesh that an object evaluates to, freed at the end; None when it evaluates to no mesh."""
        ...

    def geometry_facts(self, obj: Block, *, open_edges: bool = False) -> GeometryFacts | None:
        """Return counts and bounds of an object after its modifiers, with all components and instances, or None if it
        is not evaluated.
        """
        ...

    def surfaces(self, objects: Iterable[Block]) -> Surfaces:
        """The surfaces of objects, to be measured and compared; valid until something is written."""
        ...

    def unused(self, kinds: Collection[Kind], keep: Collection[str] = ()) -> Sequence[Block]:
        """The local datablocks of these kinds that nothing uses but each other, by kind and name; those named in `keep` count as used.

        A fake user is no user: a step gives one to everything that it leaves unused. Assets are kept for others, and count as used."""
        ...

    def missing_files(self) -> Sequence[tuple[str, str, str]]:
        """The files that datablocks name and that are not there: kind and name of the datablock, and the path."""
        ...

    def choices(self, target: Block, attribute: str) -> Sequence[str]:
        """The values that a property takes in this Blender, as things are; none where it takes any."""
        ...

    def content_hash(self, block: Block) -> str:
        """The content hash of one datablock, in hex."""
        ...

    def likeness(self, block: Block) -> str:
        """The hash of its content but for its name: equal of two that differ in nothing else."""
        ...

    def scene_hash(self) -> str:
        """The hash of the scene as it was before this step."""
        ...

    # ------------------------------------------------------------------ making values

    def vector(self, values: Sequence[float]) -> Block: ...

    def matrix(self, rows: Sequence[Sequence[float]]) -> Block: ...

    def euler(self, radians: Sequence[float], order: str = "XYZ") -> Block: ...

    def quaternion(self, wxyz: Sequence[float]) -> Block: ...

    # ------------------------------------------------------------------ writing

    def create(self, kind: Kind, name: str, *args: Any, **options: Any) -> Block:
        """A new datablock with exactly that name (never `.001`); `args` and `options` as Blender's `new` takes them after the name.

        May be written into freely from here on."""
        ...

    def adopt(self, kind: Kind, block: Block, name: str) -> Block:
        """Take over a datablock that Blender itself just made (a copy, an applied mesh), under exactly that name."""
        ...

    def edit(self, block: Block) -> Block:
        """Hold a pre-image of a datablock, after which it may be written into freely in this step.

        Not for scenes and collections: use `set`, `link` and `unlink` on those."""
        ...

    def redraft(self, tree: Block) -> AbstractContextManager[Block]:
        """A copy of a node group, to write into freely; at the end of the `with` block it takes the group's place everywhere.

        When the block raises, the group is as it was and nobody has seen the copy."""
        ...

    def set(self, target: Block, attribute: str, value: Any, *, owner: Block | None = None) -> None:
        """Set one RNA property. `owner` names the datablock where `target` is inside an embedded node tree."""
        ...

    def set_world_matrix(self, obj: Block, matrix: Block) -> None:
        """Move an object so that its world matrix is this one; its own channels are what is recorded and written."""
        ...

    def set_item(self, target: Block, key: str, value: Any) -> None:
        """Set a custom property."""
        ...

    def drop_item(self, target: Block, key: str) -> None:
        """Remove a custom property."""
        ...

    def link(self, collection: Block, child: Block) -> None:
        """Put an object or a collection into a collection; nothing when it is there already."""
        ...

    def unlink(self, collection: Block, child: Block) -> None:
        """Take an object or a collection out of a collection."""
        ...

    def rename(self, block: Block, name: str) -> None:
        """Give a datablock another name, exactly."""
        ...

    def remove(self, *blocks: Block) -> None:
        """Delete datablocks reversibly, and clear the pointers of all datablocks that referred to them."""
        ...

    def replace(self, blocks: Sequence[Block], by: Block) -> Sequence[Block]:
        """Replace references to these datablocks by references to `by`, and return the datablocks that referred to them.

        The replaced datablocks stay in the file without users."""
        ...

    def temporarily(self, target: Block, **values: Any) -> AbstractContextManager[None]:
        """Set properties for the length of a `with` block and put them back (rendering, exporting)."""
        ...

    def temporary(self, kind: Kind, *args: Any) -> AbstractContextManager[Block]:
        """A datablock for the length of a `with` block, under a reserved name and in no fingerprint; `args` as for `create`."""
        ...

    # ------------------------------------------------------------------ code

    def run_code(self, code: str, most: int, seed: int) -> tuple[str, bool]:
        """Run Python code in this process, random numbers pinned.

        Returns at most `most` characters of what it printed, and whether there was more. A StepError with the line when it
        raises. Only for tools that revert by memfile."""
        ...
