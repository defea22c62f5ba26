"""Checks that everything that is published says the same version: package, extension, bundle, registry's entry and changes."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import blendwright

ROOT = Path(__file__).resolve().parents[1]
EXTENSION = "src/blendwright/blender/extension/blender_manifest.toml"
BUNDLE = "packaging/bundle/manifest.json"


def _json(name: str) -> Any:
    return json.loads((ROOT / name).read_text("utf-8"))


def _toml(name: str) -> Any:
    return tomllib.loads((ROOT / name).read_text("utf-8"))


def stated() -> Iterator[tuple[str, str]]:
    """Where a version stands, and which."""
    yield (
        "src/blendwright/blender/extension/blender_manifest.toml",
        _toml("src/blendwright/blender/extension/blender_manifest.toml")["version"],
    )
    yield "packaging/bundle/manifest.json", _json("packaging/bundle/manifest.json")["version"]
    entry = _json("packaging/server.json")
    yield "packaging/server.json", entry["version"]
    for package in entry["packages"]:
        yield f"packaging/server.json, {package['registryType']}", package["version"]
        for version in re.findall(r"==([\w.]+)", json.dumps(package)):
            yield f"packaging/server.json, arguments of {package['runtimeHint']}", version
    # What comes is not released yet; behind it the newest release stands first.
    released = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    if released is not None:
        yield "CHANGELOG.md", released[1]


def problems() -> Iterator[str]:
    for place, version in stated():
        if version != blendwright.__version__:
            yield f"{place}: version {version}, but the package is {blendwright.__version__}"
    if "version" not in _toml("pyproject.toml")["project"]["dynamic"]:
        yield "pyproject.toml: the version is that of blendwright.__version__, and stands nowhere else"
    name = _json("packaging/server.json")["name"]
    if f"mcp-name: {name}" not in (ROOT / "README.md").read_text("utf-8"):
        yield f"README.md: the registry looks for 'mcp-name: {name}' in it"


def main() -> int:
    found = list(problems())
    for problem in found:
        print(problem)
    print(f"version {blendwright.__version__}, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
