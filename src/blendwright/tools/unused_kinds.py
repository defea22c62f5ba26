"""Which datablocks may go when nothing uses them."""

from __future__ import annotations

from blendwright.tool_api.scene import Kind

# Kinds that serve something else, and serve nothing where nothing uses them. Texts, sounds and palettes are there for people.
PURGED: tuple[Kind, ...] = (
    Kind.ACTION, Kind.ARMATURE, Kind.CACHE_FILE, Kind.CAMERA, Kind.CURVE, Kind.FONT, Kind.GREASE_PENCIL_V3,
    Kind.HAIR_CURVES, Kind.IMAGE, Kind.LATTICE, Kind.LIGHT, Kind.LIGHT_PROBE, Kind.MATERIAL, Kind.MESH, Kind.METABALL,
    Kind.NODE_GROUP, Kind.PARTICLES, Kind.POINT_CLOUD, Kind.SPEAKER, Kind.TEXTURE, Kind.VOLUME, Kind.WORLD,
)  # fmt: skip
