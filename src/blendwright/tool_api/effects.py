"""The words in which a tool declares what it does."""

from __future__ import annotations

from enum import StrEnum


class SafetyLevel(StrEnum):
    """How much a call may change; ordered from harmless to harmful."""

    READ_ONLY = "read_only"
    SAFE_WRITE = "safe_write"
    DESTRUCTIVE = "destructive"

    def __init__(self, _: str) -> None:
        self.rank = len(type(self).__members__)


class SafetyMode(StrEnum):
    """What a call needs around it."""

    HEADLESS_SAFE = "headless_safe"
    UI_ASSISTED = "ui_assisted"
    UNSAFE_OPS = "unsafe_ops"


class Determinism(StrEnum):
    """Whether equal input gives equal output; ordered from strong to weak."""

    DETERMINISTIC = "deterministic"
    SEEDED = "seeded"
    NONDETERMINISTIC = "nondeterministic"

    def __init__(self, _: str) -> None:
        self.rank = len(type(self).__members__)


class Idempotence(StrEnum):
    """What a repetition with equal arguments does."""

    IDEMPOTENT = "idempotent"
    ACCUMULATING = "accumulating"
    NON_IDEMPOTENT = "non_idempotent"


class Revert(StrEnum):
    """How a step is taken back, before the last resort of rebuilding the scene."""

    NOTHING = "nothing"  # a read-only tool
    INVERSE = "inverse"  # the recorded inverse of each write
    MEMFILE = "memfile"  # Blender's own undo: the tool calls operators whose writes nobody records


class Isolation(StrEnum):
    """Which Blender process a call runs in."""

    SHARED = "shared"  # the one that holds the scene, which goes on holding it
    REPLACED = "replaced"  # the one that holds the scene; a clean one takes its place afterwards
    DISPOSABLE = "disposable"  # one that gets a copy, is never used again, and whose result is checked before it counts


class Kind(StrEnum):
    """The kinds of datablock a tool names or writes; the value is the collection in bpy.data. Not every Blender has them all."""

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
        return LABELS[self]


LABELS: dict[Kind, str] = {
    Kind.ACTION: "action",
    Kind.ANNOTATION: "annotation",
    Kind.ARMATURE: "armature",
    Kind.CACHE_FILE: "cache file",
    Kind.CAMERA: "camera",
    Kind.COLLECTION: "collection",
    Kind.CURVE: "curve",
    Kind.FONT: "font",
    Kind.GREASE_PENCIL: "grease pencil",
    Kind.GREASE_PENCIL_V3: "grease pencil",
    Kind.HAIR_CURVES: "hair curves",
    Kind.IMAGE: "image",
    Kind.LATTICE: "lattice",
    Kind.LIGHT: "light",
    Kind.LIGHT_PROBE: "light probe",
    Kind.LINE_STYLE: "line style",
    Kind.MASK: "mask",
    Kind.MATERIAL: "material",
    Kind.MESH: "mesh",
    Kind.METABALL: "metaball",
    Kind.MOVIE_CLIP: "movie clip",
    Kind.NODE_GROUP: "node group",
    Kind.OBJECT: "object",
    Kind.PALETTE: "palette",
    Kind.PARTICLES: "particle settings",
    Kind.POINT_CLOUD: "point cloud",
    Kind.SCENE: "scene",
    Kind.SHAPE_KEY: "shape key",
    Kind.SOUND: "sound",
    Kind.SPEAKER: "speaker",
    Kind.TEXT: "text",
    Kind.TEXTURE: "texture",
    Kind.VOLUME: "volume",
    Kind.WORLD: "world",
}
