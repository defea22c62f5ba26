"""scene.snapshot"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Tool
from blendwright.tools.checks import differs
from blendwright.tools.scene import describe
from blendwright.tools.scene import snapshot_model as model
from blendwright.tools.scene.collection_tree import collection_order, collection_trees, collections_of
from blendwright.tools.scene.object_filter import Paged, matching, missing_collection, next_offset, page
from blendwright.values.findings import Finding

Part = Literal["objects", "collections", "materials", "cameras", "lights", "node_groups", "world", "render", "indices"]
CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})


# Lists of datablocks of one kind: the type of the section, the kind, and how one entry is described.
SECTIONS: dict[str, tuple[type[model.Section[Any]], Kind, Callable[[Scene, Block], Any]]] = {
    "materials": (model.Section[model.MaterialState], Kind.MATERIAL, describe.describe_material),
    "cameras": (model.Section[model.CameraState], Kind.CAMERA, describe.describe_camera),
    "lights": (model.Section[model.LightState], Kind.LIGHT, describe.describe_light),
    "node_groups": (model.Section[model.NodeGroupState], Kind.NODE_GROUP, describe.describe_node_group),
}


class SnapshotArgs(Paged):
    include: Annotated[list[Part], Field(min_length=1, max_length=9)] | None = Field(
        default=None, description="Sections to return; all when left out. Filters concern objects and indices only."
    )


class TakeSnapshot(Tool[SnapshotArgs, model.Snapshot]):
    """Look at the scene: objects, collections, materials, cameras, lights, world, render settings and node groups.

    Comes in pages of the order of names: every list starts at offset and has at most limit entries, says how many there
    are in all, and next_offset leads on. Equal scenes give equal snapshots, byte for byte."""

    name = "scene.snapshot"
    promises = READ_ONLY.needs("scene_read")
    examples = (
        Example({}, CUBE),
        Example({"name": "B*", "type": "MESH", "include": ["objects", "indices"], "limit": 10}, CUBE),
    )

    def check(self, scene: Scene, args: SnapshotArgs) -> Iterator[Finding]:
        yield from missing_collection(scene, args)

    def apply(self, scene: Scene, args: SnapshotArgs) -> model.Snapshot:
        return _SnapshotBuilder(scene, args).build()

    def verify(self, scene: Scene, args: SnapshotArgs, result: model.Snapshot) -> Iterator[Finding]:
        yield from differs("the fingerprint", result.fingerprint, scene.scene_hash(), "")


class _SnapshotBuilder:
    """Builds one snapshot, section by section."""

    def __init__(self, scene: Scene, args: SnapshotArgs) -> None:
        self._scene = scene
        self._args = args
        self._totals: list[int] = []

    def build(self) -> model.Snapshot:
        scene, args = self._scene, self._args
        active = scene.active
        included = set[str](args.include or get_args(Part))
        # Brings keyed and driven values and world matrices up to date: without, equal scenes could look different.
        scene.depsgraph()
        objects = self._objects() if included & {"objects", "indices"} else None
        collections = self._collections() if "collections" in included else None
        sections: dict[str, Any] = {
            name: self._section(section, kind, entry)
            for name, (section, kind, entry) in SECTIONS.items()
            if name in included
        }
        return model.Snapshot(
            scene=model.SceneName(id=f"scenes/{active.name}", name=active.name),
            blender_version=scene.version,
            fingerprint=scene.scene_hash(),
            offset=args.offset,
            limit=args.limit,
            next_offset=next_offset(args, *self._totals),
            objects=objects if "objects" in included else None,
            collections=collections,
            materials=sections.get("materials"),
            cameras=sections.get("cameras"),
            lights=sections.get("lights"),
            node_groups=sections.get("node_groups"),
            world=describe.describe_world(scene, active.world) if "world" in included and active.world else None,
            render=describe.describe_render(active) if "render" in included else None,
            indices=_indices(objects.items, args.offset) if objects and "indices" in included else None,
        )

    def _objects(self) -> model.Section[model.ObjectState]:
        matches = list(matching(self._scene, self._args))
        shown = page(matches, self._args)
        collections = collections_of(self._scene, shown)
        items = [describe.describe_object(self._scene, obj, collections[obj.name]) for obj in shown]
        return model.Section[model.ObjectState](
            total=self._count(len(matches)), items=items, truncated=self._is_truncated(len(matches))
        )

    def _collections(self) -> model.Section[model.CollectionNode]:
        places = collection_order(self._scene)
        trees = collection_trees(page(places, self._args))
        return model.Section[model.CollectionNode](
            total=self._count(len(places)), items=trees, truncated=self._is_truncated(len(places))
        )

    def _section(
        self, section: type[model.Section[Any]], kind: Kind, entry: Callable[[Scene, Block], Any]
    ) -> model.Section[Any]:
        names = self._scene.names(kind)
        items = [entry(self._scene, self._scene.require(kind, name)) for name in page(names, self._args)]
        return section(total=self._count(len(names)), items=items, truncated=self._is_truncated(len(names)))

    def _count(self, total: int) -> int:
        self._totals.append(total)
        return total

    def _is_truncated(self, total: int) -> bool:
        return next_offset(self._args, total) is not None


def _indices(shown: Sequence[model.ObjectState], offset: int) -> model.Indices:
    by_collection: dict[str, list[str]] = {}
    by_material: dict[str, list[str]] = {}
    for state in shown:
        for collection in state.collections:
            by_collection.setdefault(collection, []).append(state.name)
        for material in sorted({name for name in state.materials if name is not None}):
            by_material.setdefault(material, []).append(state.name)
    return model.Indices(
        by_name={state.name: offset + place for place, state in enumerate(shown)},
        by_collection=dict(sorted(by_collection.items())),
        by_material=dict(sorted(by_material.items())),
    )
