"""scene.snapshot"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Literal, TypeVar, get_args

from pydantic import Field

from blendwright.tool_api.effects import Determinism, Idempotence, Kind, Revert, SafetyLevel, SafetyMode
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Example, Requires, Tool
from blendwright.tools.readback import differs
from blendwright.tools.scene import describe
from blendwright.tools.scene.collection_tree import collection_order, collection_trees, collections_of
from blendwright.tools.scene.object_filter import Paged, matching, missing_collection, next_offset, page
from blendwright.tools.scene.snapshot_model import (
    CameraState,
    CollectionNode,
    Indices,
    LightState,
    MaterialState,
    NodeGroupState,
    ObjectState,
    SceneName,
    Section,
    Snapshot,
)
from blendwright.values.findings import Finding

T = TypeVar("T")

Part = Literal["objects", "collections", "materials", "cameras", "lights", "node_groups", "world", "render", "indices"]
CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})


class SnapshotArgs(Paged):
    include: Annotated[list[Part], Field(min_length=1, max_length=9)] | None = Field(
        default=None, description="Sections to return; all when left out. Filters concern objects and indices only."
    )


class TakeSnapshot(Tool[SnapshotArgs, Snapshot]):
    """Look at the scene: objects, collections, materials, cameras, lights, world, render settings and node groups.

    Comes in pages of the order of names: every list starts at offset and has at most limit entries, says how many there
    are in all, and next_offset leads on. Equal scenes give equal snapshots, byte for byte."""

    name = "scene.snapshot"
    version = 1
    safety_level = SafetyLevel.READ_ONLY
    safety_mode = SafetyMode.HEADLESS_SAFE
    determinism = Determinism.DETERMINISTIC
    idempotence = Idempotence.IDEMPOTENT
    writes = ()
    revert = Revert.NOTHING
    replayable = True
    requires = Requires(blender_min=(4, 2, 0), capabilities=("scene_read",))
    examples = (
        Example({}, given=(CUBE,)),
        Example({"name": "B*", "type": "MESH", "include": ["objects", "indices"], "limit": 10}, given=(CUBE,)),
    )

    def check(self, scene: Scene, args: SnapshotArgs) -> Iterator[Finding]:
        yield from missing_collection(scene, args)

    def apply(self, scene: Scene, args: SnapshotArgs) -> Snapshot:
        return _Camera(scene, args).picture()

    def verify(self, scene: Scene, args: SnapshotArgs, result: Snapshot) -> Iterator[Finding]:
        yield from differs("the fingerprint", result.fingerprint, scene.scene_hash(), "")


class _Camera:
    """Takes one snapshot, section by section."""

    def __init__(self, scene: Scene, args: SnapshotArgs) -> None:
        self._scene = scene
        self._args = args
        self._totals: list[int] = []

    def picture(self) -> Snapshot:
        scene, args = self._scene, self._args
        active = scene.active
        wanted = set[str](args.include or get_args(Part))
        # Brings keyed and driven values and world matrices up to date: without, equal scenes could look different.
        scene.depsgraph()
        objects = self._objects() if wanted & {"objects", "indices"} else None
        collections = self._collections() if "collections" in wanted else None
        materials = (
            self._section(Section[MaterialState], Kind.MATERIAL, describe.describe_material)
            if "materials" in wanted
            else None
        )
        cameras = (
            self._section(Section[CameraState], Kind.CAMERA, describe.describe_camera) if "cameras" in wanted else None
        )
        lights = self._section(Section[LightState], Kind.LIGHT, describe.describe_light) if "lights" in wanted else None
        groups = (
            self._section(Section[NodeGroupState], Kind.NODE_GROUP, describe.describe_node_group)
            if "node_groups" in wanted
            else None
        )
        return Snapshot(
            scene=SceneName(id=f"scenes/{active.name}", name=active.name),
            blender_version=scene.version,
            fingerprint=scene.scene_hash(),
            offset=args.offset,
            limit=args.limit,
            next_offset=next_offset(args, *self._totals),
            objects=objects if "objects" in wanted else None,
            collections=collections,
            materials=materials,
            cameras=cameras,
            lights=lights,
            node_groups=groups,
            world=describe.describe_world(scene, active.world) if "world" in wanted and active.world else None,
            render=describe.describe_render(active) if "render" in wanted else None,
            indices=_indices(objects.items, args.offset) if objects and "indices" in wanted else None,
        )

    def _objects(self) -> Section[ObjectState]:
        found = list(matching(self._scene, self._args))
        shown = page(found, self._args)
        homes = collections_of(self._scene, shown)
        items = [describe.describe_object(self._scene, obj, homes[obj.name]) for obj in shown]
        return Section[ObjectState](total=self._counted(len(found)), items=items, truncated=self._goes_on(len(found)))

    def _collections(self) -> Section[CollectionNode]:
        places = collection_order(self._scene)
        trees = collection_trees(page(places, self._args))
        return Section[CollectionNode](
            total=self._counted(len(places)), items=trees, truncated=self._goes_on(len(places))
        )

    def _section(self, section: type[Section[T]], kind: Kind, entry: Callable[[Scene, Block], T]) -> Section[T]:
        names = self._scene.names(kind)
        items = [entry(self._scene, self._scene.require(kind, name)) for name in page(names, self._args)]
        return section(total=self._counted(len(names)), items=items, truncated=self._goes_on(len(names)))

    def _counted(self, total: int) -> int:
        self._totals.append(total)
        return total

    def _goes_on(self, total: int) -> bool:
        return next_offset(self._args, total) is not None


def _indices(shown: Sequence[ObjectState], offset: int) -> Indices:
    by_collection: dict[str, list[str]] = {}
    by_material: dict[str, list[str]] = {}
    for state in shown:
        for collection in state.collections:
            by_collection.setdefault(collection, []).append(state.name)
        for material in sorted({name for name in state.materials if name is not None}):
            by_material.setdefault(material, []).append(state.name)
    return Indices(
        by_name={state.name: offset + place for place, state in enumerate(shown)},
        by_collection=dict(sorted(by_collection.items())),
        by_material=dict(sorted(by_material.items())),
    )
