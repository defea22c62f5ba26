"""What a pointer stands for, where RNA does not tell: a part of its owner, which is read, or something else's, which is named.

Responsible for: the data that steers the RNA walk. Holds no code that touches Blender.
"""

from typing import Final

# Structs that live in a named list elsewhere: a read-only pointer to one is a reference, not a part.
# (A writable pointer to a struct is a reference anyway: parts cannot be assigned.)
REFERENCED_STRUCTS: Final[frozenset[str]] = frozenset(
    {
        "ActionSlot",
        "ActionGroup",
        "Bone",
        "BoneCollection",
        "EditBone",
        "FCurve",
        "GreasePencilLayer",
        "GreasePencilLayerGroup",
        "GreasePencilTreeNode",
        "LayerCollection",
        "Node",
        "NodeSocket",
        "NodeTreeInterfaceItem",
        "NodeTreeInterfacePanel",
        "ParticleSystem",
        "PoseBone",
        "ShapeKey",
        "Strip",
        "VertexGroup",
    }
)

# Writable pointers that are parts all the same.
OWNED_STRUCTS: Final[frozenset[str]] = frozenset({"AssetMetaData", "GreasePencilDrawing"})

# Lists of references: (type, property).
REFERENCE_LISTS: Final[frozenset[tuple[str, str]]] = frozenset(
    {
        ("BoneCollection", "bones"),
        ("MovieTrackingStabilization", "tracks"),
        ("MovieTrackingStabilization", "rotation_tracks"),
    }
)
