"""The extension for a Blender that a person has open, as one installable file. Equal sources give equal bytes.

The sources in `blender/extension` are copied, never imported.
"""

from __future__ import annotations

import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import blendwright

PACKAGE = Path(blendwright.__file__).parent
SOURCE = PACKAGE / "blender" / "extension"
# The earliest time that a zip file can store.
FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def extension_files() -> dict[str, bytes]:
    """Return the files of the extension by name, sorted. Includes copies of shared modules, because the package is
    not importable there at the start.
    """
    sources = {path.name: path.read_bytes() for path in SOURCE.iterdir() if path.suffix in {".py", ".toml"}}
    licence = metadata.distribution("blendwright").read_text("licenses/LICENSE") or ""
    shared = {"frames.py": (PACKAGE / "wire" / "frames.py").read_bytes(), "LICENSE": licence.encode()}
    return dict(sorted((sources | shared).items()))


def extension_name() -> str:
    """Return the default file name of the extension."""
    version = tomllib.loads((SOURCE / "blender_manifest.toml").read_text("utf-8"))["version"]
    return f"blendwright-{version}.zip"


def write_extension(target: Path) -> Path:
    """Write the zip with fixed times, modes and order, and return its path. In a directory it gets the default
    name.
    """
    if target.is_dir() or target.suffix != ".zip":
        target /= extension_name()
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in extension_files().items():
            entry = zipfile.ZipInfo(name, FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return target
