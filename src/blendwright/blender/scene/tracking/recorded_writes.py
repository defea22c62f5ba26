"""Single recorded writes and pre-images: create, adopt, edit, set, custom properties.

This module records the inverse of each write together with the write. It does not handle collections and deletion.
"""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene import group_inputs
from blendwright.blender.scene.reader import SceneReader
from blendwright.blender.scene.state import is_tombstone
from blendwright.blender.scene.tracking import preimage, references
from blendwright.blender.scene.tracking.preimage import Thaw, freeze, freeze_item, item_hints, put_hints, put_item
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# Datablocks that own other data which a copy would share, so that a copy is no pre-image.
NO_PREIMAGE = (bpy.types.Scene, bpy.types.Collection)
# Properties that Blender changes together with a property of an object. For example, clearing the parent clears the parent inverse,
# and a new rotation mode converts the rotation inexactly. They are restored from last to first, since a parent bone is valid only
# with its parent type.
SIDE_EFFECTS: dict[str | int, tuple[str, ...]] = {
    "parent": ("matrix_parent_inverse", "parent_vertices", "parent_bone", "parent_type"),
    "parent_type": ("matrix_parent_inverse", "parent_vertices", "parent_bone"),
    "parent_bone": ("matrix_parent_inverse",),
    "rotation_mode": ("rotation_euler", "rotation_quaternion", "rotation_axis_angle"),
}
CHANNELS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


class RecordedWrites(SceneReader):
    """The part of the Scene port that writes into datablocks."""

    def create(self, kind: Kind, name: str, *args: Any, **options: Any) -> Any:
        self._require_free_name(kind, name)
        blocks: Any = getattr(bpy.data, kind.blocks, None)
        self._state.spacers.note_created(kind.blocks)
        if blocks is None:
            message = f"Blender {bpy.app.version_string} has no {kind.blocks}"
            raise StepError.of(Fault.UNSUPPORTED_BLENDER, message)
        return self._register_created(kind, blocks.new(name, *args, **options), name)

    def adopt(self, kind: Kind, block: Any, name: str) -> Any:
        existing = self._state.find(kind.blocks, name)
        if existing is not None and existing != block:
            getattr(bpy.data, kind.blocks).remove(block)
            self._require_free_name(kind, name)
        self._state.make_way(kind.blocks, name)
        if block.name != name:  # Tested because the name of a font is read-only.
            block.name = name
        self._register_created(kind, block, name)
        if kind is Kind.OBJECT and (block.rigid_body is not None or block.rigid_body_constraint is not None):
            # Blender automatically links the copy of a rigid body to the collection of its simulation.
            for home in block.users_collection:
                edge = fp.member_key(home, block)
                self.undo_log.member(edge, True)
                self.undo_log.inverse(lambda edge=edge: self.undo_log.member(edge, False))
        return block

    def applied_mesh(self, obj: Any, modifier: str) -> Any:
        meshes: Any = bpy.data.meshes
        with ExitStack() as temporary:
            for candidate in obj.modifiers:
                is_applied = candidate.name == modifier
                temporary.enter_context(self.temporarily(candidate, show_viewport=is_applied))
            depsgraph, evaluated = self.depsgraph(), self.evaluated(obj)
            mesh = meshes.new_from_object(evaluated, preserve_all_data_layers=True, depsgraph=depsgraph)
        return self._register_created(Kind.MESH, mesh, mesh.name)

    def _register_created(self, kind: Kind, block: Any, name: str) -> Any:
        actual_name = block.name
        collection = kind.blocks
        self._stale = True
        self.undo_log.create((collection, actual_name), block)
        self._state.add_name(collection, actual_name, block)
        self.undo_log.inverse(lambda: self._remove_created(collection, actual_name))
        if actual_name != name:
            raise StepError.of(Fault.SCENE_CONFLICT, f"Blender gave the name '{actual_name}' instead of '{name}'")
        return block

    def _remove_created(self, collection: str, name: str) -> None:
        block = self._state.find(collection, name)
        blocks: Any = getattr(bpy.data, collection)
        self._state.drop_name(collection, name)
        # Shape keys cannot be removed separately; they disappear with their mesh, which the next inverse removes.
        if hasattr(blocks, "remove"):
            blocks.remove(block)

    def edit(self, block: Any) -> Any:
        if isinstance(block, bpy.types.Key):
            self.edit(block.user)  # Shape keys exist only with their mesh, and so does their pre-image.
            return block
        key = self._writable(block)
        self._stale = True
        if self.undo_log.free(key):
            return block
        if isinstance(block, NO_PREIMAGE):
            raise TypeError(f"no pre-image of {key}: use set, link and unlink")
        if isinstance(block, bpy.types.NodeTree):
            self._save_users(block)
        elif getattr(block, "materials", None):
            self._save_material_slots(block)
        image = self._save_preimage(key, block)
        if isinstance(block, bpy.types.NodeTree):
            preimage.repoint(block, image)
        return block

    def _save_preimage(self, key: fp.Key, block: Any) -> Any:
        """Copy a datablock as its pre-image, record an inverse that replaces the original by the copy, and return the copy."""
        self.undo_log.touch(key)
        self.undo_log.edited.add(key)
        fake = block.use_fake_user
        image = preimage.copy_of(block)
        tombstone = self._state.soft_delete(key[0], image)
        self.undo_log.released.append(image)
        restore_keys = self._save_shape_keys(block, image)

        self.undo_log.inverse(lambda: restore_keys(self._put_in_place(key, tombstone, fake)))
        return image

    def _put_in_place(self, key: fp.Key, tombstone: str, fake: bool) -> Any:
        """Replace the datablock that now has this key by a tombstone, remove it, and return the restored datablock."""
        collection, name = key
        edited = self._state.find(collection, name)
        saved = self._state.tombstone(collection, tombstone)
        with preimage.preserving_depth(saved):
            edited.user_remap(saved)
        self._state.drop_name(collection, name)
        getattr(bpy.data, collection).remove(edited)
        self._state.restore(collection, saved, name)
        saved.use_fake_user = fake
        return saved

    def _save_shape_keys(self, block: Any, image: Any) -> Callable[[Any], None]:
        """Record the shape keys of a pre-image, and return a function that restores them for the restored datablock.

        Shape keys are a separate datablock, which Blender copies and removes together with their mesh or curve."""
        keys = getattr(image, "shape_keys", None)
        if keys is None:
            return lambda saved: None
        key = fp.key_of(block.shape_keys)
        self.undo_log.touch(key)
        self.undo_log.edited.add(key)
        self._state.soft_delete(key[0], keys)

        def restore(saved: Any) -> None:
            self._state.drop_name(*key)
            self._state.restore(key[0], saved.shape_keys, key[1])

        return restore

    def _save_users(self, tree: Any) -> None:
        """Save the users of a node group, since sockets of group nodes and inputs of modifiers repeat the group's interface."""
        for user in references.referrers({tree})[tree]:
            key = fp.key_of(user)
            self.undo_log.touch(key)
            if isinstance(user, bpy.types.Object):
                for modifier in user.modifiers:
                    if isinstance(modifier, bpy.types.NodesModifier) and modifier.node_group == tree:
                        self._save_inputs(modifier)
            elif not isinstance(user, NO_PREIMAGE) and not self.undo_log.free(key):
                self._save_preimage(key, user)

    def _save_material_slots(self, data: Any) -> None:
        """Record the materials that objects assign to their own slots: an object loses such slots when its data loses materials."""
        for user in references.referrers({data})[data]:
            saved: list[tuple[int, Thaw]] = []
            for index, slot in enumerate(getattr(user, "material_slots", ())):
                if slot.link == "OBJECT":
                    saved.append((index, freeze(slot.material, self._block)))
            if saved:
                key = fp.key_of(user)
                self.undo_log.touch(key)
                self.undo_log.inverse(lambda key=key, saved=saved: _put_slots(self._block(key), saved))

    def set(self, target: Any, attribute: str, value: Any, *, owner: Any | None = None) -> None:
        holder = self._holder(target, owner)
        key = self._writable(holder)
        self._stale = True
        if self.undo_log.free(key):
            setattr(target, attribute, value)
            return
        if attribute == "name" and target == holder:
            raise TypeError("use `rename` to set the name of a datablock")
        self.undo_log.touch(key)
        if isinstance(holder, bpy.types.Scene):
            self._touch_compositors()
        self._save_side_effects(target, attribute)
        old = getattr(target, attribute)
        if isinstance(old, bpy.types.ID):
            self.undo_log.released.append(old)
        thaw = freeze(old, self._block)
        # Before the write, since a struct that has no address must not be written.
        resolve = self._address(holder, target)
        setattr(target, attribute, value)
        if attribute == "name":
            # The path contains the name, and the inverse runs while the struct has the new one.
            resolve = self._address(holder, target)
        self.undo_log.inverse(lambda: setattr(resolve(), attribute, thaw()))

    def _save_side_effects(self, target: Any, attribute: str | int) -> None:
        """Record the properties that Blender changes together with this one, so that a revert restores them after it."""
        if isinstance(target, bpy.types.Object):
            for affected in SIDE_EFFECTS.get(attribute, ()):
                # An empty string means no bone, or a parent type without a name, which cannot be assigned.
                if getattr(target, affected) != "":
                    self._save_value(target, affected)
        elif isinstance(target, bpy.types.PoseBone) and attribute == "rotation_mode":
            for affected in SIDE_EFFECTS[attribute]:
                self._save_value(target, affected)
        elif isinstance(target, bpy.types.NodesModifier) and attribute == "node_group":
            self._save_inputs(target)

    def _touch_compositors(self) -> None:
        """Mark all local compositor trees as touched by the port.

        The engine, denoising and passes of a scene decide which outputs Render Layers nodes have. Since Blender 5.0 compositor trees
        are separate datablocks. Reverting the property of the scene also restores these outputs."""
        for tree in bpy.data.node_groups:
            if isinstance(tree, bpy.types.CompositorNodeTree) and tree.library is None and not is_tombstone(tree):
                key = fp.key_of(tree)
                self.undo_log.mark(key)
                self.undo_log.touch(key)

    def _save_value(self, target: Any, attribute: str) -> None:
        """Record the current value of a property that other code is about to write."""
        holder = self._holder(target, None)
        key = self._writable(holder)
        if not self.undo_log.free(key):
            self.undo_log.touch(key)
            thaw, resolve = freeze(getattr(target, attribute), self._block), self._address(holder, target)
            self.undo_log.inverse(lambda: setattr(resolve(), attribute, thaw()))

    def set_world_matrix(self, obj: Any, matrix: Any) -> None:
        self.depsgraph()
        # Blender decomposes the matrix into these channels, and assigning the old matrix would not restore the exact numbers.
        for channel in CHANNELS:
            self._save_value(obj, channel)
        self._stale = True
        obj.matrix_world = matrix

    def set_item(self, target: Any, key: str, value: Any) -> None:
        self._record_item(target, key)
        target[key] = value

    def drop_item(self, target: Any, key: str) -> None:
        self._record_item(target, key)
        del target[key]

    def _record_item(self, target: Any, key: str) -> None:
        holder = self._holder(target, None)
        block_key = self._writable(holder)
        self._stale = True
        if self.undo_log.free(block_key):
            return
        self.undo_log.touch(block_key)
        resolve = self._address(holder, target)
        if key not in target:
            self.undo_log.inverse(lambda: resolve().__delitem__(key))
            return
        old = target[key]
        self.undo_log.released.extend(references.pointees_of_item(old))
        thaw, hints = freeze_item(old, self._block), item_hints(target, key)

        def restore() -> None:
            put_item(resolve(), key, thaw())
            put_hints(resolve(), key, hints)

        self.undo_log.inverse(restore)

    def _save_inputs(self, modifier: Any) -> None:
        """Record the inputs of a geometry-nodes modifier, which Blender drops while the modifier has no group."""
        resolve = self._address(modifier.id_data, modifier)
        put_back = group_inputs.saved(modifier, self._block)
        self.undo_log.inverse(lambda: put_back(resolve()))

    @contextmanager
    def temporarily(self, target: Any, **values: Any) -> Generator[None]:
        saved_values = {name: freeze(getattr(target, name), self._block) for name in values}
        self._stale = True
        try:
            for name, value in values.items():
                setattr(target, name, value)
            yield
        finally:
            # In the same order as before, since a value may decide which later values are valid.
            for name, thaw in saved_values.items():
                setattr(target, name, thaw())
            self._stale = True

    # ------------------------------------------------------------------ addressing

    def _block(self, key: fp.Key) -> Any:
        return self._state.block(key)

    def _writable(self, block: Any) -> fp.Key:
        """Return the key of a local datablock. Raise StepError for a linked one, which must be changed in its library file."""
        key = fp.key_of(block)
        if len(key) > 2:
            message = f"'{block.name}' is linked from {key[2]} and can only be changed there"
            raise StepError.of(Fault.SCENE_CONFLICT, message, cure="Make it local first, or work with a copy of it.")
        return key

    def _holder(self, target: Any, owner: Any | None) -> Any:
        """Return the datablock whose hash covers a struct.

        `owner` names it for a struct in an embedded node tree; without it, such a struct raises TypeError."""
        if owner is not None:
            return owner
        holder = target.id_data
        if holder.is_embedded_data:
            if not isinstance(holder, NO_PREIMAGE):
                raise TypeError(f"{target} is in an embedded node tree: name its owner")
            return fp.scene_of(holder)
        return holder

    def _address(self, holder: Any, target: Any) -> Callable[[], Any]:
        """Return a function that finds the struct again after references became stale. Raise ValueError if it has no path."""
        key = fp.key_of(holder)
        if target == holder:
            return lambda: self._block(key)
        root = target.id_data
        inside: references.Path
        if root == holder:
            inside = ()
        else:
            inside = (_embedded(root),)
        if target == root:
            return lambda: references.resolve(self._block(key), inside)
        try:
            path: str = target.path_from_id()
        except ValueError:  # Blender knows no path for structs of this type.
            struct_path = references.path_to(root, target)
            if struct_path is None:
                raise
            return lambda: references.resolve(self._block(key), (*inside, *struct_path))
        return lambda: references.resolve(self._block(key), inside).path_resolve(path)

    def _require_free_name(self, kind: Kind, name: str) -> None:
        problems = self.name_conflicts(kind, name, "")
        if problems:
            raise StepError(problems[0])
        self._state.make_way(kind.blocks, name)


def _put_slots(obj: Any, saved_values: list[tuple[int, Thaw]]) -> None:
    for index, thaw in saved_values:
        obj.material_slots[index].link = "OBJECT"
        obj.material_slots[index].material = thaw()


def _embedded(block: Any) -> str:
    """Return the name of the owner's property that holds an embedded datablock."""
    if isinstance(block, bpy.types.Collection):
        return "collection"
    return "node_tree"
