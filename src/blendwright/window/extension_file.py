"""The extension for a Blender that a person has open, as the one file that Blender installs. The same sources give the same bytes.

Its sources lie in `blender/extension` and are only copied from there: nothing of them is imported.
"""

from __future__ import annotations

import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import blendwright

PACKAGE = Path(blendwright.__file__).parent
SOURCE = PACKAGE / "blender" / "extension"
# The earliest time that a zip can say.
FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def extension_files() -> dict[str, bytes]:
    """The files of the extension by their names in it, sorted. What it shares with the package it has not when it starts."""
    own = {path.name: path.read_bytes() for path in SOURCE.iterdir() if path.suffix in {".py", ".toml"}}
    licence = metadata.distribution("blendwright").read_text("licenses/LICENSE") or ""
    shared = {"frames.py": (PACKAGE / "wire" / "frames.py").read_bytes(), "LICENSE": licence.encode()}
    return dict(sorted((own | shared).items()))


def extension_name() -> str:
    """How the file is called where nobody gives it another name."""
    version = tomllib.loads((SOURCE / "blender_manifest.toml").read_text("utf-8"))["version"]
    return f"blendwright-{version}.zip"


def write_extension(target: Path) -> Path:
    """Write the zip, with fixed times, modes and order; into a directory under its own name."""
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
