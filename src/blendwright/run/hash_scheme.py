"""Whether two scene hashes can be compared at all: only those of one method and one Blender can."""

from __future__ import annotations

from blendwright.values.errors import EnvironmentUnfit


def scheme_of(scene_hash: str) -> str:
    """Which method and Blender made a hash: others cannot be compared with it."""
    return scene_hash.rpartition(":")[0]


def other_scheme(theirs: str, ours: str) -> EnvironmentUnfit:
    """The refusal of a workspace whose hashes were made in another way. It is whole, so it is never quarantined for that."""
    their_method, _, their_blender = scheme_of(theirs).partition(":")
    our_method, _, our_blender = scheme_of(ours).partition(":")
    if their_method != our_method:
        had, have = their_method.removeprefix("bw"), our_method.removeprefix("bw")
        message = f"the workspace was written with method {had} of the fingerprint, this blendwright has method {have}"
        cure = (
            "Use the blendwright that wrote it. To go on with this one: `blendwright export FILE.blend` there, then "
            "`blendwright new --scene FILE.blend` here, in a new workspace."
        )
    else:
        message = f"the workspace was written with Blender {their_blender}, this is Blender {our_blender}"
        cure = "Use the Blender that wrote it."
    return EnvironmentUnfit(message, cure=cure, details={"expected": theirs, "found": ours})
