"""The file formats that can be imported and exported, by the extension of a path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from pydantic_core import PydanticCustomError

IMPORTS: Mapping[str, str] = {
    "glb": "gltf",
    "gltf": "gltf",
    "obj": "obj",
    "stl": "stl",
    "ply": "ply",
    "usd": "usd",
    "usda": "usd",
    "usdc": "usd",
    "fbx": "fbx",
    "blend": "blend",
}
# A .gltf consists of several files, and FBX is written by nothing here.
EXPORTS: Mapping[str, str] = {
    extension: form for extension, form in IMPORTS.items() if extension not in ("gltf", "fbx")
}

# Formats that know nothing but surfaces, and the types of objects that have one.
SURFACES_ONLY = frozenset({"obj", "stl", "ply"})
WITH_SURFACE = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META"})


def form_of(path: str) -> str:
    return IMPORTS[extension_of(path)]


def extension_of(path: str) -> str:
    return PurePosixPath(path).suffix.removeprefix(".").lower()


def known_extension(path: str, forms: Mapping[str, str]) -> str:
    """The path, when its extension is one of a known format."""
    if extension_of(path) not in forms:
        raise PydanticCustomError(
            "file_format",
            "the path ends in none of {known}",
            {"known": ", ".join(f".{name}" for name in sorted(forms))},
        )
    return path
