"""Export profiles: requirements for a purpose, and comparison of the file read back with the scene. Does not use
Blender.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import conflict
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.file_facts import FileFacts, TextureFacts

Profile = Literal["game", "film", "print"]

# Profile -> its file extensions; the first one is the default.
EXTENSIONS: Mapping[Profile, tuple[str, ...]] = {
    "game": ("glb", "fbx"),
    "film": ("usdz", "usd", "usda", "usdc", "abc"),
    "print": ("stl",),
}
# Formats that keep the names of objects, their materials, and all of their UV maps; and those with a single mesh.
NAMED = frozenset({"gltf", "fbx"})
WITH_MATERIALS = frozenset({"gltf", "fbx", "usd"})
WITH_ALL_UVS = frozenset({"gltf", "fbx", "usd"})
ONE_MESH = frozenset({"stl"})
# glTF merges the pictures of these inputs into one, with the larger size.
MERGED = frozenset({"Metallic", "Roughness"})
# Largest number of names listed in a message.
MAX_LISTED_NAMES = 5


def scene_problems(profile: Profile, facts: FileFacts) -> Findings:
    """Yield findings if the scene does not meet the requirements of a profile."""
    if profile == "print" and facts["open_edges"]:
        message = f"the mesh to print is not closed: {facts['open_edges']} edges have fewer than two faces"
        yield conflict(message, "/profile", "Close it: mesh.clean, mesh.edit with fill, or a remesh modifier.")
    if profile != "print" and facts["unmapped"]:
        message = f"{_listed(facts['unmapped'])} have a picture texture but no UV map"
        yield conflict(message, "/profile", "Unwrap them with uv.unwrap first.")


def differences(form: str, wanted: FileFacts, found: FileFacts) -> tuple[Finding, ...]:
    """Return findings for contents of a file read back (`found`) that differ from the scene (`wanted`)."""
    messages = [*_shape_differences(form, wanted, found), *_uv_differences(form, wanted, found)]
    if form in WITH_MATERIALS:
        messages += _material_differences(form, wanted, found)
    fix = FIXES.get(form, "Change the differing data, choose another format, or leave the profile out.")
    return tuple(
        Finding(Fault.VERIFICATION_FAILED, f"the file read back {message}", "/path", fix) for message in messages
    )


FIXES = {
    "gltf": (
        "Realise instances of nodes, connect pictures directly to the Principled BSDF (bake mixed or procedural "
        "textures with render.bake), or leave the profile out."
    ),
    "usd": (
        "Export to .usdz, which contains its pictures, realise instances, convert texts and curves to meshes, or "
        "leave the profile out."
    ),
    "alembic": "Convert texts and curves to meshes, choose another format, or leave the profile out.",
}


def _shape_differences(form: str, wanted: FileFacts, found: FileFacts) -> Iterator[str]:
    if found["triangles"] != wanted["triangles"]:
        yield f"has {found['triangles']} triangles, but the scene has {wanted['triangles']}"
    lost: list[str] = []
    if form in NAMED:
        lost = sorted(set(wanted["shapes"]) - set(found["shapes"]))
    if form not in ONE_MESH and len(found["shapes"]) != len(wanted["shapes"]):
        detail = ""
        if lost:
            detail = f": it lacks {_listed(lost)}"
        yield f"has {len(found['shapes'])} objects with faces, but the scene has {len(wanted['shapes'])}{detail}"
    elif lost:
        yield f"has other names for {_listed(lost)}"
    if not _near(wanted["low"], found["low"]) or not _near(wanted["high"], found["high"]):
        actual, expected = _range(found["low"], found["high"]), _range(wanted["low"], wanted["high"])
        yield f"reaches {actual}, but the scene {expected}: scale, axes or position differ"
    if form in ONE_MESH and found["open_edges"] != wanted["open_edges"]:
        yield f"has {found['open_edges']} open edges, but the scene has {wanted['open_edges']}"


def _uv_differences(form: str, wanted: FileFacts, found: FileFacts) -> Iterator[str]:
    if form in WITH_ALL_UVS and found["uv_maps"] != wanted["uv_maps"]:
        yield f"has {found['uv_maps']} UV maps, but the scene has {wanted['uv_maps']}"
    elif form in WITH_ALL_UVS and not (
        _near(wanted["uv_low"], found["uv_low"]) and _near(wanted["uv_high"], found["uv_high"])
    ):
        actual, expected = _range(found["uv_low"], found["uv_high"]), _range(wanted["uv_low"], wanted["uv_high"])
        yield f"has UVs {actual}, but the scene has them {expected}"
    elif form == "alembic" and wanted["uv_maps"] and not found["uv_maps"]:
        yield "has no UV maps"


def _material_differences(form: str, wanted: FileFacts, found: FileFacts) -> Iterator[str]:
    lost: list[str] = []
    if form in NAMED:
        lost = sorted(set(wanted["materials"]) - set(found["materials"]))
    if lost:
        yield f"lacks the materials {_listed(lost)}"
    elif len(found["materials"]) != len(wanted["materials"]):
        yield f"has {len(found['materials'])} materials, but the scene has {len(wanted['materials'])}"

    pictures = {(_plain(picture["material"]), picture["input"]): picture for picture in found["textures"]}
    for texture in wanted["textures"]:
        actual = pictures.get((_plain(texture["material"]), texture["input"]))
        label = f"'{texture['image']}' on {texture['input']} of material '{texture['material']}'"
        if actual is None:
            yield f"lacks the picture {label}"
        elif not actual["width"] or not actual["height"]:
            yield f"refers to the picture {label} but does not contain it"
        elif texture["input"] not in MERGED and _size(actual) != _size(texture):
            yield f"has the picture {label} with {_size(actual)} pixels instead of {_size(texture)}"


def _size(texture: TextureFacts) -> str:
    return f"{texture['width']} by {texture['height']}"


def _plain(name: str) -> str:
    """Return a name as USD spells it: characters other than ASCII letters and digits become underscores."""
    return re.sub(r"[^A-Za-z0-9]", "_", name)


def _near(wanted: Sequence[float], found: Sequence[float]) -> bool:
    """Return True if two points are equal within single precision and the rounding of unit conversions."""
    if len(wanted) != len(found):
        return False
    return all(
        abs(expected - actual) <= 1e-4 * max(1.0, abs(expected)) for expected, actual in zip(wanted, found, strict=True)
    )


def _range(low: Sequence[float], high: Sequence[float]) -> str:
    return f"from {_shown(low)} to {_shown(high)}"


def _shown(corner: Sequence[float]) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in corner) + ")"


def _listed(names: Sequence[str]) -> str:
    listing = ", ".join(f"'{name}'" for name in names[:MAX_LISTED_NAMES])
    if len(names) > MAX_LISTED_NAMES:
        return f"{listing} and {len(names) - MAX_LISTED_NAMES} more"
    return listing
