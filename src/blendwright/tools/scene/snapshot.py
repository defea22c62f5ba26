"""Tool scene.snapshot"""

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
        default=None, description="Sections to return. Default: all. Filters apply only to objects and indices."
    )


class TakeSnapshot(Tool[SnapshotArgs, model.Snapshot]):
    """Return the state of the scene: objects, collections, materials, cameras, lights, world, render settings and node groups.

    The result is one page: each list starts at `offset`, has at most `limit` entries sorted by name, and reports its total
    number. `next_offset` is the start of the next page. Equal scenes give equal snapshots, byte for byte.
    """

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
        # Update keyed and driven values and world matrices, because equal scenes could otherwise look different.
        scene.depsgraph()
        needed = included
        if "indices" in included:
            needed = included | {"objects"}
        users = describe.Users(scene)
        sections = {name: list_.section(scene, args, users) for name, list_ in LISTS.items() if name in needed}

        shown: dict[str, Any] = {"world": None, "render": None, "unused": None, "indices": None}
        for name in LISTS:
            shown[name] = None
            if name in included:
                shown[name] = sections[name]
        active = scene.active
        if "world" in included and active.world:
            shown["world"] = describe.describe_world(scene, active.world)
        if "render" in included:
            shown["render"] = describe.describe_render(active)
        if "unused" in included:
            shown["unused"] = _unused(scene)
        if "indices" in included:
            shown["indices"] = _indices(sections["objects"].items, args.offset)
        return model.Snapshot(
            scene=model.SceneName(id=f"scenes/{active.name}", name=active.name),
            blender_version=scene.version,
            fingerprint=scene.scene_hash(),
            offset=args.offset,
            limit=args.limit,
            next_offset=next_offset(args, *(section.total for section in sections.values())),
            **shown,
        )

    def verify(self, scene: Scene, args: SnapshotArgs, result: model.Snapshot) -> Findings:
        yield from differs("the fingerprint", result.fingerprint, scene.scene_hash(), "")


@dataclass(frozen=True)
class SnapshotList:
    """A list of the snapshot: the type of its section, all its entries, and how to describe the entries of a page."""

    type: type[model.Section[Any]]
    entries: Callable[[Scene, SnapshotArgs], Sequence[Any]]
    describe: Callable[[Scene, Sequence[Any], describe.Users], list[Any]]

    def section(self, scene: Scene, args: SnapshotArgs, users: describe.Users) -> model.Section[Any]:
        entries = self.entries(scene, args)
        items = self.describe(scene, page(entries, args), users)
        is_truncated = next_offset(args, len(entries)) is not None
        return self.type(total=len(entries), items=items, truncated=is_truncated)


def _blocks(
    section: type[model.Section[Any]], kind: Kind, entry: Callable[[Scene, Block, describe.Users], Any]
) -> SnapshotList:
    """Return the list of all datablocks of one kind."""
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
    first_names: dict[str, str] = {}
    states: list[model.MaterialState] = []
    for material in materials:
        first_name = first_names.setdefault(scene.likeness(material), material.name)
        equal_to: str | None = None
        if first_name != material.name:
            equal_to = first_name
        states.append(describe.describe_material(scene, material, users, equal_to))
    return states


LISTS = {
    "objects": SnapshotList(
        model.Section[model.ObjectState], lambda scene, args: list(matching(scene, args)), _describe_objects
    ),
    "collections": SnapshotList(
        model.Section[model.CollectionNode],
        lambda scene, args: collection_order(scene),
        lambda scene, entries, users: collection_trees(entries),
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
    return model.Unused(total=len(names), items=names[: model.MAX_IN_LIST])


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
