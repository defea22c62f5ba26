"""Single recorded writes and pre-images: create, adopt, edit, set, custom properties.

Responsible for: recording the inverse of each write together with the write. Knows nothing of collections and deletion.
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

# Datablocks that own so much else that a copy is no pre-image.
NO_PREIMAGE = (bpy.types.Scene, bpy.types.Collection)
# What Blender writes along with a property of an object: no parent forgets how the object hung on it, and another rotation
# mode converts the rotation, not to the last digit. The last one comes back first: a bone means something only for its type.
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
        if block.name != name:  # the name of a font is read-only
            block.name = name
        self._register_created(kind, block, name)
        if kind is Kind.OBJECT and (block.rigid_body is not None or block.rigid_body_constraint is not None):
            # Blender puts the copy of a rigid body into the collection of its simulation by itself.
            for home in block.users_collection:
                edge = fp.member_key(home, block)
                self.undo_log.member(edge, True)
                self.undo_log.inverse(lambda edge=edge: self.undo_log.member(edge, False))
        return block

    def applied_mesh(self, obj: Any, modifier: str) -> Any:
        meshes: Any = bpy.data.meshes
        with ExitStack() as others_off:
            for other in obj.modifiers:
                others_off.enter_context(self.temporarily(other, show_viewport=other.name == modifier))
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
        # Shape keys cannot be removed on their own; they go with their mesh, which is undone next.
        if hasattr(blocks, "remove"):
            blocks.remove(block)

    def edit(self, block: Any) -> Any:
        if isinstance(block, bpy.types.Key):
            self.edit(block.user)  # shape keys have no life, and so no pre-image, of their own
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
        """Take a pre-image, and record how to put it in the place of its original."""
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
        """Let a tombstone take the place of what has its name now."""
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
        """Shape keys are a datablock of their own, which Blender copies and removes along with their mesh or curve."""
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
        """An interface is repeated where a node group is used: in the sockets of group nodes, in the inputs of modifiers."""
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
        """An object has as many material slots as its data has materials; its own ones go when the data loses some."""
        for user in references.referrers({data})[data]:
            slots = enumerate(getattr(user, "material_slots", ()))
            own = [(i, freeze(slot.material, self._block)) for i, slot in slots if slot.link == "OBJECT"]
            if own:
                key = fp.key_of(user)
                self.undo_log.touch(key)
                self.undo_log.inverse(lambda key=key, own=own: _put_slots(self._block(key), own))

    def set(self, target: Any, attribute: str, value: Any, *, owner: Any | None = None) -> None:
        holder = self._holder(target, owner)
        key = self._writable(holder)
        self._stale = True
        if self.undo_log.free(key):
            setattr(target, attribute, value)
            return
        if attribute == "name" and target == holder:
            raise TypeError("a datablock is named with rename")
        self.undo_log.touch(key)
        if isinstance(holder, bpy.types.Scene):
            self._touch_compositors()
        self._save_side_effects(target, attribute)
        old = getattr(target, attribute)
        if isinstance(old, bpy.types.ID):
            self.undo_log.released.append(old)
        thaw = freeze(old, self._block)
        resolve = self._address(holder, target)  # before the write: what cannot be found again must not be written
        setattr(target, attribute, value)
        if attribute == "name":
            # Its path has the name in it, and the inverse runs with the new one.
            resolve = self._address(holder, target)
        self.undo_log.inverse(lambda: setattr(resolve(), attribute, thaw()))

    def _save_side_effects(self, target: Any, attribute: str | int) -> None:
        """Record what Blender itself writes along with a property, so that it comes back after the property does."""
        if isinstance(target, bpy.types.Object):
            for other in SIDE_EFFECTS.get(attribute, ()):
                if getattr(target, other) != "":  # no bone, or a type that Blender has no name for and takes none
                    self._save_value(target, other)
        elif isinstance(target, bpy.types.PoseBone) and attribute == "rotation_mode":
            for other in SIDE_EFFECTS[attribute]:
                self._save_value(target, other)
        elif isinstance(target, bpy.types.NodesModifier) and attribute == "node_group":
            self._save_inputs(target)

    def _touch_compositors(self) -> None:
        """Engine, denoising and passes of a scene decide which outputs the Render Layers nodes have, which are datablocks of their own
        since Blender 5.0. They come back with what was written."""
        for tree in bpy.data.node_groups:
            if isinstance(tree, bpy.types.CompositorNodeTree) and tree.library is None and not is_tombstone(tree):
                key = fp.key_of(tree)
                self.undo_log.mark(key)
                self.undo_log.touch(key)

    def _save_value(self, target: Any, attribute: str) -> None:
        """Record what a property is before something else writes it."""
        holder = self._holder(target, None)
        key = self._writable(holder)
        if not self.undo_log.free(key):
            self.undo_log.touch(key)
            thaw, resolve = freeze(getattr(target, attribute), self._block), self._address(holder, target)
            self.undo_log.inverse(lambda: setattr(resolve(), attribute, thaw()))

    def set_world_matrix(self, obj: Any, matrix: Any) -> None:
        self.depsgraph()
        # Blender takes the matrix apart into these channels; putting a matrix back would not give the same numbers.
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

        def back() -> None:
            put_item(resolve(), key, thaw())
            put_hints(resolve(), key, hints)

        self.undo_log.inverse(back)

    def _save_inputs(self, modifier: Any) -> None:
        """The inputs of a geometry-nodes modifier, which Blender drops when it has no group."""
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
            # In the order they had: one may decide which others are valid.
            for name, thaw in saved_values.items():
                setattr(target, name, thaw())
            self._stale = True

    # ------------------------------------------------------------------ addressing

    def _block(self, key: fp.Key) -> Any:
        return self._state.block(key)

    def _writable(self, block: Any) -> fp.Key:
        """The key of a datablock, unless it belongs to another file."""
        key = fp.key_of(block)
        if len(key) > 2:
            message = f"'{block.name}' is linked from {key[2]} and can only be changed there"
            raise StepError.of(Fault.SCENE_CONFLICT, message, cure="Make it local first, or work with a copy of it.")
        return key

    def _holder(self, target: Any, owner: Any | None) -> Any:
        """The datablock that a structure is hashed with."""
        if owner is not None:
            return owner
        holder = target.id_data
        if holder.is_embedded_data:
            if not isinstance(holder, NO_PREIMAGE):
                raise TypeError(f"{target} is in an embedded node tree: name its owner")
            return fp.scene_of(holder)
        return holder

    def _address(self, holder: Any, target: Any) -> Callable[[], Any]:
        """A function that finds a structure again after references have become stale."""
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
        except ValueError:  # a type that Blender cannot give a path of
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
    """The property that holds an embedded datablock."""
    if isinstance(block, bpy.types.Collection):
        return "collection"
    return "node_tree"
