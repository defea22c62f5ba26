"""What a worker can tell of itself, for comparing one that was forked with one that was started. A worker extension."""

from __future__ import annotations

import gc
import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy

from blendwright.blender.worker.conversation import Handler

# Signals that are blocked, ignored and caught; privileges and filter.
_STATUS = ("SigBlk", "SigIgn", "SigCgt", "NoNewPrivs", "Seccomp", "Seccomp_filters", "Cpus_allowed_list", "Umask")
_LIMITS = ("AS", "FSIZE", "NOFILE", "CORE", "CPU", "STACK", "NPROC", "MEMLOCK")


def traits(params: dict[str, Any]) -> object:
    """All that must be the same in another worker once the path of its scratch is taken out."""
    app: Any = bpy.app
    utils: Any = bpy.utils
    preferences: Any = bpy.context.preferences
    lines = (line.partition(":") for line in Path("/proc/self/status").read_text().splitlines())
    return {
        "arguments": _without_numbers(sys.argv),
        "directory": str(Path.cwd()),
        "environment": dict(os.environ),
        "descriptors": _descriptors(),
        "status": {name: value.strip() for name, _, value in lines if name in _STATUS},
        "limits": {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in _LIMITS},
        "parent": os.getppid(),
        "flags": list(sys.flags),
        "path": [path for path in sys.path if Path(path).name != "forked_workers"],
        "hash": hash("Blender"),
        "collector": [gc.isenabled(), *gc.get_threshold()],
        "temporary": tempfile.gettempdir(),
        "temporary of Blender": str(Path(app.tempdir).parent),
        "its temporary directory is there": Path(app.tempdir).is_dir(),
        "resources": [utils.resource_path("USER"), utils.user_resource("SCRIPTS"), utils.user_resource("CONFIG")],
        "add-ons": sorted(preferences.addons.keys()),
        "preferences": {name: str(getattr(preferences.filepaths, name)) for name in _settings(preferences.filepaths)},
        "handlers": {name: len(getattr(app.handlers, name)) for name in _lists(app.handlers)},
        "modules that were never needed": sorted(name for name in ("urllib.request", "ssl") if name in sys.modules),
    }


def _lists(handlers: Any) -> list[str]:
    return [name for name in dir(handlers) if isinstance(getattr(handlers, name), list)]


def _settings(preferences: Any) -> list[str]:
    return [
        each.identifier for each in preferences.bl_rna.properties if each.type in ("STRING", "BOOLEAN", "INT", "ENUM")
    ]


def _without_numbers(arguments: list[str]) -> list[str]:
    """Descriptors have other numbers every time."""
    return ["N" if before.endswith("-fd") else part for before, part in zip(["", *arguments], arguments, strict=False)]


def _descriptors() -> list[str]:
    """Of what kind each is; their directory cannot be listed from inside."""
    kinds: list[str] = []
    for number in range(256):
        try:
            status = os.fstat(number)
        except OSError:
            continue
        inherited = "inherited" if os.get_inheritable(number) else "own"
        kinds.append(f"{number if number < 3 else 'later'} {status.st_mode:o} {inherited}")
    return sorted(kinds)


def write_exr(params: dict[str, Any]) -> object:
    """Write a picture and read it again, for which OpenEXR would ask its threads."""
    images: Any = bpy.data.images
    path = str(Path.cwd() / "picture.exr")
    image = images.new("picture", 512, 512, float_buffer=True)
    image.file_format = "OPEN_EXR"
    image.filepath_raw = path
    image.save()
    again = images.load(path)
    return [len(again.pixels), list(again.size)]


def chance(params: dict[str, Any]) -> object:
    import random

    return [random.random(), float(numpy.random.random())]


METHODS: dict[str, Handler] = {"test.traits": traits, "test.write_exr": write_exr, "test.chance": chance}
