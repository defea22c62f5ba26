"""Builds the bundle for hosts of the Model Context Protocol: a zip with the manifest, the wheel of this package and what starts it.
The host's uv installs the wheel with its dependencies, Blender among them. The same sources give the same bytes.

python scripts/build_bundle.py [--output build/bundle]
"""

import argparse
import json
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import build_packages

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "packaging" / "bundle"
# The Python that the newest Blender is made for.
PYTHON = "3.13"
# The earliest time that a zip can say.
FIXED_TIME = (1980, 1, 1, 0, 0, 0)
PROJECT = """\
[project]
name = "blendwright-bundle"
version = "{version}"
requires-python = "=={python}.*"
dependencies = ["blendwright[blender]"]

[tool.uv]
package = false

[tool.uv.sources]
blendwright = {{ path = "{wheel}" }}
"""


def contents(wheel: Path) -> Iterator[tuple[str, bytes]]:
    """The files of the bundle by their names in it."""
    manifest = (SOURCE / "manifest.json").read_bytes()
    version = json.loads(manifest)["version"]
    yield "manifest.json", manifest
    yield "pyproject.toml", PROJECT.format(version=version, python=PYTHON, wheel=wheel.name).encode()
    yield "server.py", (SOURCE / "server.py").read_bytes()
    yield "LICENSE", (ROOT / "LICENSE").read_bytes()
    yield wheel.name, wheel.read_bytes()


def build(directory: Path, wheel: Path) -> Path:
    version = json.loads((SOURCE / "manifest.json").read_text("utf-8"))["version"]
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / f"blendwright-{version}.mcpb"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in contents(wheel):
            entry = zipfile.ZipInfo(name, FIXED_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "bundle")
    output: Path = parser.parse_args().output
    with tempfile.TemporaryDirectory() as scratch:
        _, wheel = build_packages.build(Path(scratch))
        built = build(output, wheel)
    print(f"{built} ({built.stat().st_size} bytes)")


if __name__ == "__main__":
    main()
