"""The words in which a tool declares what it does."""

from __future__ import annotations

from enum import StrEnum


class SafetyLevel(StrEnum):
    """How much a call may change; ordered from harmless to harmful."""

    READ_ONLY = "read_only"
    SAFE_WRITE = "safe_write"
    DESTRUCTIVE = "destructive"

    @property
    def rank(self) -> int:
        return list(SafetyLevel).index(self)


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

    @property
    def rank(self) -> int:
        return list(Determinism).index(self)


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


class Kind(StrEnum):
    """The kinds of datablock a tool names or writes; the value is the collection in bpy.data."""

    ACTION = "actions"
    ARMATURE = "armatures"
    CAMERA = "cameras"
    COLLECTION = "collections"
    CURVE = "curves"
    FONT = "fonts"
    IMAGE = "images"
    LIGHT = "lights"
    MATERIAL = "materials"
    MESH = "meshes"
    NODE_GROUP = "node_groups"
    OBJECT = "objects"
    SCENE = "scenes"
    SHAPE_KEY = "shape_keys"
    TEXT = "texts"
    TEXTURE = "textures"
    WORLD = "worlds"

    @property
    def label(self) -> str:
        """The word for one of them, for messages."""
        return LABELS[self]


LABELS: dict[Kind, str] = {
    Kind.ACTION: "action",
    Kind.ARMATURE: "armature",
    Kind.CAMERA: "camera",
    Kind.COLLECTION: "collection",
    Kind.CURVE: "curve",
    Kind.FONT: "font",
    Kind.IMAGE: "image",
    Kind.LIGHT: "light",
    Kind.MATERIAL: "material",
    Kind.MESH: "mesh",
    Kind.NODE_GROUP: "node group",
    Kind.OBJECT: "object",
    Kind.SCENE: "scene",
    Kind.SHAPE_KEY: "shape key",
    Kind.TEXT: "text",
    Kind.TEXTURE: "texture",
    Kind.WORLD: "world",
}
