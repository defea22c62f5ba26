"""What is copied to the worker of a call beside the files that it names, and where."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from blendwright.engine.files.scratch import make_directory
from blendwright.tool_api.arguments import PathArgument
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# What is read of a folder of pictures: the maps of a material are ten or so.
PICTURE_ENDINGS = frozenset([".png", ".jpg", ".jpeg", ".exr", ".hdr", ".tif", ".tiff", ".webp", ".tga", ".bmp"])
MOST_PICTURES = 64
MOST_GLTF_BYTES, MOST_GLTF_FILES = 64 << 20, 256


def is_picture(entry: Path, real: Path) -> bool:
    return not entry.name.startswith(".") and entry.suffix.lower() in PICTURE_ENDINGS and real.is_file()


def replaced(value: Any, place: PathArgument, path: str) -> Any:
    """The value of an argument with another path at this place."""
    if not place.key:
        return path
    paths = [*value[place.key]]
    paths[place.number] = path
    return {**value, place.key: paths}


def staging_directory(scratch: Path, name: str) -> Path:
    try:
        return make_directory(scratch, "files", name)
    except OSError as error:
        message = f"the scratch directory cannot be used: {error.strerror}"
        raise EnvironmentUnfit(message, cure="Make room on the disk, or check who may write there.") from error


def gltf_files(file: Path, at: str) -> Iterator[PurePosixPath]:
    """The buffers and images that a .gltf file names, each as a path from its folder. Raises Refusal for one that leads out of it."""
    try:
        document: Any = json.loads(file.read_bytes() if file.stat().st_size <= MOST_GLTF_BYTES else b"")
        named = [part.get("uri") for kind in ("buffers", "images") for part in document.get(kind, ())]
    except (OSError, ValueError, RecursionError, AttributeError):
        return  # Blender will say what is wrong with it
    uris = [uri for uri in named if isinstance(uri, str) and not uri.startswith("data:")]
    for uri in uris[:MOST_GLTF_FILES]:
        path = PurePosixPath(unquote(uri))
        if path.is_absolute() or ".." in path.parts or ":" in uri or "\\" in uri or "\0" in uri:
            message = f"{file.name} names a file outside of its folder: {uri[:200]!r}"
            raise Refusal(
                [Finding(Fault.POLICY_BLOCKED, message, at, "Get the asset as .glb, which holds all of its files.")]
            )
        yield path
