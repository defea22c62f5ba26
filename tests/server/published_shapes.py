"""What others ask of what we publish, as JSON Schemas: version 0.4 of a bundle's manifest, and the registry's entry of 2025-12-11.

Only fields that we use are described, each as its documentation does; whatever else is there is refused.
"""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string", "minLength": 1}


def _closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*required],
        "additionalProperties": False,
    }


def _several(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": 1}


BUNDLE = _closed(
    {
        "manifest_version": {"const": "0.4"},
        "name": TEXT,
        "display_name": TEXT,
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
        "description": TEXT,
        "author": _closed({"name": TEXT, "email": TEXT, "url": TEXT}, "name"),
        "license": TEXT,
        "keywords": _several(TEXT),
        # A server of the type `uv` brings its dependencies in a pyproject.toml; how it is started may be left to the host.
        "server": _closed(
            {
                "type": {"const": "uv"},
                "entry_point": TEXT,
                "mcp_config": _closed({"command": TEXT, "args": _several(TEXT), "env": {"type": "object"}}, "command"),
            },
            "type",
            "entry_point",
        ),
        "tools": _several(_closed({"name": TEXT, "description": TEXT}, "name")),
        "user_config": {
            "type": "object",
            "additionalProperties": _closed(
                {
                    "type": {"enum": ["string", "number", "boolean", "directory", "file"]},
                    "title": TEXT,
                    "description": TEXT,
                    "required": {"type": "boolean"},
                    "default": TEXT,
                },
                "type",
                "title",
                "description",
            ),
        },
        "compatibility": _closed(
            {
                "platforms": _several({"enum": ["darwin", "win32", "linux"]}),
                "runtimes": _closed({"python": TEXT, "node": TEXT}),
            }
        ),
    },
    "manifest_version", "name", "version", "description", "author", "server",
)  # fmt: skip

_INPUT = {
    "description": TEXT,
    "isRequired": {"type": "boolean"},
    "format": {"enum": ["string", "number", "boolean", "filepath"]},
    "value": TEXT,
    "default": TEXT,
}
_VARIABLES = {"variables": {"type": "object", "additionalProperties": _closed(_INPUT)}}

REGISTRY_ENTRY = _closed(
    {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"type": "string", "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "maxLength": 255, "pattern": r"^\d+\.\d+\.\d+"},
        "packages": _several(
            _closed(
                {
                    "registryType": {"enum": ["pypi"]},
                    "identifier": TEXT,
                    "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
                    "runtimeHint": TEXT,
                    "transport": _closed({"type": {"const": "stdio"}}, "type"),
                    "runtimeArguments": {"type": "array", "items": {"$ref": "#/$defs/argument"}},
                    "packageArguments": {"type": "array", "items": {"$ref": "#/$defs/argument"}},
                },
                "registryType",
                "identifier",
                "transport",
            )
        ),
    },
    "$schema", "name", "description", "version",
) | {
    "$defs": {
        "argument": {
            "oneOf": [
                _closed({"type": {"const": "positional"}, **_INPUT, **_VARIABLES}, "type", "value"),
                _closed({"type": {"const": "named"}, "name": TEXT, **_INPUT, **_VARIABLES}, "type", "name"),
            ]
        }
    }
}  # fmt: skip
