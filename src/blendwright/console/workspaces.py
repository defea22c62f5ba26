"""The workspaces of a console, each with a Blender for reading, a cache of pictures, and a way to act in it."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, TypeVar

from blendwright.console.live import Tell
from blendwright.console.picture_cache import PictureCache
from blendwright.values.errors import BlendwrightError
from blendwright.views.live_feed import JournalFollower
from blendwright.views.scene_reader import SceneReader
from blendwright.workspace.open_scene import OpenScene
from blendwright.workspace.opening import open_existing

T = TypeVar("T")
POLL_SECONDS = 0.12
# A function that performs an action in the workspace that this process holds. None: each action opens the workspace.
Acting = Callable[[Callable[[OpenScene], Any]], Any]


class ConsoleWorkspace:
    """A workspace in the console. `id` is its name in URLs, which reveals nothing about its path."""

    def __init__(self, directory: Path, *, blender: str | None = None, acting: Acting | None = None) -> None:
        self.directory = directory.resolve()
        self.id = hashlib.sha256(str(self.directory).encode()).hexdigest()[:12]
        self.reader = SceneReader(self.directory, blender=blender)
        self.pictures = PictureCache(self.directory)
        self.blender = blender
        self._acting = acting
        self._acts = threading.Lock()

    @property
    def name(self) -> str:
        """Return the name for a person. A hidden directory, such as .blendwright, has the name of its parent."""
        directory_name = self.directory.name
        if directory_name.startswith("."):
            return self.directory.parent.name
        return directory_name

    @property
    def description(self) -> dict[str, str]:
        """Return the description of this workspace for the page."""
        return {"id": self.id, "name": self.name, "directory": str(self.directory)}

    def follow(self, ended: threading.Event, tell: Tell) -> None:
        """Send everything that any process commits, until `ended` is set."""
        while not ended.is_set():
            # A journal that is unreadable or missing now may come back later.
            with contextlib.suppress(BlendwrightError), contextlib.closing(JournalFollower(self.directory)) as follower:
                while not ended.wait(POLL_SECONDS):
                    changes = follower.poll()
                    if changes is not None:
                        tell("changes", {"state": changes.state, "records": changes.records, "runs": changes.runs})
            ended.wait(1.0)

    def act(self, work: Callable[[OpenScene], T]) -> T:
        """Perform an action in the workspace and return its result. Raise EnvironmentUnfit if another process holds the workspace."""
        if self._acting is not None:
            return self._acting(work)
        with self._acts, self._opened() as opened:
            return work(opened)

    @contextlib.contextmanager
    def _opened(self) -> Generator[OpenScene]:
        with open_existing(self.directory, blender=self.blender) as opened:
            yield opened

    def close(self) -> None:
        self.reader.close()
