"""scene.snapshot"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import differs, missing_target_collection
from blendwright.tools.scene import describe
from blendwright.tools.scene import snapshot_model as model
from blendwright.tools.scene.collection_tree import collection_order, collection_trees, collections_of
from blendwright.tools.scene.object_filter import Paged, matching, next_offset, page
from blendwright.tools.unused_kinds import PURGED

Part = Literal[
    "objects", "collections", "materials", "cameras", "lights", "node_groups", "world", "render", "indices", "unused"
]
CUBE = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})


class SnapshotArgs(Paged):
    include: Annotated[list[Part], Field(min_length=1, max_length=10)] | None = Field(
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

    def check(self, scene: Scene, args: SnapshotArgs) -> Findings:
        yield from missing_target_collection(scene, args.collection)

    def apply(self, scene: Scene, args: SnapshotArgs) -> model.Snapshot:
        included = set[str](args.include or get_args(Part))
        # Brings keyed and driven values and world matrices up to date: without, equal scenes could look different.
        scene.depsgraph()
        if "indices" in included:
            needed = included | {"objects"}
        else:
            needed = included
        users = describe.Users(scene)
        sections = {name: list_.section(scene, args, users) for name, list_ in LISTS.items() if name in needed}
        shown: dict[str, Any] = {name: sections.get(name) if name in included else None for name in LISTS}
        objects, active = sections.get("objects"), scene.active
        return model.Snapshot(
            scene=model.SceneName(id=f"scenes/{active.name}", name=active.name),
            blender_version=scene.version,
            fingerprint=scene.scene_hash(),
            offset=args.offset,
            limit=args.limit,
            next_offset=next_offset(args, *(section.total for section in sections.values())),
            **shown,
            world=describe.describe_world(scene, active.world) if "world" in included and active.world else None,
            render=describe.describe_render(active) if "render" in included else None,
            unused=_unused(scene) if "unused" in included else None,
            indices=_indices(objects.items, args.offset) if objects and "indices" in included else None,
        )

    def verify(self, scene: Scene, args: SnapshotArgs, result: model.Snapshot) -> Findings:
        yield from differs("the fingerprint", result.fingerprint, scene.scene_hash(), "")


@dataclass(frozen=True)
class SnapshotList:
    """A list of the snapshot: the type of its section, all that there is of it, and how those on a page are described."""

    type: type[model.Section[Any]]
    entries: Callable[[Scene, SnapshotArgs], Sequence[Any]]
    describe: Callable[[Scene, Sequence[Any], describe.Users], list[Any]]

    def section(self, scene: Scene, args: SnapshotArgs, users: describe.Users) -> model.Section[Any]:
        entries = self.entries(scene, args)
        items, more = self.describe(scene, page(entries, args), users), next_offset(args, len(entries))
        return self.type(total=len(entries), items=items, truncated=more is not None)


def _blocks(
    section: type[model.Section[Any]], kind: Kind, entry: Callable[[Scene, Block, describe.Users], Any]
) -> SnapshotList:
    """All datablocks of one kind."""
    return SnapshotList(
        section,
        lambda scene, args: scene.names(kind),
        lambda scene, names, users: [entry(scene, scene.require(kind, name), users) for name in names],
    )


def _describe_objects(scene: Scene, shown: Sequence[Block], users: describe.Users) -> list[model.ObjectState]:
    collections, referrers = collections_of(scene, shown), scene.users_of(shown)
    return [describe.describe_object(scene, obj, collections[obj.name], users, referrers[obj]) for obj in shown]


def _describe_materials(scene: Scene, names: Sequence[str], users: describe.Users) -> list[model.MaterialState]:
    materials = [scene.require(Kind.MATERIAL, name) for name in names]
    first: dict[str, str] = {}
    alike = [first.setdefault(scene.likeness(material), material.name) for material in materials]
    return [
        describe.describe_material(scene, material, users, None if like == material.name else like)
        for material, like in zip(materials, alike, strict=True)
    ]


LISTS = {
    "objects": SnapshotList(
        model.Section[model.ObjectState], lambda scene, args: list(matching(scene, args)), _describe_objects
    ),
    "collections": SnapshotList(
        model.Section[model.CollectionNode],
        lambda scene, args: collection_order(scene),
        lambda scene, places, users: collection_trees(places),
    ),
    "materials": SnapshotList(
        model.Section[model.MaterialState], lambda scene, args: scene.names(Kind.MATERIAL), _describe_materials
    ),
    "cameras": _blocks(model.Section[model.CameraState], Kind.CAMERA, describe.describe_camera),
    "lights": _blocks(model.Section[model.LightState], Kind.LIGHT, describe.describe_light),
    "node_groups": _blocks(model.Section[model.NodeGroupState], Kind.NODE_GROUP, describe.describe_node_group),
}


def _unused(scene: Scene) -> model.Unused:
    names = sorted(f"{scene.kind_of(block).value}/{block.name}" for block in scene.unused(PURGED, keep=frozenset()))
    return model.Unused(total=len(names), items=names[: model.MOST_IN_LIST])


def _indices(shown: Sequence[model.ObjectState], offset: int) -> model.Indices:
    by_collection: dict[str, list[str]] = {}
    by_material: dict[str, list[str]] = {}
    for state in shown:
        for collection in state.collections:
            by_collection.setdefault(collection, []).append(state.name)
        for material in sorted({name for name in state.materials if name is not None}):
            by_material.setdefault(material, []).append(state.name)
    return model.Indices(
        by_name={state.name: offset + index for index, state in enumerate(shown)},
        by_collection=dict(sorted(by_collection.items())),
        by_material=dict(sorted(by_material.items())),
    )
