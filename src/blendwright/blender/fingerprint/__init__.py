"""The scene fingerprint: a content hash per datablock, and one hash over all of them.

Equal across processes, across saving and opening, and whatever the order of creation; complete over what a user would
call a change. What stays out is listed, with reasons, in `exclusions.py`. Reading it changes
nothing that counts (Blender leaves an empty layer of weights in small meshes that are asked for theirs).
"""

from blendwright.blender.fingerprint.identity import (
    MASTER,
    MEMBERSHIP,
    CollectionKey,
    Key,
    all_blocks,
    block_of,
    collection_key,
    key_of,
    key_words,
    kinds,
    member_key,
    scene_of,
)
from blendwright.blender.fingerprint.leaf_hashes import (
    MEMBER,
    RENDER_RESULTS,
    full,
    leaf,
    leaves,
    likeness,
    meshes_with_groups,
)
from blendwright.blender.fingerprint.merkle import Fingerprint, changes_between

__all__ = [
    "MASTER",
    "MEMBER",
    "MEMBERSHIP",
    "RENDER_RESULTS",
    "CollectionKey",
    "Fingerprint",
    "Key",
    "all_blocks",
    "block_of",
    "changes_between",
    "collection_key",
    "full",
    "key_of",
    "key_words",
    "kinds",
    "leaf",
    "leaves",
    "likeness",
    "member_key",
    "meshes_with_groups",
    "scene_of",
]
