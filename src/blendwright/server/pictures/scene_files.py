"""Scenes as files that pages of hosts fetch in parts, and the Blender process that makes them from commits."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from blendwright.views.scene_reader import SceneReader

# The most files, and the most bytes of all files, that stay in memory.
MAX_FILES, MAX_BYTES = 4, 64 * 2**20


class SceneFiles:
    """The files that pages fetched last. Callable from any thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._reader: SceneReader | None = None

    def reader(self, workspace: Path, blender: str | None) -> SceneReader:
        with self._lock:
            if self._reader is None:
                self._reader = SceneReader(workspace, blender=blender)
            return self._reader

    def find(self, key: str) -> bytes | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: str, data: bytes) -> None:
        with self._lock:
            self._kept[key] = data
            while len(self._kept) > MAX_FILES or sum(map(len, self._kept.values())) > MAX_BYTES:
                self._kept.popitem(last=False)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
