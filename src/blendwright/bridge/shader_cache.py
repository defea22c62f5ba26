"""Compiled shaders, kept for the next Blender process: without a graphics card they are most of what its first picture takes.

They are machine code, which every worker loads from its own cache. So they come only from a worker that is started for it and sees
nothing but a cube of ours; a worker that has had somebody's scene in it gives none, and each gets a copy that no other one can write.
"""

from __future__ import annotations

import io
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import blendwright
from blendwright.tools import registry_cache
from blendwright.values.errors import BlendwrightError
from blendwright.wire.worker_environment import SHADERS, cache_directory

if TYPE_CHECKING:
    from blendwright.bridge.worker import WorkerProcess
    from blendwright.wire.methods import StepRequest

# Where Mesa has its cache, seen from the cache directory; its name differs by the kind of cache.
MESA = "mesa_shader_cache*"
# A driver that was replaced meanwhile has use for others.
DAYS = 30
SECONDS = 60.0
MOST_BYTES = 64 << 20


def kept(command: Sequence[str]) -> Path | None:
    """The file with the shaders for the workers that this command starts; None where there is none to rely on."""
    file = _place(command)
    try:
        if file is not None:
            status = file.stat()
        else:
            status = None
    except OSError:
        return None
    if status is None or not registry_cache.is_private(status) or time.time() - status.st_mtime > DAYS * 86400:
        return None
    return file


def hand_over(command: Sequence[str], cache: Path) -> None:
    """Give a worker, whose cache directory this is, what is kept; it unpacks it before its first picture."""
    file = kept(command)
    if file is not None:
        with suppress(OSError):
            content = file.read_bytes()
            place = cache / SHADERS
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.write_bytes(content)


def has_drawn(worker: WorkerProcess) -> bool:
    """Whether it compiled shaders; a graphics card has its own ways."""
    return any(cache_directory(worker.scratch).glob(MESA))


def prepare(command: Sequence[str], worker: WorkerProcess) -> None:
    """Keep the shaders of a picture that this worker, which has just been started, takes of a cube. It is of no use afterwards.

    Where it can take none, or its driver keeps none, an empty archive says so for as long. A worker that is lost says nothing."""
    file = _place(command)
    if file is None:
        return
    with suppress(BlendwrightError, OSError):
        drawn = all(worker.step(request, deadline=SECONDS)["ok"] for request in picture_requests())
        _keep(file, cache_directory(worker.scratch) if drawn else None)


def picture_requests() -> list[StepRequest]:
    """What is done for them."""
    from blendwright.tools.mesh.create_primitive import CreatePrimitive
    from blendwright.tools.render.preview import Preview

    made: list[tuple[Any, dict[str, Any]]] = [
        (CreatePrimitive, {"kind": "cube", "name": "Cube"}),
        *(
            (Preview, {"view": view, "width": 64, "height": 48, "smooth": smooth})
            for view in ("ISO", "TOP")  # from a corner, and straight with outlines
            for smooth in (True, False)
        ),
    ]
    return [
        {"tool": tool.name, "version": tool.version, "args": tool.args_model(**args).model_dump(mode="json")}
        for tool, args in made
    ]


def _keep(file: Path, cache: Path | None) -> None:
    import tarfile  # not above: every start of a worker loads this module, and hardly one keeps anything

    if cache is None:
        every = ()
    else:
        every = (file for directory in cache.glob(MESA) for file in sorted(directory.rglob("*")))
    # The index is as large as all shaders together, and made anew where there is none.
    files = [file for file in every if file.is_file() and file.name != "index"]
    if sum(file.stat().st_size for file in files) > MOST_BYTES:
        files = []
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as packed:
        for one in files:
            packed.add(one, one.relative_to(cache or "/"))
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Only the user can read and write what mkstemp makes.
    descriptor, temporary = tempfile.mkstemp(prefix=file.name, dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as target:
            target.write(content.getvalue())
        Path(temporary).replace(file)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def _place(command: Sequence[str]) -> Path | None:
    """By what is started, and by our version: what a picture is made of may change with it."""
    directory = registry_cache.user_directory()
    if directory is None:
        return None
    name = sha256("\0".join([blendwright.__version__, *command]).encode()).hexdigest()[:32]
    return directory / "shaders" / f"{name}.tar"
