"""Content beyond the RNA values: view layers, texts, images, curves, slots, shape keys, node trees.

Each reader adds to the plain walk for one RNA type. Its docstring gives the reason why the walk is not enough.
"""

import hashlib
from operator import attrgetter
from typing import Any, Final

import numpy as np

from blendwright.blender.fingerprint import mesh
from blendwright.blender.fingerprint.attributes import blob
from blendwright.blender.fingerprint.batches import BatchReader
from blendwright.blender.fingerprint.canonical import canonical_path, fold, fold_all, fold_array
from blendwright.blender.fingerprint.identity import key_of, layer_collections, layer_flags, optional_key
from blendwright.blender.fingerprint.poses import encode_pose
from blendwright.blender.fingerprint.properties import plain
from blendwright.blender.fingerprint.walk import Out, Reader, Walk, blanked

_link = attrgetter(
    *("to_node.name", "to_socket.identifier", "multi_input_sort_id"),
    *("from_node.name", "from_socket.identifier", "is_muted"),
)
_of_object = attrgetter("material_slots", "show_only_shape_key", "pose")
_SIDES = ("inputs", "outputs")  # the third part holds the open panels, which are not content
_CACHE_RANGE = ("frame_start", "frame_end")


def encode_object(walk: Walk, owner: Any, out: Out) -> None:
    """Append the object's material slots, the solo shape key and the pose."""
    slots, only_shape_key, pose = _of_object(owner)
    if len(slots):
        encode_slots(slots, out)
    if only_shape_key:
        out.append(owner.active_shape_key_index)  # otherwise the index is only a choice in the interface
    if pose is not None:
        encode_pose(walk, pose, out)


def encode_slots(slots: Any, out: Out) -> None:
    """Append materials that belong to the object. Materials of its data are in the data's leaf."""
    linked = [(i, slot.material) for i, slot in enumerate(slots) if slot.link == "OBJECT"]
    if linked:
        out.append([(i, optional_key(material)) for i, material in linked])


def encode_layer_collections(_walk: Walk, layer: Any, out: Out) -> None:
    """Append flags of collections in a view layer that are set. The tree itself repeats the collections."""
    entries = ((path, layer_flags(node)) for path, node in layer_collections(layer))
    out.append(sorted((path, flags) for path, flags in entries if any(flags)))


def encode_light_linking(_walk: Walk, collection: Any, out: Out) -> None:
    """Append the members of a collection that light linking excludes."""
    if collection.is_embedded_data:
        return  # a scene's own collection cannot be used for light linking
    for members, blocks in (
        (collection.collection_objects, collection.objects),
        (collection.collection_children, collection.children),
    ):
        states = [member.light_linking.link_state for member in members]
        excluded = [i for i, state in enumerate(states) if state != "INCLUDE"]
        if excluded:
            # The keys show to which of the two lists the members belong.
            out.append(sorted(key_of(blocks[i]) for i in excluded))


def _unordered(name: str) -> Reader:
    """Return a reader that appends drivers or F-curves sorted by content, because their order only shows the order of creation."""
    return lambda walk, owner, out: walk.unordered(getattr(owner, name), out)


def encode_action(walk: Walk, action: Any, out: Out) -> None:
    """Append the curves of an action. Before Blender 4.4 they belong to the action itself."""
    if not hasattr(action, "layers"):
        walk.unordered(action.fcurves, out)


def encode_strip(_walk: Walk, strip: Any, out: Out) -> None:
    """Append influence and time of an NLA strip, unless the strip's curves write them."""
    if strip.use_animated_influence:
        out.append(None)
    else:
        out.append(fold(strip.influence))
    if strip.use_animated_time:
        out.append(None)
    else:
        out.append(fold(strip.strip_time))


def encode_particle_system(walk: Walk, particles: Any, out: Out) -> None:
    """Append the cache and the dynamics of hair.

    Evaluation copies the cache's range from emitting particles and the scene. Hair dynamics are settings of a cloth modifier that no
    list shows; Blender creates it when the user enables them. Its effector weights are left out: the particles' weights apply
    instead, and saving drops the modifier's.
    """
    is_hair = particles.settings.type == "HAIR"
    if is_hair:
        walk.inner_without(particles.point_cache, (), out)
    else:
        walk.inner_without(particles.point_cache, _CACHE_RANGE, out)
    cloth = particles.cloth
    if cloth is not None and particles.use_hair_dynamics:
        walk.values(cloth.settings, out)
        walk.inner(cloth.collision_settings, out)


def encode_paint_surface(walk: Walk, surface: Any, out: Out) -> None:
    """Append the cache without its range, which evaluation copies from the surface."""
    walk.inner_without(surface.point_cache, _CACHE_RANGE, out)


def encode_particle_settings(_walk: Walk, settings: Any, out: Out) -> None:
    """Append the trail count. New settings have 0 trails, which opening the file turns into 1."""
    out.append(max(1, settings.trail_count))


def encode_field(_walk: Walk, field: Any, out: Out) -> None:
    """Append the seed of a force field, or None without a force. A new field takes its seed from the clock."""
    if field.type == "NONE":
        out.append(None)
    else:
        out.append(field.seed)


def encode_image_format(_walk: Walk, settings: Any, out: Out) -> None:
    """Append the colour space of formats that store linear colours. Other formats have no valid value."""
    if settings.has_linear_colorspace:
        out.append(settings.linear_colorspace_settings.name)


def encode_text(_walk: Walk, text: Any, out: Out) -> None:
    out.append(hashlib.sha256(text.as_string().encode("utf-8", "surrogateescape")).digest())


def encode_image(_walk: Walk, image: Any, out: Out) -> None:
    """Append pixels that exist only in memory. Other pixels follow from the file or the settings, and reading would load them."""
    if image.is_dirty:
        pixels = np.empty(len(image.pixels), "<f4")
        image.pixels.foreach_get(pixels)
        out.append(tuple(image.size))
        out.append(blob(fold_array(pixels)))


def encode_shape_key(walk: Walk, key: Any, out: Out) -> None:
    """Append the points of a shape key: of a mesh or lattice in bulk, of a curve one by one, because their type depends on the spline.

    Append its frame only for absolute keys. Otherwise the frame only shows the order of creation.
    """
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
    """Append nodes by name, links and interface, independent of the order of nodes (which selecting changes) and links."""
    nodes = sorted([(node.name, node) for node in tree.nodes], key=lambda pair: pair[0])
    out.append(len(nodes))
    for _, node in nodes:
        walk.inner(node, out)
    out.append(sorted(map(_link, tree.links)))
    items = tree.interface.items_tree
    out.append(len(items))
    for item in items:
        walk.inner(item, out)
        # Panels may share a name, so the parent's index identifies it.
        out.append(item.parent.index)


def encode_sockets(walk: Walk, node: Any, out: Out) -> None:
    """Append the inputs and outputs of a node."""
    _sockets(walk, node.inputs, out)
    _sockets(walk, node.outputs, out)


def _sockets(walk: Walk, sockets: Any, out: Out) -> None:
    # The same content as walk.struct appends, without its overhead: a default material has 35 sockets.
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
                out.append(optional_key(value))
        if layout.custom:  # sockets of builtin types carry no custom properties
            walk.properties(socket, layout, None, out)


def encode_group_inputs(walk: Walk, modifier: Any, out: Out) -> None:
    """Append the values that a modifier passes to its node group, from Blender 5.2 on. Earlier, custom properties hold them.

    Blender creates a type for each input of each group. The stored values are read, because all these types have the same names.
    The stored inputs follow the group only when Blender evaluates the modifier. An input that the group has lost does not count.
    Reading an input that the group has gained stores its default, as an evaluation would.
    """
    properties = getattr(modifier, "properties", None)
    if properties is None:
        return
    for side in _SIDES:
        structs = getattr(properties, side, None)  # a modifier of the sequencer has no outputs
        if structs is None:
            continue
        for prop in structs.bl_rna.properties:
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
    """Append the layer and view of a multilayer image. Other images have no valid value."""
    if node.has_layers:
        out.append(node.layer)
    else:
        out.append(None)
    if node.has_views:
        out.append(node.view)
    else:
        out.append(None)


# Reader of one datablock -> the equivalent reader of many.
BATCH_READERS: Final[dict[Reader, BatchReader]] = {mesh.encode_mesh: mesh.encode_meshes}
# RNA type -> its reader. A reader also applies to subtypes.
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
