"""Staging of additional files for the worker of a call: pictures of a folder, files of a .gltf, and directories."""

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

# Suffixes of the pictures that a folder argument includes, and the largest number of them. A material has about
# ten maps.
PICTURE_ENDINGS = frozenset([".png", ".jpg", ".jpeg", ".exr", ".hdr", ".tif", ".tiff", ".webp", ".tga", ".bmp"])
MOST_PICTURES = 64
MAX_GLTF_BYTES, MAX_GLTF_FILES = 64 << 20, 256


def is_picture(entry: Path, real: Path) -> bool:
    return not entry.name.startswith(".") and entry.suffix.lower() in PICTURE_ENDINGS and real.is_file()


def replaced(value: Any, argument: PathArgument, path: str) -> Any:
    """Return the value of an argument with another path at this position."""
    if not argument.key:
        return path
    paths = [*value[argument.key]]
    paths[argument.number] = path
    return {**value, argument.key: paths}


def staging_directory(scratch: Path, name: str) -> Path:
    """Create an empty directory for files in the scratch. Raises EnvironmentUnfit when that fails."""
    try:
        return make_directory(scratch, "files", name)
    except OSError as error:
        message = f"the scratch directory cannot be used: {error.strerror}"
        raise EnvironmentUnfit(message, cure="Free space on the disk, or check the write permissions.") from error


def gltf_files(file: Path, at: str) -> Iterator[PurePosixPath]:
    """Yield the buffers and images that a .gltf file names, as paths from its folder. Raises Refusal for a path
    outside of it.
    """
    try:
        if file.stat().st_size > MAX_GLTF_BYTES:
            return
        document: Any = json.loads(file.read_bytes())
        values: list[Any] = []
        for kind in ("buffers", "images"):
            values += [part.get("uri") for part in document.get(kind, ())]
    except (OSError, ValueError, RecursionError, AttributeError):
        return  # Blender will report the error in the file
    uris = [uri for uri in values if isinstance(uri, str) and not uri.startswith("data:")]
    for uri in uris[:MAX_GLTF_FILES]:
        path = PurePosixPath(unquote(uri))
        if path.is_absolute() or ".." in path.parts or ":" in uri or "\\" in uri or "\0" in uri:
            message = f"{file.name} names a file outside of its folder: {uri[:200]!r}"
            raise Refusal(
                [Finding(Fault.POLICY_BLOCKED, message, at, "Get the asset as .glb, which contains all of its files.")]
            )
        yield path
