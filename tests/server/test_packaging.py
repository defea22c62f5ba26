"""What hosts and registries read about the server says what the server is, in the shape that they ask for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs

import blendwright
from blendwright.cli.application import load_command
from blendwright.server.service import TOOLS
from server.published_shapes import BUNDLE, REGISTRY_ENTRY

PACKAGING = Path(__file__).parents[2] / "packaging"


def read(name: str) -> Any:
    return json.loads((PACKAGING / name).read_text())


def differences(schema: dict[str, Any], document: Any) -> list[str]:
    return [error.message for error in jsonschema_rs.validator_for(schema).iter_errors(document)]


def starts(arguments: list[str]) -> dict[str, Any]:
    """What the command line makes of the arguments that a host would give."""
    assert arguments[0] == "serve"
    return load_command("serve").make_context("serve", [*arguments[1:]]).params


def test_the_bundle_s_manifest_lists_the_tools_and_starts_the_server() -> None:
    manifest = read("bundle/manifest.json")
    assert differences(BUNDLE, manifest) == []
    assert manifest["version"] == blendwright.__version__
    assert manifest["tools"] == [{"name": offer.name, "description": offer.description} for offer in TOOLS]
    server = manifest["server"]
    command, *arguments = server["mcp_config"]["args"]
    assert (server["mcp_config"]["command"], command) == ("uv", "run")
    script = arguments.index(f"${{__dirname}}/{server['entry_point']}")
    assert (PACKAGING / "bundle" / server["entry_point"]).is_file()
    given = arguments[script + 1 :]
    named = {part.removeprefix("${user_config.").removesuffix("}") for part in given if part.startswith("${")}
    assert named == set(manifest["user_config"])
    assert starts(given)["workspace"] == "${user_config.workspace}"


def test_the_registry_s_entry_starts_the_server_over_stdio() -> None:
    entry = read("server.json")
    assert differences(REGISTRY_ENTRY, entry) == []
    (package,) = entry["packages"]
    assert entry["version"] == package["version"] == blendwright.__version__
    assert package["identifier"] == "blendwright"
    given: list[str] = []
    for argument in package["packageArguments"]:
        given += [argument["value"]] if argument["type"] == "positional" else [argument["name"], argument["value"]]
    assert starts(given)["workspace"] == "{workspace}"
    # uvx is told of the extra with Blender, and of a Python that it is made for.
    assert [one["value"] for one in package["runtimeArguments"]] == [
        "3.13",
        f"blendwright[blender]=={blendwright.__version__}",
    ]


def test_a_shape_that_is_not_asked_for_is_noticed() -> None:
    entry, manifest = read("server.json"), read("bundle/manifest.json")
    assert differences(REGISTRY_ENTRY, entry | {"description": "x" * 101})
    assert differences(REGISTRY_ENTRY, entry | {"name": "blendwright"})
    assert differences(BUNDLE, {key: manifest[key] for key in manifest if key != "author"})
    assert differences(BUNDLE, manifest | {"entry": "server.py"})
