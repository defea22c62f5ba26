"""The template: a process that has loaded Blender and all that a worker runs, and forks a worker for every request.

`python -P template_process.py FD`: requests come over the socket FD, and the process ends with it. A fork copies one thread only, and
would leave locked for good what another one had locked. So the template has one thread: libraries that start some are held to none.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import json
import os
import resource
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from blendwright.blender.worker.late_imports import load_late
from blendwright.wire.worker_environment import private_directories

LARGEST_REQUEST = 1 << 20
# Log and pipes.
MOST_DESCRIPTORS = 8
COULD_NOT_BEGIN = 1

# What a fork goes on with, from the request and its descriptors; it does not return.
Become = Callable[[dict[str, Any], list[int]], NoReturn]


def main(socket_fd: int, load: Callable[[], None], become: Become) -> None:
    control = socket.socket(fileno=socket_fd)
    given = dict(os.environ)
    load()
    added = {name: value for name, value in os.environ.items() if given.get(name) != value}
    threads = len(list(Path("/proc/self/task").iterdir()))
    control.send(json.dumps({"threads": threads}).encode())
    serve(control, added, become)


def serve(control: socket.socket, added: dict[str, str], become: Become) -> None:
    """`added` is what bpy has put into the environment when it was loaded: names of its own directories."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, LARGEST_REQUEST, MOST_DESCRIPTORS)
        if not message:
            return
        pid = fork_twice(become, json.loads(message) | {"added": added}, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        control.send(json.dumps({"pid": pid}).encode())


def load() -> None:
    """Everything that does not depend on which worker it will be."""
    processors = os.sched_getaffinity(0)
    # On one processor TBB and OpenBLAS start no threads.
    os.sched_setaffinity(0, {min(processors)})
    load_late()
    __import__("bpy")
    os.sched_setaffinity(0, processors)
    _end_threads_of_openexr()

    from blendwright.blender.confinement import linux
    from blendwright.blender.scene import SceneState
    from blendwright.blender.worker import entry, handlers
    from blendwright.tools.catalog import tool_classes
    from blendwright.wire.package_version import package_hash

    assert callable(entry.main) and callable(handlers.build) and callable(linux.confine_linux)
    # Every worker hashes the scene that it finds, for which it works out what is read of each type; this one is the same.
    SceneState()
    # Their files only: each worker has tools of its own.
    tool_classes()
    package_hash()


def _end_threads_of_openexr() -> None:
    """It has a thread for each processor from the start, and would wait in a worker for those that it does not have there."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    library = next((line.split()[-1] for line in maps if "/libOpenEXR.so" in line), None)
    if library is not None:
        opened = ctypes.CDLL(library)
        for minor in range(1, 10):
            set_thread_count = getattr(opened, f"_ZN7Imf_3_{minor}20setGlobalThreadCountEi", None)
            if set_thread_count is not None:
                set_thread_count(0)


def fork_twice(become: Become, request: dict[str, Any], descriptors: list[int]) -> int:
    """With the process between them gone, the new one is a child of whoever asks, who takes in orphans at this moment."""
    reported, report = os.pipe()
    adopted, adopt = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    # What is there now is never looked at again by the collector of a worker, and its memory stays shared.
    gc.freeze()
    between = os.fork()
    if between == 0:
        worker = os.fork()
        if worker == 0:
            os.close(adopt)
            os.read(adopted, 1)
            become(request, descriptors)
        os.write(report, str(worker).encode())
        os._exit(0)
    os.close(report)
    os.close(adopted)
    pid = int(os.read(reported, 32))
    os.close(reported)
    # Once it can be waited for, its child has another parent.
    os.waitpid(between, 0)
    os.close(adopt)
    return pid


def become_worker(request: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """What happens between fork and exec, and what a new interpreter would find; then the worker as it always is."""
    try:
        os.setsid()
        _place_descriptors(request["descriptors"], descriptors)
        for kind, limits in request["limits"]:
            resource.setrlimit(kind, limits)
        own, scratch = Path.cwd(), Path(request["directory"])
        os.chdir(scratch)
        os.environ.clear()
        os.environ.update(request["environment"] | request["added"])
        sys.argv = request["arguments"]
        sys.path[:] = [path.replace(str(own), str(scratch)) for path in sys.path]
        _forget_what_was_read(scratch)

        from blendwright.blender.worker import entry

        entry.main(sys.argv[sys.argv.index("--") + 1 :])
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(COULD_NOT_BEGIN)


def _place_descriptors(numbers: list[int], descriptors: list[int]) -> None:
    """Those of the request under the numbers that they have in the core, and no other one."""
    null = os.open(os.devnull, os.O_RDWR)
    # Out of the way first: a number that is wanted may be that of another one here.
    free = max(null, *numbers, *descriptors) + 1
    null, log, *passed = (fcntl.fcntl(each, fcntl.F_DUPFD, free) for each in (null, *descriptors))
    for number, descriptor in ((0, null), (1, log), (2, log), *zip(numbers, passed, strict=True)):
        os.dup2(descriptor, number)
    for descriptor in [int(each.name) for each in Path("/proc/self/fd").iterdir()]:
        if descriptor not in (0, 1, 2, *numbers):
            with contextlib.suppress(OSError):  # the one that the listing was read from
                os.close(descriptor)


def _forget_what_was_read(scratch: Path) -> None:
    """What the standard library, NumPy and Blender took from the environment, or from chance, when they were loaded."""
    tempfile.tempdir = None
    # NumPy from 2 on loads it with its first use.
    chance: Any = sys.modules.get("numpy.random")
    if chance is not None:
        chance.seed()
    for directory in private_directories(scratch):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Whoever sets it has Blender make its directory for temporary files anew.
    bpy: Any = sys.modules["bpy"]
    bpy.context.preferences.filepaths.temporary_directory = ""


if __name__ == "__main__":
    main(int(sys.argv[1]), load, become_worker)
