"""Kinds of datablocks that a purge may delete when nothing uses them."""

from __future__ import annotations

from blendwright.tool_api.scene import Kind

# These kinds are useful only while another datablock uses them. Texts, sounds and palettes are useful to people without
# users.
PURGED: tuple[Kind, ...] = (
    Kind.ACTION, Kind.ARMATURE, Kind.CACHE_FILE, Kind.CAMERA, Kind.CURVE, Kind.FONT, Kind.GREASE_PENCIL_V3,
    Kind.HAIR_CURVES, Kind.IMAGE, Kind.LATTICE, Kind.LIGHT, Kind.LIGHT_PROBE, Kind.MATERIAL, Kind.MESH, Kind.METABALL,
    Kind.NODE_GROUP, Kind.PARTICLES, Kind.POINT_CLOUD, Kind.SPEAKER, Kind.TEXTURE, Kind.VOLUME, Kind.WORLD,
)  # fmt: skip
