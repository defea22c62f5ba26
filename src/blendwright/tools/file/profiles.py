"""Profiles of an export: what a file for a purpose must be like, and whether one that was read back is. Knows no Blender."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import conflict
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.file_facts import FileFacts, TextureFacts

Profile = Literal["game", "film", "print"]

# Which files each is for; the first is the one to choose where nothing speaks for another.
EXTENSIONS: Mapping[Profile, tuple[str, ...]] = {
    "game": ("glb", "fbx"),
    "film": ("usdz", "usd", "usda", "usdc", "abc"),
    "print": ("stl",),
}
# Formats that keep what an object is called, and those that keep its materials.
NAMED = frozenset({"gltf", "fbx"})
WITH_MATERIALS = frozenset({"gltf", "fbx", "usd"})
WITH_ALL_UVS = frozenset({"gltf", "fbx", "usd"})
ONE_MESH = frozenset({"stl"})
# glTF puts these two into one picture, as large as the larger one.
MERGED = frozenset({"Metallic", "Roughness"})
MOST_NAMED = 5


def scene_problems(profile: Profile, facts: FileFacts) -> Findings:
    """What about the scene makes a file of it unfit for the purpose."""
    if profile == "print" and facts["open_edges"]:
        message = f"what is to be printed is not closed: {facts['open_edges']} edges have fewer than two faces"
        yield conflict(message, "/profile", "Close it: mesh.clean, mesh.edit with fill, or a remesh modifier.")
    if profile != "print" and facts["unmapped"]:
        message = f"{_listed(facts['unmapped'])} have a picture on them and no UV map"
        yield conflict(message, "/profile", "Unwrap them with uv.unwrap first.")


def differences(form: str, wanted: FileFacts, found: FileFacts) -> tuple[Finding, ...]:
    """What a file that was read back has otherwise than the scene that it was made of."""
    messages = [*_shape_differences(form, wanted, found), *_uv_differences(form, wanted, found)]
    if form in WITH_MATERIALS:
        messages += _material_differences(form, wanted, found)
    cure = CURES.get(form, "Change what differs, choose another format, or leave the profile out.")
    return tuple(Finding(Fault.VERIFICATION_FAILED, f"the file read back {each}", "/path", cure) for each in messages)


CURES = {
    "gltf": (
        "Realise instances of nodes, give the Principled BSDF its pictures directly (bake what is mixed or "
        "procedural with render.bake), or leave the profile out."
    ),
    "usd": (
        "Export to .usdz, which holds its pictures, realise instances, make meshes of texts and curves, or leave the "
        "profile out."
    ),
    "alembic": "Make meshes of texts and curves, choose another format, or leave the profile out.",
}


def _shape_differences(form: str, wanted: FileFacts, found: FileFacts) -> Iterator[str]:
    if found["triangles"] != wanted["triangles"]:
        yield f"has {found['triangles']} triangles, and the scene {wanted['triangles']}"
    if form in NAMED:
        lost = sorted(set(wanted["shapes"]) - set(found["shapes"]))
    else:
        lost = []
    if form not in ONE_MESH and len(found["shapes"]) != len(wanted["shapes"]):
        if lost:
            which = f": it lacks {_listed(lost)}"
        else:
            which = ""
        yield f"has {len(found['shapes'])} objects with faces, and the scene {len(wanted['shapes'])}{which}"
    elif lost:
        yield f"has other names for {_listed(lost)}"
    if not _near(wanted["low"], found["low"]) or not _near(wanted["high"], found["high"]):
        there, here = _range(found["low"], found["high"]), _range(wanted["low"], wanted["high"])
        yield f"reaches {there}, and the scene {here}: scale, axes or place differ"
    if form in ONE_MESH and found["open_edges"] != wanted["open_edges"]:
        yield f"has {found['open_edges']} open edges, and the scene {wanted['open_edges']}"


def _uv_differences(form: str, wanted: FileFacts, found: FileFacts) -> Iterator[str]:
    if form in WITH_ALL_UVS and found["uv_maps"] != wanted["uv_maps"]:
        yield f"has {found['uv_maps']} UV maps, and the scene {wanted['uv_maps']}"
    elif form in WITH_ALL_UVS and not (
        _near(wanted["uv_low"], found["uv_low"]) and _near(wanted["uv_high"], found["uv_high"])
    ):
        there, here = _range(found["uv_low"], found["uv_high"]), _range(wanted["uv_low"], wanted["uv_high"])
        yield f"has UVs {there}, and the scene {here}"
    elif form == "alembic" and wanted["uv_maps"] and not found["uv_maps"]:
        yield "has no UV maps"


def _material_differences(form: str, wanted: FileFacts, found: FileFacts) -> Iterator[str]:
    if form in NAMED and (lost := sorted(set(wanted["materials"]) - set(found["materials"]))):
        yield f"lacks the materials {_listed(lost)}"
    elif len(found["materials"]) != len(wanted["materials"]):
        yield f"has {len(found['materials'])} materials, and the scene {len(wanted['materials'])}"
    pictures = {(_plain(each["material"]), each["input"]): each for each in found["textures"]}
    for texture in wanted["textures"]:
        has = pictures.get((_plain(texture["material"]), texture["input"]))
        where = f"'{texture['image']}' on {texture['input']} of material '{texture['material']}'"
        if has is None:
            yield f"lacks the picture {where}"
        elif not has["width"] or not has["height"]:
            yield f"names the picture {where} and does not hold it"
        elif texture["input"] not in MERGED and _size(has) != _size(texture):
            yield f"has the picture {where} with {_size(has)} pixels instead of {_size(texture)}"


def _size(texture: TextureFacts) -> str:
    return f"{texture['width']} by {texture['height']}"


def _plain(name: str) -> str:
    """A name as USD spells it."""
    return "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)


def _near(wanted: Sequence[float], found: Sequence[float]) -> bool:
    """Equal but for what single precision and other units leave."""
    if len(wanted) != len(found):
        return False
    return all(abs(one - other) <= 1e-4 * max(1.0, abs(one)) for one, other in zip(wanted, found, strict=True))


def _range(low: Sequence[float], high: Sequence[float]) -> str:
    ends = ("(" + ", ".join(f"{value:.4g}" for value in corner) + ")" for corner in (low, high))
    return "from " + " to ".join(ends)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(f"'{name}'" for name in names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
