"""Builds what is published: the sdist of what is tracked here, and the wheel from that sdist. The same sources give the same wheel.

python scripts/build_packages.py [--output build/packages]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# All that a package is made of. Nothing is built in the tree itself, whose `build` would keep modules that are no longer there.
PARTS = ("src", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md")
# 1980-01-01, the earliest time that a zip can say.
FIXED_TIME = "315532800"


def copy_sources(directory: Path) -> Path:
    """What git knows of the parts, also what is not committed yet."""
    listed = ["git", "ls-files", "-co", "--exclude-standard", "-z", *PARTS]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, directory / name)
    return directory


def build_sdist(tree: Path, output: Path) -> Path:
    return output / _backend("build_sdist", tree, output)


def build_wheel(tree: Path, output: Path) -> Path:
    return output / _backend("build_wheel", tree, output)


def _backend(hook: str, tree: Path, output: Path) -> str:
    """Call the build backend of pyproject.toml, which is that of this environment; returns the name of what it made."""
    output.mkdir(parents=True, exist_ok=True)
    code = f"import sys, setuptools.build_meta as backend; name = backend.{hook}(sys.argv[1]); print(name)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(output.resolve())],
        cwd=tree, env=os.environ | {"SOURCE_DATE_EPOCH": FIXED_TIME}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{hook} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout.splitlines()[-1]


def build(output: Path) -> tuple[Path, Path]:
    """The sdist and the wheel that it gives."""
    with tempfile.TemporaryDirectory() as scratch:
        sdist = build_sdist(copy_sources(Path(scratch) / "sources"), output)
        with tarfile.open(sdist) as archive:
            archive.extractall(scratch, filter="data")
        [tree] = Path(scratch).glob("blendwright-*")
        return sdist, build_wheel(tree, output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "packages")
    for built in build(parser.parse_args().output):
        print(f"{built} ({built.stat().st_size} bytes)")
