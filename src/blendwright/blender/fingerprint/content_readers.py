"""Content that RNA values alone do not give: view layers, texts, images, curves, slots, shape keys, node trees.

Responsible for: the list of readers that add to the plain walk, and those for single types, each with the reason why that walk will not do.
"""

import hashlib
from operator import attrgetter
from typing import Any, Final

import numpy as np

from blendwright.blender.fingerprint import mesh
from blendwright.blender.fingerprint.attributes import blob
from blendwright.blender.fingerprint.batches import BatchReader
from blendwright.blender.fingerprint.canonical import canonical_path, fold, fold_all, fold_array
from blendwright.blender.fingerprint.identity import key_of, layer_collections, layer_flags
from blendwright.blender.fingerprint.poses import encode_pose
from blendwright.blender.fingerprint.properties import plain
from blendwright.blender.fingerprint.walk import Out, Reader, Walk, blanked

_link = attrgetter(
    *("to_node.name", "to_socket.identifier", "multi_input_sort_id"),
    *("from_node.name", "from_socket.identifier", "is_muted"),
)
_of_object = attrgetter("material_slots", "show_only_shape_key", "pose")
_SIDES = ("inputs", "outputs")  # its third part says which panels are open
_CACHE_RANGE = ("frame_start", "frame_end")


def encode_object(walk: Walk, owner: Any, out: Out) -> None:
    slots, only_shape_key, pose = _of_object(owner)
    if len(slots):
        encode_slots(slots, out)
    if only_shape_key:
        out.append(owner.active_shape_key_index)  # otherwise it is only the one that is chosen in a list
    if pose is not None:
        encode_pose(walk, pose, out)


def encode_slots(slots: Any, out: Out) -> None:
    """Materials that belong to the object; those of its data are in the data's leaf."""
    linked = [(i, slot.material) for i, slot in enumerate(slots) if slot.link == "OBJECT"]
    if linked:
        out.append([(i, None if material is None else key_of(material)) for i, material in linked])


def encode_layer_collections(_walk: Walk, layer: Any, out: Out) -> None:
    """Flags of collections in a view layer, only where set: the tree itself repeats the collections."""
    entries = ((path, layer_flags(node)) for path, node in layer_collections(layer))
    out.append(sorted((path, flags) for path, flags in entries if any(flags)))


def encode_light_linking(_walk: Walk, collection: Any, out: Out) -> None:
    """Light linking says per member whether it is excluded."""
    if collection.is_embedded_data:
        return  # a scene's own collection cannot be used for light linking
    for members, blocks in (
        (collection.collection_objects, collection.objects),
        (collection.collection_children, collection.children),
    ):
        states = [member.light_linking.link_state for member in members]
        excluded = [i for i, state in enumerate(states) if state != "INCLUDE"]
        if excluded:
            # The key says which of the two lists it is.
            out.append(sorted(key_of(blocks[i]) for i in excluded))


def _unordered(name: str) -> Reader:
    """Drivers or F-curves, whatever their order: it tells only in which order they were made."""
    return lambda walk, owner, out: walk.unordered(getattr(owner, name), out)


def encode_action(walk: Walk, action: Any, out: Out) -> None:
    """Before Blender 4.4 the curves belong to the action itself."""
    if not hasattr(action, "layers"):
        walk.unordered(action.fcurves, out)


def encode_strip(_walk: Walk, strip: Any, out: Out) -> None:
    """Influence and time of an NLA strip, unless the strip's own curves write them."""
    out.append(None if strip.use_animated_influence else fold(strip.influence))
    out.append(None if strip.use_animated_time else fold(strip.strip_time))


def encode_particle_system(walk: Walk, particles: Any, out: Out) -> None:
    """The cache, whose range evaluation takes from emitting particles and the scene, and the dynamics of hair.

    Hair dynamics are settings of a cloth modifier that no list shows; Blender makes it when they are switched on. What weights
    its forces are those of the particles: its own are lost when the file is saved."""
    is_hair = particles.settings.type == "HAIR"
    walk.inner_without(particles.point_cache, () if is_hair else _CACHE_RANGE, out)
    cloth = particles.cloth
    if cloth is not None and particles.use_hair_dynamics:
        walk.values(cloth.settings, out)
        walk.inner(cloth.collision_settings, out)


def encode_paint_surface(walk: Walk, surface: Any, out: Out) -> None:
    """The cache without its range, which evaluation copies from the surface's."""
    walk.inner_without(surface.point_cache, _CACHE_RANGE, out)


def encode_particle_settings(_walk: Walk, settings: Any, out: Out) -> None:
    """New settings have 0 trails, which opening the file turns into 1."""
    out.append(max(1, settings.trail_count))


def encode_field(_walk: Walk, field: Any, out: Out) -> None:
    """The seed of a force field, which a new one takes from the clock; without a force it does nothing."""
    out.append(None if field.type == "NONE" else field.seed)


def encode_image_format(_walk: Walk, settings: Any, out: Out) -> None:
    """The colour space of formats that store linear colours; for others it has no valid value."""
    if settings.has_linear_colorspace:
        out.append(settings.linear_colorspace_settings.name)


def encode_text(_walk: Walk, text: Any, out: Out) -> None:
    out.append(hashlib.sha256(text.as_string().encode("utf-8", "surrogateescape")).digest())


def encode_image(_walk: Walk, image: Any, out: Out) -> None:
    """Pixels that exist only in memory. Others follow from the file or from the settings, and reading would load them."""
    if image.is_dirty:
        pixels = np.empty(len(image.pixels), "<f4")
        image.pixels.foreach_get(pixels)
        out.append(tuple(image.size))
        out.append(blob(fold_array(pixels)))


def encode_shape_key(walk: Walk, key: Any, out: Out) -> None:
    """Points: of a mesh or lattice in bulk; those of a curve differ in type from spline to spline.

    When a key shows counts only where keys follow each other in time; otherwise it tells how they were made."""
    if not key.id_data.use_relative:
        out.append(fold(key.frame))
    points = key.data
    count = len(points)
    out.append(count)
    if count and points[0].bl_rna.identifier == "ShapeKeyPoint":
        array = np.empty(count * 3, "<f4")
        points.foreach_get("co", array)
        out.append(blob(fold_array(array)))
    else:
        for point in points:
            walk.inner(point, out)


def encode_tree(walk: Walk, tree: Any, out: Out) -> None:
    """Nodes by name, links, interface: whatever the order of nodes (which selecting changes) or links."""
    nodes = sorted([(node.name, node) for node in tree.nodes], key=lambda pair: pair[0])
    out.append(len(nodes))
    for _, node in nodes:
        walk.inner(node, out)
    out.append(sorted(map(_link, tree.links)))
    items = tree.interface.items_tree
    out.append(len(items))
    for item in items:
        walk.inner(item, out)
        # Panels may share a name, so the parent goes by its place.
        out.append(item.parent.index)


def encode_sockets(walk: Walk, node: Any, out: Out) -> None:
    _sockets(walk, node.inputs, out)
    _sockets(walk, node.outputs, out)


def _sockets(walk: Walk, sockets: Any, out: Out) -> None:
    # The same content as walk.struct gives, kept short: a default material has 35 sockets.
    channels = walk.channels
    for socket in sockets:
        layout, _ = walk.layout_of(socket)
        if channels and (socket.as_pointer(), layout.name) in channels:
            walk.struct(socket, out)
            continue
        out.append(layout.name)
        if layout.scalars:
            out.append(layout.scalars(socket))
        if layout.floats:
            for value in layout.floats(socket):
                out.append(fold(value))
        if layout.vectors:
            for value in layout.vectors(socket):
                out.append(fold_all(value))
        for name in layout.paths:
            out.append(canonical_path(getattr(socket, name), socket.id_data))
        if layout.parts:
            for value in layout.parts(socket):
                out.append(None if value is None else key_of(value))
        if layout.custom:  # sockets of builtin types carry no custom properties
            walk.properties(socket, layout, None, out)


def encode_group_inputs(walk: Walk, modifier: Any, out: Out) -> None:
    """What a modifier gives to its node group, from Blender 5.2 on; before, custom properties hold it.

    Blender makes a type for each input of each group. They are read as they are stored, because all have the same names. What
    is stored follows the group only when the modifier is evaluated: what the group has lost does not count, and reading
    what it has gained stores the default, as an evaluation would."""
    properties = getattr(modifier, "properties", None)
    if properties is None:
        return
    for side in _SIDES:
        structs = getattr(properties, side, None)  # a modifier of the sequencer has no outputs
        for prop in structs.bl_rna.properties if structs is not None else ():
            if not prop.is_runtime:
                continue
            name: str = prop.identifier
            struct = getattr(structs, name)
            group = struct.bl_system_properties_get()
            if walk.channels:
                animated = walk.channels.get((struct.as_pointer(), name), {})
            else:
                animated = {}
            values = [(key, blanked(plain(group[key]), animated.get(key))) for key in sorted(group.keys())]
            out.append((name, values))


def encode_image_layers(_walk: Walk, node: Any, out: Out) -> None:
    """Layer and view of an image with several; for others they have no valid value."""
    out.append(node.layer if node.has_layers else None)
    out.append(node.view if node.has_views else None)


# Readers that have a form for many datablocks at once.
BATCH_READERS: Final[dict[Reader, BatchReader]] = {mesh.encode_mesh: mesh.encode_meshes}
# By RNA type, subtypes included.
READERS: Final[dict[str, Reader]] = {
    "Action": encode_action,
    "ActionChannelbag": _unordered("fcurves"),
    "AnimData": _unordered("drivers"),
    "Collection": encode_light_linking,
    "CompositorNodeCryptomatteV2": encode_image_layers,
    "CompositorNodeImage": encode_image_layers,
    "Curve": mesh.encode_texture_space,
    "DynamicPaintSurface": encode_paint_surface,
    "FieldSettings": encode_field,
    "Image": encode_image,
    "ImageFormatSettings": encode_image_format,
    "Lattice": mesh.encode_lattice,
    "Mesh": mesh.encode_mesh,
    "MetaBall": mesh.encode_texture_space,
    "NlaStrip": encode_strip,
    "Node": encode_sockets,
    "NodeTree": encode_tree,
    "NodesModifier": encode_group_inputs,
    "Object": encode_object,
    "ParticleSettings": encode_particle_settings,
    "ParticleSystem": encode_particle_system,
    "SequencerCompositorModifierData": encode_group_inputs,
    "ShapeKey": encode_shape_key,
    "Text": encode_text,
    "ViewLayer": encode_layer_collections,
}
