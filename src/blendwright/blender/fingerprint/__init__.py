"""The scene fingerprint: a content hash per datablock, and one hash over all of them.

The hash is equal across processes, across saving and opening, and for every order of creation. It covers everything that a user
would call a change. `exclusions.py` lists the data that stays out, with reasons. Reading the fingerprint changes no content.
(One side effect exists: Blender leaves an empty weight layer in a small mesh when its weights are read.)
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
