"""The list of readers that add to the plain walk, by RNA type (subtypes included).

Responsible for: the table, nothing else.
"""

from typing import Final

from blendwright.blender.fingerprint import content_readers as content
from blendwright.blender.fingerprint import mesh, nodes
from blendwright.blender.fingerprint.walk import Reader

READERS: Final[dict[str, Reader]] = {
    "Action": content.encode_action,
    "ActionChannelbag": content.encode_channelbag,
    "AnimData": content.encode_drivers,
    "Collection": content.encode_light_linking,
    "CompositorNodeCryptomatteV2": nodes.encode_image_layers,
    "CompositorNodeImage": nodes.encode_image_layers,
    "Curve": mesh.encode_texture_space,
    "DynamicPaintSurface": content.encode_paint_surface,
    "FieldSettings": content.encode_field,
    "Image": content.encode_image,
    "ImageFormatSettings": content.encode_image_format,
    "Lattice": mesh.encode_lattice,
    "Mesh": mesh.encode_mesh,
    "MetaBall": mesh.encode_texture_space,
    "NlaStrip": content.encode_strip,
    "Node": nodes.encode_sockets,
    "NodeTree": nodes.encode_tree,
    "Object": content.encode_object,
    "ParticleSettings": content.encode_particle_settings,
    "ParticleSystem": content.encode_particle_system,
    "ShapeKey": content.encode_shape_key,
    "Text": content.encode_text,
    "ViewLayer": content.encode_layer_collections,
}
