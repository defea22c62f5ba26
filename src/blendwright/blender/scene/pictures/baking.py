"""Baking by Blender's operator: the selection, active object, materials and image nodes that it needs, and their restoration."""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy
import numpy as np

from blendwright.blender.scene.pictures.images import Images
from blendwright.blender.scene.pictures.render_progress import render_progress
from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.blender.selection import selected_objects
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.wire.methods import PRINTED_FILE

_ops: Any = bpy.ops
TARGET = f"{RESERVED_PREFIX}target"


class Baking(Images):
    """The part of the Scene port that bakes."""

    def bake(self, obj: Any, image: Any, kind: str, *, sources: Sequence[Any] = (), **options: Any) -> None:
        with ExitStack() as temporary:
            temporary.enter_context(_selected(obj, sources))
            temporary.enter_context(_a_material(obj))
            for material in {slot.material for slot in obj.material_slots if slot.material is not None}:
                temporary.enter_context(_target(material, image))
            try:
                with render_progress(self._outbox.with_name(PRINTED_FILE)):
                    _ops.object.bake(
                        type=kind,
                        target="IMAGE_TEXTURES",
                        save_mode="INTERNAL",
                        use_clear=True,
                        use_selected_to_active=bool(sources),
                        **options,
                    )
            except RuntimeError as error:
                reason = " ".join(str(error).removeprefix("Error:").split())
                raise StepError.of(Fault.EXECUTION_FAILED, f"Blender could not bake: {reason}", at="/object") from error
        self._stale = True
        self.pack_image(image)

    def denoise_image(self, image: Any) -> None:
        from blendwright.blender.scene.pictures.denoising import denoise

        values = np.empty(len(image.pixels), np.float32)
        image.pixels.foreach_get(values)
        width, height = image.size
        # Next to the outbox, so that the core does not collect this file.
        file = self._outbox.with_name("denoised.exr")
        pixels = denoise(values.reshape(height, width, image.channels), file)
        image.pixels.foreach_set(np.ascontiguousarray(pixels, np.float32).ravel())
        self._stale = True
        self.pack_image(image)

    def brightness_range(self, image: Any) -> tuple[float, float] | None:
        values = np.empty(len(image.pixels), np.float32)
        image.pixels.foreach_get(values)
        brightest = values.reshape(-1, image.channels)[:, :3].max(axis=1)
        filled = brightest[brightest > 0.0]
        if len(filled):
            return (float(filled.min()), float(filled.max()))
        return None


@contextmanager
def _selected(obj: Any, sources: Sequence[Any]) -> Generator[None]:
    """Select the sources and make `obj` active for the length of the block: the operator bakes from the selected to the active object."""
    layer: Any = bpy.context.view_layer
    active, selected = layer.objects.active, selected_objects()
    _select((*selected,), False)
    _select((obj, *sources), True)
    layer.objects.active = obj
    try:
        yield
    finally:
        _select((obj, *sources), False)
        _select((*selected,), True)
        layer.objects.active = active


def _select(objects: Sequence[Any], state: bool) -> None:
    for obj in objects:
        obj.select_set(state)


@contextmanager
def _a_material(obj: Any) -> Generator[None]:
    """Fill empty material slots with a temporary material, since the bake target is a node of a material."""
    # An object keeps a slot after its data lost it.
    slots: list[Any] = []
    if len(obj.data.materials):
        slots = list(obj.material_slots)
    if slots and all(slot.material is not None for slot in slots):
        yield
        return

    materials: Any = bpy.data.materials
    temporary = materials.new(TARGET)
    if bpy.app.version < (5, 0, 0):
        temporary.use_nodes = True
    empty_slots = [slot for slot in slots if slot.material is None]
    for slot in empty_slots:
        slot.material = temporary
    if not slots:
        obj.data.materials.append(temporary)
    try:
        yield
    finally:
        for slot in empty_slots:
            slot.material = None
        if not slots:
            obj.data.materials.pop(index=0)
        materials.remove(temporary)


@contextmanager
def _target(material: Any, image: Any) -> Generator[None]:
    """Add an active image node to a material for the length of the block: the operator bakes into the image of the active node."""
    tree = material.node_tree
    if tree.nodes.active is None:
        active = None
    else:
        active = tree.nodes.active.name
    node = tree.nodes.new("ShaderNodeTexImage")
    node.name = TARGET
    node.image = image
    tree.nodes.active = node
    try:
        yield
    finally:
        tree.nodes.remove(tree.nodes[TARGET])
        if active is None:
            tree.nodes.active = None
        else:
            tree.nodes.active = tree.nodes[active]
