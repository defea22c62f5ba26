"""Datablocks as tools know them: their kinds and the type of a reference to one."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeAlias

# A Blender datablock or a structure inside one. Only the worker knows its type, so nothing here can be more precise.
Block: TypeAlias = Any
Point = tuple[float, float, float]


class Kind(StrEnum):
    """The kinds of datablock that tools name or write. The value is the collection in bpy.data. Some kinds exist only
    in some Blenders.
    """

    ACTION = "actions"
    ANNOTATION = "annotations"
    ARMATURE = "armatures"
    CACHE_FILE = "cache_files"
    CAMERA = "cameras"
    COLLECTION = "collections"
    CURVE = "curves"
    FONT = "fonts"
    GREASE_PENCIL = "grease_pencils"
    GREASE_PENCIL_V3 = "grease_pencils_v3"
    HAIR_CURVES = "hair_curves"
    IMAGE = "images"
    LATTICE = "lattices"
    LIGHT = "lights"
    LIGHT_PROBE = "lightprobes"
    LINE_STYLE = "linestyles"
    MASK = "masks"
    MATERIAL = "materials"
    MESH = "meshes"
    METABALL = "metaballs"
    MOVIE_CLIP = "movieclips"
    NODE_GROUP = "node_groups"
    OBJECT = "objects"
    PALETTE = "palettes"
    PARTICLES = "particles"
    POINT_CLOUD = "pointclouds"
    SCENE = "scenes"
    SHAPE_KEY = "shape_keys"
    SOUND = "sounds"
    SPEAKER = "speakers"
    TEXT = "texts"
    TEXTURE = "textures"
    VOLUME = "volumes"
    WORLD = "worlds"

    def __init__(self, blocks: str) -> None:
        self.blocks = blocks
        """The collection in bpy.data as a plain string; `value` is a call of a function each time, and steps ask often."""

    @property
    def label(self) -> str:
        """The word for one of them, for messages."""
        return UNLIKE_THEIR_NAMES.get(self, self.name.lower().replace("_", " "))


UNLIKE_THEIR_NAMES = {Kind.GREASE_PENCIL_V3: "grease pencil", Kind.PARTICLES: "particle settings"}
