"""The evaluator process: `python -P -m blendwright.programs.evaluator`. It exchanges frames on its standard streams.

A frame is four bytes of length and a JSON object. Input: {"program": …}, {"predicate": …}, or the answer to a load.
Output: {"ready": true} once, {"load": path}, or the result.

The process stores the current line of the program in four bytes of memory that the core shares, because a program may
kill its process. The process has no files, limited memory and limited time. The core kills it if it does not notice its
own time limit.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
from collections.abc import Mapping
from typing import Any

import orjson

from blendwright.programs.evaluation import Evaluation, Prelude
from blendwright.programs.predicate_evaluation import evaluate_predicate
from blendwright.programs.recording import ProgramError

LENGTH = struct.Struct(">I")
ON_LINUX = bool(sys.platform == "linux")


class Memory:
    """Measurement of the fraction of its memory limit that this process uses.

    It is 0 if the system does not report memory.
    """

    def __init__(self) -> None:
        self._pages: int | None = None
        if ON_LINUX:
            self._pages = os.open("/proc/self/statm", os.O_RDONLY)
        self._before = self._limit_bytes = 0

    def limit(self, memory_mb: int) -> None:
        """Limit further growth of the process from now on, in megabytes."""
        self._before, self._limit_bytes = self._size(), memory_mb << 20
        address_space = None
        if self._pages is not None:
            address_space = self._before + self._limit_bytes
        limit_resources(address_space)

    def __call__(self) -> float:
        if self._pages is not None and self._limit_bytes:
            return (self._size() - self._before) / self._limit_bytes
        return 0.0

    def _size(self) -> int:
        if self._pages is None:
            return 0
        return int(os.pread(self._pages, 64, 0).split()[0]) * mmap.PAGESIZE


def main() -> None:
    reader, writer = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    reached = mmap.mmap(int(sys.argv[1]), LENGTH.size)
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # discard the interpreter's messages about panics
        os.dup2(quiet, stream)
    preludes: dict[tuple[str, ...], Prelude] = {}
    memory, limited = Memory(), False

    def send(message: Mapping[str, Any]) -> None:
        body = orjson.dumps(message)
        writer.write(LENGTH.pack(len(body)) + body)
        writer.flush()

    def receive() -> dict[str, Any]:
        head = reader.read(LENGTH.size)
        if len(head) < LENGTH.size:
            sys.exit(0)
        return orjson.loads(reader.read(LENGTH.unpack(head)[0]))

    def ask_library(path: str) -> str:
        send({"load": path})
        answer = receive()
        if "text" not in answer:
            raise ProgramError(str(answer["refused"]))
        return str(answer["text"])

    def note(line: int) -> None:
        LENGTH.pack_into(reached, 0, line)

    send({"ready": True})
    while True:
        request = receive()
        tools = tuple(request["tools"])
        if tools not in preludes:
            preludes.clear()
            preludes[tools] = Prelude(tools)
        prelude = preludes[tools]
        if not limited:
            memory.limit(request["limits"]["memory_mb"])
            limited = True
        prelude.at = note
        note(1)
        if "predicate" in request:
            send(evaluate_predicate(request, prelude, memory))
        else:
            send(Evaluation(request, prelude, ask_library, memory).run())


def limit_resources(address_space: int | None) -> None:
    """Forbid files and limit the address space in bytes.

    On a system without such limits, the limits on steps and time remain.
    """
    if sys.platform == "win32":
        return
    import resource

    if address_space is not None:
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


if __name__ == "__main__":
    main()
