"""Which method and Blender made the hash of a scene, and the refusal of one that cannot be compared."""

from __future__ import annotations

from blendwright.values.errors import EnvironmentUnfit


def scheme_of(scene_hash: str) -> str:
    """Which method and Blender made a hash: others cannot be compared with it."""
    return scene_hash.rpartition(":")[0]


def blender_of(scene_hash: str) -> str:
    """The series of Blender that made a hash: 5.2."""
    return scheme_of(scene_hash).rpartition(":")[2]


def other_scheme(theirs: str, ours: str, commit: int | None = None) -> EnvironmentUnfit:
    """The refusal of a workspace, or of one commit of it, whose hashes were made in another way. It is whole, so it is never quarantined
    for that."""
    their_method, _, their_blender = scheme_of(theirs).partition(":")
    our_method, _, our_blender = scheme_of(ours).partition(":")
    if commit is None:
        what = "the workspace was written"
    else:
        what = f"commit {commit} was made"
    if their_method != our_method:
        had, have = their_method.removeprefix("bw"), our_method.removeprefix("bw")
        message = f"{what} with method {had} of the fingerprint, this blendwright has method {have}"
        cure = (
            "Use the blendwright that wrote it. To go on with this one: `blendwright export FILE.blend` there, then "
            "`blendwright new --scene FILE.blend` here, in a new workspace."
        )
    else:
        message = f"{what} with Blender {their_blender}, this is Blender {our_blender}"
        cure = f"Use the Blender that wrote it: --blender {their_blender}."
        if commit is None:
            cure += f" To move the workspace to this one: blendwright upgrade --blender {our_blender}"
        else:
            cure += f" `blendwright checkout {commit} --blender {their_blender}` goes on from there."
    return EnvironmentUnfit(message, cure=cure, details={"expected": theirs, "found": ours})
