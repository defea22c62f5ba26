"""Kinds of files by name: data, which code may write without a question, and files that programs may execute or obey.

The list names what is allowed. A file is data only if its suffix is listed and its name is not one that tools read their
configuration from. Every other file needs an approval, because a program may execute a name that the list does not know.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Any, cast

from pydantic import BaseModel

from blendwright.tool_api.arguments import file_arguments
from blendwright.util.invisible_text import is_invisible

_SUFFIXES = {
    "scenes and meshes": ("blend glb gltf obj mtl fbx stl ply dae 3mf usd usda usdc usdz abc bvh vdb pc2 mdd"),
    "pictures": "png jpg jpeg jp2 exr hdr tif tiff webp avif bmp tga gif dpx cin dds ppm pgm pbm pfm",
    "movies": "mp4 m4v mkv mov avi webm ogv mpg mpeg",
    "sounds": "wav flac mp3 ogg oga opus aac m4a aif aiff",
    "tables": "csv tsv json jsonl ndjson geojson parquet arrow feather npy npz h5 hdf5",
    "text": "txt md pdf",
}
DATA_SUFFIXES: Mapping[str, frozenset[str]] = {
    kind: frozenset(f".{suffix}" for suffix in suffixes.split()) for kind, suffixes in _SUFFIXES.items()
}
ALL_DATA_SUFFIXES = frozenset(suffix for suffixes in DATA_SUFFIXES.values() for suffix in suffixes)

# Names with a suffix from the list above that programs execute, or take their configuration or instructions from. Patterns as in
# fnmatch, matched against the plain form of a name, and of the name with its directory.
CONFIGURATION_NAMES: tuple[str, ...] = (
    # JavaScript and its tools
    "package.json", "package-lock.json", "npm-shrinkwrap.json", "bower.json", "lerna.json", "nx.json", "turbo.json", "rush.json",
    "project.json", "workspace.json", "angular.json", "deno.json", "biome.json", "nodemon.json", "tslint.json", "vercel.json",
    "firebase.json", "renovate.json", "app.json", "eas.json", "components.json", "tsconfig*.json", "jsconfig*.json",
    "*config.json", "*.conf.json", "manifest.json", "pm2.json", "import_map.json", "importmap.json", "wrangler.json",
    # Other languages and build systems
    "composer.json", "global.json", "appsettings*.json", "vcpkg.json", "cmakepresets.json", "cmakeuserpresets.json",
    "compile_commands.json", "kernel.json", "cmakelists.txt", "meson_options.txt", "conanfile.txt",
    # Python
    "*requirements*.txt", "requirements/*.txt", "*constraints*.txt", "entry_points.txt", "top_level.txt",
    # pytest runs the doctests of such files
    "test*.txt",
    # Infrastructure, builds and hooks
    "cdk.json", "*.tf.json", "*.pkr.json", "devbox.json", "docker-bake.json", "dub.json", "esy.json", "lefthook*.json", "serverless.json",
    "pulumi.json",
    # Editors, containers and hosts of models
    "*settings.json", "settings.*.json", "tasks.json", "launch.json", "extensions.json", "keybindings.json", "devcontainer.json",
    "mcp.json", "mcp_servers.json", "hooks.json", "plugin.json", "plugins.json", "hosts.json", "daemon.json",
    # Instructions to models that read the project
    "agents.md", "agent.md", "claude.md", "claude.*.md", "gemini.md", "*instructions.md",
    "*.prompt.md", "*.agent.md", "*.chatmode.md", "skill.md", "llms.txt", "qwen.md", "crush.md", "warp.md", "conventions.md",
    "commands/*.md", "agents/*.md", "opencode.json", "crush.json", "gemini-extension.json",
    # Blender loads the first two at its start, USD the libraries that the third one names
    "startup.blend", "userpref.blend", "pluginfo.json",
)  # fmt: skip


def is_data(path: PurePath) -> bool:
    """Return whether a file of this name is data, which no program executes or obeys."""
    return path.suffix.lower() in ALL_DATA_SUFFIXES and not is_configuration(path)


def is_configuration(path: PurePath) -> bool:
    """Return whether tools read their configuration or instructions from files of this name."""
    plain = plain_name(path.name)
    names = (plain, f"{plain_name(path.parent.name)}/{plain}")
    return any(fnmatchcase(name, pattern) for pattern in CONFIGURATION_NAMES for name in names)


def execution_reason(path: PurePath) -> str:
    """Return the sentence that tells a person why a file of this name needs an approval."""
    if path.suffix.lower() in ALL_DATA_SUFFIXES:
        return f"{path} is a file that programs read their configuration or instructions from"
    return f"{path} is a kind of file that programs may execute"


def may_write_executables(model: type[BaseModel], args: Mapping[str, Any]) -> bool:
    """Return whether unchecked arguments may declare an output that is not data. A value that is filled in later may be anything."""
    for name, role in file_arguments(model).items():
        files = args.get(name)
        if role != "declared" or files is None:
            continue
        outputs: Any
        if isinstance(files, Mapping):
            outputs = cast("Mapping[str, Any]", files).get("out", ())
        else:
            outputs = None
        if not isinstance(outputs, list | tuple):
            return True
        paths = cast("Sequence[Any]", outputs)
        if not all(isinstance(path, str) and is_data(PurePath(path)) for path in paths):
            return True
    return False


def plain_name(name: str) -> str:
    """Return the name as the most lenient file system compares it.

    Some systems ignore case, compatibility forms such as a full-width dot, invisible characters, or dots and spaces at the end.
    """
    visible = "".join(character for character in name if not is_invisible(character))
    return unicodedata.normalize("NFKC", visible).casefold().strip().rstrip(". ")
