"""The method and Blender version of a scene hash, and the refusal of hashes that cannot be compared."""

from __future__ import annotations

from blendwright.values.errors import EnvironmentUnfit


def scheme_of(scene_hash: str) -> str:
    """Return the method and Blender series of a hash. Only hashes with the same scheme can be compared."""
    return scene_hash.rpartition(":")[0]


def blender_of(scene_hash: str) -> str:
    """Return the Blender series of a hash, for example "5.2"."""
    return scheme_of(scene_hash).rpartition(":")[2]


def other_scheme(theirs: str, ours: str, commit: int | None = None) -> EnvironmentUnfit:
    """Return the error for a workspace, or for one of its commits, whose hashes have another scheme.

    The workspace is intact, so Blendwright never quarantines it for this reason.
    """
    their_method, _, their_blender = scheme_of(theirs).partition(":")
    our_method, _, our_blender = scheme_of(ours).partition(":")
    if commit is None:
        subject = "the workspace was written"
    else:
        subject = f"commit {commit} was made"
    if their_method != our_method:
        their_number, our_number = their_method.removeprefix("bw"), our_method.removeprefix("bw")
        message = f"{subject} with fingerprint method {their_number}, but this blendwright has method {our_number}"
        cure = (
            "Use the blendwright that wrote it. To continue with this version: run `blendwright export FILE.blend` there, "
            "then `blendwright new --scene FILE.blend` here, in a new workspace."
        )
    else:
        message = f"{subject} with Blender {their_blender}, but this is Blender {our_blender}"
        cure = f"Use the Blender that wrote it: --blender {their_blender}."
        if commit is None:
            cure += f" To move the workspace to this one: blendwright upgrade --blender {our_blender}"
        else:
            cure += f" `blendwright checkout {commit} --blender {their_blender}` continues from there."
    return EnvironmentUnfit(message, cure=cure, details={"expected": theirs, "found": ours})
