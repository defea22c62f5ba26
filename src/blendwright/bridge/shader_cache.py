"""Compiled shaders for the next Blender process. Without a graphics card, compiling them takes most of the first picture's time.

Shaders are machine code that every worker loads from its cache. For safety they come only from a worker that was started for this
purpose and renders only a generated cube. Workers with a user's scene contribute none. Each worker gets a private copy.
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

# The pattern of Mesa's directory in the cache directory. Its name depends on the kind of cache.
MESA = "mesa_shader_cache*"
# The number of days for which shaders are valid. An updated driver needs other shaders.
DAYS = 30
# The deadline of one step in seconds.
SECONDS = 60.0
# The maximum size of all shaders in bytes.
MAX_BYTES = 64 << 20


def kept(command: Sequence[str]) -> Path | None:
    """Return the file with the shaders for workers of this command; None without a valid one."""
    file = _place(command)
    if file is None:
        return None
    try:
        status = file.stat()
    except OSError:
        return None
    if not registry_cache.is_private(status):
        return None
    if time.time() - status.st_mtime > DAYS * 86400:
        return None
    return file


def hand_over(command: Sequence[str], cache: Path) -> None:
    """Copy the stored shaders into a worker's cache directory. The worker unpacks them before its first picture."""
    file = kept(command)
    if file is not None:
        with suppress(OSError):
            content = file.read_bytes()
            target = cache / SHADERS
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            target.write_bytes(content)


def has_drawn(worker: WorkerProcess) -> bool:
    """Return True if a worker has compiled shaders in Mesa's cache. Graphics cards use other caches."""
    return any(cache_directory(worker.scratch).glob(MESA))


def prepare(command: Sequence[str], worker: WorkerProcess) -> None:
    """Store the shaders of pictures that this newly started worker takes of a cube. The worker must not be used afterwards.

    If the worker can take no picture, or its driver stores no shaders, store an empty archive, which is valid for as many days.
    If the worker is lost, store nothing.
    """
    file = _place(command)
    if file is None:
        return
    with suppress(BlendwrightError, OSError):
        drawn = all(worker.step(request, deadline=SECONDS)["ok"] for request in picture_requests())
        if drawn:
            _keep(file, cache_directory(worker.scratch))
        else:
            _keep(file, None)


def picture_requests() -> list[StepRequest]:
    """Return the steps that create a cube and render it in all forms that need different shaders."""
    from blendwright.tools.mesh.create_primitive import CreatePrimitive
    from blendwright.tools.render.preview import Preview

    calls: list[tuple[Any, dict[str, Any]]] = [(CreatePrimitive, {"kind": "cube", "name": "Cube"})]
    for view in ("ISO", "TOP"):  # from a corner, and straight with outlines
        for smooth in (True, False):
            calls.append((Preview, {"view": view, "width": 64, "height": 48, "smooth": smooth}))

    requests: list[StepRequest] = []
    for tool, args in calls:
        document = tool.args_model(**args).model_dump(mode="json")
        requests.append({"tool": tool.name, "version": tool.version, "args": document})
    return requests


def _keep(file: Path, cache: Path | None) -> None:
    """Write the shaders of a cache directory to a file; an empty archive for None."""
    import tarfile  # local, because every start of a worker imports this module, and hardly any stores shaders

    files: list[Path] = []
    if cache is not None:
        for directory in cache.glob(MESA):
            # Skip the index. It is as large as all shaders together, and Mesa recreates it.
            files += [path for path in sorted(directory.rglob("*")) if path.is_file() and path.name != "index"]
    if sum(path.stat().st_size for path in files) > MAX_BYTES:
        files = []
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as packed:
        for path in files:
            packed.add(path, path.relative_to(cache or "/"))
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Only the user can read and write a file from mkstemp.
    descriptor, temporary = tempfile.mkstemp(prefix=file.name, dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as target:
            target.write(content.getvalue())
        Path(temporary).replace(file)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


def _place(command: Sequence[str]) -> Path | None:
    """Return the path of the shaders for a command; None without a user directory. The name also depends on our version."""
    directory = registry_cache.user_directory()
    if directory is None:
        return None
    name = sha256("\0".join([blendwright.__version__, *command]).encode()).hexdigest()[:32]
    return directory / "shaders" / f"{name}.tar"
