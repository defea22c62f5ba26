"""Builds the extension for an open Blender, or copies it where it can be imported. The same sources give the same bytes.

python scripts/build_extension.py [--output build/extension]
"""

import argparse
import shutil
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "packaging" / "extension"
# What the extension shares with the package, which it has not when it starts.
SHARED = {"frames.py": ROOT / "src" / "blendwright" / "wire" / "frames.py", "LICENSE": ROOT / "LICENSE"}
# The earliest time that a zip can say.
FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def files() -> Iterator[tuple[str, Path]]:
    """The files of the extension by their names in it, sorted."""
    own = {path.name: path for path in SOURCE.iterdir() if path.suffix in {".py", ".toml"}}
    yield from sorted((own | SHARED).items())


def copy_to(directory: Path) -> Path:
    """The extension as a package that can be imported, for tests; returns its directory."""
    package = directory / "blendwright_extension"
    package.mkdir(parents=True, exist_ok=True)
    for name, path in files():
        shutil.copyfile(path, package / name)
    return package


def build(directory: Path) -> Path:
    """The zip, with fixed times, modes and order."""
    version = tomllib.loads((SOURCE / "blender_manifest.toml").read_text("utf-8"))["version"]
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / f"blendwright-{version}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, path in files():
            entry = zipfile.ZipInfo(name, FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes())
    return target


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "extension")
    built = build(parser.parse_args().output)
    print(f"{built} ({built.stat().st_size} bytes)")
