"""What hosts and registries read about the server says what the server is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import blendwright
from blendwright.server.service import TOOLS

PACKAGING = Path(__file__).parents[2] / "packaging"


def read(name: str) -> Any:
    return json.loads((PACKAGING / name).read_text())


def test_the_bundle_s_manifest_lists_the_tools_and_starts_the_server() -> None:
    manifest = read("manifest.json")
    assert manifest["version"] == blendwright.__version__
    assert manifest["tools"] == [{"name": offer.name, "description": offer.description} for offer in TOOLS]
    started = manifest["server"]["mcp_config"]
    assert (started["command"], started["args"][0]) == ("blendwright", "serve")
    named = {part.removeprefix("${user_config.").removesuffix("}") for part in started["args"] if part.startswith("${")}
    assert named == set(manifest["user_config"])


def test_the_registry_s_entry_starts_the_server_over_stdio() -> None:
    entry = read("server.json")
    (package,) = entry["packages"]
    assert entry["version"] == package["version"] == blendwright.__version__
    assert package["identifier"] == "blendwright"
    assert package["transport"] == {"type": "stdio"}
    assert package["packageArguments"][0] == {"type": "positional", "value": "serve"}
    assert len(entry["description"]) <= 100
