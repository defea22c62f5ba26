"""The scene fingerprint: a content hash per datablock, and one hash over all of them.

Equal across processes, across saving and opening, and whatever the order of creation; complete over what a user would
call a change. What stays out is listed, with reasons, in `skips.py`. Reading it changes
nothing that counts (Blender leaves an empty layer of weights in small meshes that are asked for theirs).
"""

from blendwright.blender.fingerprint.identity import (
    EDGE,
    MASTER,
    METHOD,
    Key,
    Place,
    block_of,
    in_words,
    key_of,
    kinds,
    label,
    member_key,
    place_of,
    scene_of,
)
from blendwright.blender.fingerprint.leaves import MEMBER, full, leaf
from blendwright.blender.fingerprint.merkle import Fingerprint

__all__ = [
    "EDGE",
    "MASTER",
    "MEMBER",
    "METHOD",
    "Fingerprint",
    "Key",
    "Place",
    "block_of",
    "full",
    "in_words",
    "key_of",
    "kinds",
    "label",
    "leaf",
    "member_key",
    "place_of",
    "scene_of",
]
