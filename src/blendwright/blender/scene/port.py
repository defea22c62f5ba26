"""`BpyScene`, the Scene port for the length of one step. It records every write of every tool."""

from typing import Any

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.code.execution import CodeExecution
from blendwright.blender.scene.files.linking import Linking
from blendwright.blender.scene.geometry.evaluation import Evaluation
from blendwright.blender.scene.geometry.inspection import Inspection
from blendwright.blender.scene.geometry.mesh_changes import MeshChanges
from blendwright.blender.scene.geometry.uv_maps import UvMaps
from blendwright.blender.scene.node_groups import NodeGroups
from blendwright.blender.scene.pictures.annotating import Annotating
from blendwright.blender.scene.pictures.baking import Baking
from blendwright.blender.scene.pictures.videos import Videos
from blendwright.blender.scene.rigging import Rigging
from blendwright.blender.scene.simulations import Simulations
from blendwright.blender.scene.tracking import references
from blendwright.blender.scene.tracking.removal import Removal
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault


class BpyScene(
    Removal,
    NodeGroups,
    MeshChanges,
    UvMaps,
    Rigging,
    Linking,
    CodeExecution,
    Annotating,
    Videos,
    Baking,
    Evaluation,
    Inspection,
    Simulations,
):
    """The implementation of `blendwright.tool_api.scene.Scene`: it combines all parts and adds renaming, which concerns all of them."""

    def rename(self, block: Any, name: str) -> None:
        key = self._writable(block)
        kind, old = Kind(key[0]), key[1]
        self._require_free_name(kind, name)
        # The hash of a user contains the name of the datablock, so a new name touches every user.
        for user in references.referrers({block})[block]:
            self.undo_log.touch(fp.key_of(user))
        if kind is Kind.COLLECTION:
            self._touch_layers(key)
        self._stale = True
        self.undo_log.touch((kind.blocks, name))
        self.undo_log.touch(key)
        edges = self._edges(kind, block)
        renamed_edges = [_renamed(kind, edge, name) for edge in edges]
        self._give_name(kind, old, name, edges, renamed_edges)
        self.undo_log.inverse(lambda: self._give_name(kind, name, old, renamed_edges, edges))
        if block.name != name:
            raise StepError.of(Fault.SCENE_CONFLICT, f"Blender gave the name '{block.name}' instead of '{name}'")

    def _give_name(self, kind: Kind, old: str, name: str, edges: list[fp.Key], renamed_edges: list[fp.Key]) -> None:
        block = self._state.find(kind.blocks, old)
        self._state.drop_name(kind.blocks, old)
        block.name = name
        self._state.add_name(kind.blocks, name, block)
        self.undo_log.rename((kind.blocks, old), (kind.blocks, name))
        for edge in edges:
            self.undo_log.member(edge, False)
        for edge in renamed_edges:
            self.undo_log.member(edge, True)

    def _edges(self, kind: Kind, block: Any) -> list[fp.Key]:
        """Return the keys of the memberships whose hash contains the name of a datablock."""
        if kind is Kind.OBJECT:
            return [fp.member_key(home, block) for home in self.collections_of(block)]
        if kind is Kind.COLLECTION:
            return [fp.member_key(block, member) for member in block.objects]
        if kind is Kind.SCENE:
            return [fp.member_key(block.collection, member) for member in block.collection.objects]
        return []


def _renamed(kind: Kind, edge: fp.Key, name: str) -> fp.Key:
    label, home, member, *libraries = edge
    match kind:
        case Kind.OBJECT:
            return (label, home, name, *libraries)
        case Kind.SCENE:
            return (label, fp.MASTER + name, member, *libraries)
        case _:
            return (label, name, member, *libraries)
