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
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from blendwright.tool_api.surfaces import Surfaces
from blendwright.values.findings import Finding

# A Blender datablock or a structure inside one. Only the worker knows its type, so nothing here can be more precise.
Block: TypeAlias = Any
Point = tuple[float, float, float]


class Kind(StrEnum):
    """The kinds of datablock a tool names or writes; the value is the collection in bpy.data. Not every Blender has them all."""

    ACTION = "actions"
    ANNOTATION = "annotations"
    ARMATURE = "armatures"
    CACHE_FILE = "cache_files"
    CAMERA = "cameras"
    COLLECTION = "collections"
    CURVE = "curves"
    FONT = "fonts"
    GREASE_PENCIL = "grease_pencils"
    GREASE_PENCIL_V3 = "grease_pencils_v3"
    HAIR_CURVES = "hair_curves"
    IMAGE = "images"
    LATTICE = "lattices"
    LIGHT = "lights"
    LIGHT_PROBE = "lightprobes"
    LINE_STYLE = "linestyles"
    MASK = "masks"
    MATERIAL = "materials"
    MESH = "meshes"
    METABALL = "metaballs"
    MOVIE_CLIP = "movieclips"
    NODE_GROUP = "node_groups"
    OBJECT = "objects"
    PALETTE = "palettes"
    PARTICLES = "particles"
    POINT_CLOUD = "pointclouds"
    SCENE = "scenes"
    SHAPE_KEY = "shape_keys"
    SOUND = "sounds"
    SPEAKER = "speakers"
    TEXT = "texts"
    TEXTURE = "textures"
    VOLUME = "volumes"
    WORLD = "worlds"

    def __init__(self, blocks: str) -> None:
        self.blocks = blocks
        """The collection in bpy.data as a plain string; `value` is a call of a function each time, and steps ask often."""

    @property
    def label(self) -> str:
        """The word for one of them, for messages."""
        return UNLIKE_THEIR_NAMES.get(self, self.name.lower().replace("_", " "))


UNLIKE_THEIR_NAMES = {Kind.GREASE_PENCIL_V3: "grease pencil", Kind.PARTICLES: "particle settings"}


@dataclass(frozen=True, slots=True)
class Arrival:
    """A datablock that an import brought: its name now, and the name it had in its file."""

    kind: Kind
    name: str
    origin: str


@dataclass(frozen=True, slots=True)
class Carried:
    """Code that a datablock carries: what it is, and where in the datablock."""

    what: str
    kind: str
    name: str
    where: str


@dataclass(frozen=True, slots=True)
class GeometryFacts:
    """What an object's geometry amounts to after its modifiers.

    Counts are of what is really there, instances counted as often as they appear; bounds are in the object's own space.

    `loose_instances` are instances at the top: what is left of them when everything is realised is nothing. `open_edges` are
    edges of meshes that have not exactly two faces, None unless they were asked for. `attributes` are those of all components.
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
        """How much there is of anything that can be seen or worked on."""
        return self.vertices + self.curves + self.points + self.volumes + self.strokes

    @property
    def size(self) -> Point:
        if self.low is None or self.high is None:
            return (0.0, 0.0, 0.0)
        return (self.high[0] - self.low[0], self.high[1] - self.low[1], self.high[2] - self.low[2])


@dataclass(frozen=True, slots=True)
class EditDone:
    """What one operation on a mesh has done: how many elements of which sort it selected of how many, and by how many vertices, edges and
    faces the mesh grew."""

    op: str
    domain: str
    selected: int
    total: int
    grown: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class CleanedMesh:
    """What was mended: vertices merged, faces without area gone, vertices without a face gone, faces turned."""

    welded: int
    degenerate: int
    loose: int
    turned: int


@dataclass(frozen=True, slots=True)
class UvMeasures:
    """What a UV map is like; `overlap` is a share of the used area, `coverage` counts in tiles, densities in texels per metre."""

    islands: int
    overlap: float
    outside_faces: int
    flipped_faces: int
    empty_faces: int
    coverage: float
    stretch_mean: float
    stretch_worst: float
    density: float
    density_least: float
    density_most: float


class Scene(Protocol):
    # ------------------------------------------------------------------ reading

    @property
    def version(self) -> tuple[int, int, int]:
        """The version of the Blender at hand."""
        ...

    @property
    def active(self) -> Block:
        """The scene datablock that tools work in."""
        ...

    def find(self, kind: Kind, name: str) -> Block | None:
        """The local datablock of that name, or None."""
        ...

    def require(self, kind: Kind, name: str, at: str = "") -> Block:
        """The datablock of that name; a StepError with did-you-mean when it is not there."""
        ...

    def missing(self, kind: Kind, name: str, at: str) -> Sequence[Finding]:
        """For `check`: a finding when no datablock has that name. `at` is the JSON pointer of the argument."""
        ...

    def name_conflicts(self, kind: Kind, name: str, at: str) -> Sequence[Finding]:
        """For `check`: a finding when the name cannot be given to a new datablock (in use, or too long for this Blender)."""
        ...

    def names(self, kind: Kind) -> Sequence[str]:
        """All names of a kind, sorted."""
        ...

    def blocks(self, kind: Kind) -> Iterable[Block]:
        """All datablocks of a kind, in the order of their names."""
        ...

    def kind_of(self, block: Block) -> Kind:
        """The kind of a datablock."""
        ...

    def users(self, block: Block) -> Sequence[Block]:
        """The datablocks that refer to one. Costly in large scenes: ask for as few as possible."""
        ...

    def collections_of(self, obj: Block) -> Sequence[Block]:
        """The collections that hold an object, the scene's own among them."""
        ...

    def is_in(self, collection: Block, obj: Block) -> bool:
        """Whether a collection holds an object, in constant time."""
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
        """What an object amounts to after its modifiers, all components and instances; None when it is not evaluated."""
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

    def applied_mesh(self, obj: Block, modifier: str) -> Block:
        """A new mesh: what one modifier alone makes of an object's mesh. It has a provisional name, so `rename` it."""
        ...

    def edit_mesh(self, obj: Block, operations: Sequence[Any], world: Block) -> Sequence[EditDone]:
        """Run operations of mesh.edit on an object's mesh; `world` is its world matrix.

        A part that is separated becomes a mesh of its name. A StepError points at the operation that cannot be done."""
        ...

    def clean_mesh(
        self, obj: Block, distance: float | None, degenerate: bool, loose: bool, normals: bool
    ) -> CleanedMesh:
        """Mend an object's mesh: weld within a distance, take away what is degenerate or loose, turn faces outward."""
        ...

    def join_meshes(self, target: Block, others: Sequence[tuple[Block, Block]]) -> None:
        """Add the meshes of other objects to that of an object, each moved by the matrix beside it."""
        ...

    def unwrap(self, obj: Block, uv_map: str, method: str, *, pack: bool, **settings: Any) -> None:
        """Write a UV map of an object's mesh, as Blender's own ways of unwrapping make it."""
        ...

    def project_uvs(self, obj: Block, uv_map: str, world: Block, view: str | None, camera: Block | None) -> None:
        """Write a UV map as an object is seen from a side, or through a camera."""
        ...

    def pack_uvs(
        self, obj: Block, uv_map: str, margin: float, *, rotate: bool, even: bool, tight: bool = False
    ) -> None:
        """Pack the islands of a UV map into its tile."""
        ...

    def measure_uvs(
        self, obj: Block, uv_map: str, world: Block, texture_size: int, picture: str, size: int
    ) -> UvMeasures:
        """What a UV map is like; draws its layout to a PNG file."""
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
        """Delete datablocks; whoever referred to them has their pointers cleared, reversibly."""
        ...

    def temporarily(self, target: Block, **values: Any) -> AbstractContextManager[None]:
        """Set properties for the length of a `with` block and put them back (rendering, exporting)."""
        ...

    # ------------------------------------------------------------------ files

    def input_file(self, path: str) -> str:
        """Where the worker finds the copy of a file named by a `ReadPath` argument."""
        ...

    def output_file(self, path: str) -> str:
        """Where the worker writes the file that the core will bring to a `WritePath` argument."""
        ...

    @property
    def seconds_left(self) -> float | None:
        """How long the step may still take before its process is ended; None where nobody said."""
        ...

    def artifact(self, name: str) -> str:
        """Where the worker writes a file that the core will keep among the workspace's artifacts under that name."""
        ...

    def blend_contents(self, path: str) -> Mapping[Kind, Sequence[str]]:
        """The names of what a .blend file at `input_file(...)` holds, by kind."""
        ...

    def import_file(
        self, path: str, form: str, home: Block, contents: Mapping[Kind, Sequence[str]] | None = None
    ) -> Sequence[Arrival]:
        """Bring a file at `input_file(...)` in, its objects into the collection `home`; from a .blend those `contents`.

        `form` is gltf, obj, stl, ply, usd, fbx or blend. Calls operators, so only for tools that revert by memfile."""
        ...

    def export_file(self, path: str, form: str, objects: Sequence[Block] | None) -> Sequence[Carried]:
        """Write objects to `output_file(...)`; None is the whole file and only for blend. The scene stays as it is.

        A .blend file is written without what would run where it is opened: returns what was left out of it."""
        ...

    # ------------------------------------------------------------------ images

    def load_image(self, name: str, file: str, path: str, color_space: str | None, *, pack: bool) -> Block:
        """A new image of a file at `input_file(...)`, which its users know as `path`; it has no size where Blender cannot read it."""
        ...

    def paint_image(self, image: Block, rows: Sequence[Sequence[Sequence[float]]], *, encode: bool) -> None:
        """Fill an image with colours that blend into each other, in rows from the top down, and pack it. `encode`: as sRGB stores them."""
        ...

    def painted_so(self, image: Block, rows: Sequence[Sequence[Sequence[float]]], *, encode: bool) -> bool:
        """Whether an image has the pixels that `paint_image` gives it."""
        ...

    def save_image(self, image: Block, file: str, settings: dict[str, Any], *, plain: bool) -> None:
        """Write an image to `output_file(...)` with these settings of a picture file. `plain`: values are no colours."""
        ...

    def picture_size(self, file: str) -> tuple[int, int]:
        """Width and height of a picture file, 0 where Blender cannot read it."""
        ...

    def picture_hash(self, file: str) -> str:
        """Hash of the pixels of a picture file, whatever else is in it."""
        ...

    # ------------------------------------------------------------------ code

    def run_code(self, code: str, most: int, seed: int) -> tuple[str, bool]:
        """Run Python code in this process, random numbers pinned.

        Returns at most `most` characters of what it printed, and whether there was more. A StepError with the line when it
        raises. Only for tools that revert by memfile."""
        ...

    # ------------------------------------------------------------------ rendering

    def render_still(
        self, filepath: str, *, camera: Block | None = None, output: dict[str, Any] | None = None, label: str = ""
    ) -> tuple[int, int]:
        """Render the current frame with the scene's settings to a PNG file, or with other settings of a picture file, through a
        camera or the scene's own. `label` is told to whoever waits, before how far it is.

        Returns how many samples were taken of each pixel, and how many were meant to be; 0 for an engine that does not say."""
        ...

    def bake(self, obj: Block, image: Block, kind: str, *, sources: Sequence[Block] = (), **options: Any) -> None:
        """Bake what an object's surface is like, or that of `sources`, into an image, and pack it. The image may be written into
        freely; `options` are those of Blender's operator. Selection and materials are left as they were."""
        ...

    def frame_file(self, frame: int) -> str:
        """Where the worker writes a frame of an animation, as PNG. A file that is there is the frame as an earlier try rendered it."""
        ...

    def encode_video(
        self,
        pictures: Sequence[str],
        filepath: str,
        *,
        size: tuple[int, int],
        fps: tuple[int, float],
        codec: str,
        quality: str,
    ) -> None:
        """Make a video of PNG files of this size, one after the other, their colours as they are. `fps` is a number and what it is
        divided by; `codec` is H264 (for .mp4) or VP9 (for .webm)."""
        ...

    def at_frame(self, frame: int) -> AbstractContextManager[None]:
        """The scene at another frame for the length of a `with` block."""
        ...

    def temporary(self, kind: Kind, *args: Any) -> AbstractContextManager[Block]:
        """A datablock for the length of a `with` block, under a reserved name and in no fingerprint; `args` as for `create`."""
        ...
