"""Where log lines go: a file of bounded size in the workspace, and standard error when somebody asked for it.

The log never stops the work: when the disk refuses a line, the line is lost. Lines are whole even after a kill: they are written in
one piece, and whoever opens the file next ends a torn one.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

LEVELS = ("debug", "info", "warning", "error")
DIRECTORY = "logs"
NAME = "core.jsonl"
# About ten thousand operations; with those that are kept a log takes four times that.
MOST_BYTES = 8 * 1024 * 1024
KEPT = 3


class LogFile:
    """Collects rendered lines, as a logger that structlog can wrap; `flush` writes them. Only the holder of the workspace writes it."""

    def __init__(self, workspace: Path, *, shown: str | None = None, most_bytes: int = MOST_BYTES) -> None:
        """`shown` is the least level that also goes to standard error."""
        self.path = workspace / DIRECTORY / NAME
        self._most = most_bytes
        self._shown = frozenset(LEVELS[LEVELS.index(shown) :] if shown is not None else ())
        self._lines: list[bytes] = []
        self._to_show: list[bytes] = []
        self._size = 0
        self._descriptor: int | None = None
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._open()

    def debug(self, line: bytes) -> None:
        self.add("debug", line)

    def info(self, line: bytes) -> None:
        self.add("info", line)

    def warning(self, line: bytes) -> None:
        self.add("warning", line)

    def error(self, line: bytes) -> None:
        self.add("error", line)

    def flush(self) -> None:
        """Write what came since, in one piece."""
        lines, self._lines = self._lines, []
        shown, self._to_show = self._to_show, []
        if lines and self._descriptor is not None:
            # The last of them must be whole too.
            text = b"\n".join((*lines, b""))
            with contextlib.suppress(OSError):
                self._write(text)
        if shown:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.buffer.write(b"\n".join((*shown, b"")))
                sys.stderr.buffer.flush()

    def close(self) -> None:
        self.flush()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def add(self, level: str, line: bytes) -> None:
        self._lines.append(line)
        if level in self._shown:
            self._to_show.append(line)

    def _write(self, text: bytes) -> None:
        if self._size and self._size + len(text) > self._most:
            self._rotate()
        if self._descriptor is not None:
            self._size += os.write(self._descriptor, text)

    def _open(self) -> None:
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(descriptor).st_size
        if self._size and os.pread(descriptor, 1, self._size - 1) != b"\n":
            self._size += os.write(descriptor, b"\n")
        self._descriptor = descriptor

    def _rotate(self) -> None:
        """core.jsonl becomes core.jsonl.1, and so on; the oldest goes."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        for number in range(KEPT, 0, -1):
            older = self._numbered(number - 1)
            if older.exists():
                older.replace(self._numbered(number))
        self._open()

    def _numbered(self, number: int) -> Path:
        return self.path if number == 0 else self.path.with_name(f"{NAME}.{number}")
