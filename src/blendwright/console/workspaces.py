"""The workspaces that one console shows, each with what is held open for it: a Blender to look with, pictures, and who acts in it."""

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
# How work is done in a workspace that this very process holds; None where it is opened for each act.
Acting = Callable[[Callable[[OpenScene], Any]], Any]


class ConsoleWorkspace:
    """`id` is its name in addresses: a person never types it, and it says nothing."""

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
        """What a person knows it by: a directory named .blendwright is the one beside the project."""
        own = self.directory.name
        if own.startswith("."):
            return self.directory.parent.name
        return own

    @property
    def told(self) -> dict[str, str]:
        """What the page is told of it."""
        return {"id": self.id, "name": self.name, "directory": str(self.directory)}

    def follow(self, ended: threading.Event, tell: Tell) -> None:
        """Tell what is committed, by whichever process."""
        while not ended.is_set():
            # A journal that cannot be read now, or is not there any more, may be there later.
            with contextlib.suppress(BlendwrightError), contextlib.closing(JournalFollower(self.directory)) as follower:
                while not ended.wait(POLL_SECONDS):
                    changes = follower.poll()
                    if changes is not None:
                        tell("changes", {"state": changes.state, "records": changes.records, "runs": changes.runs})
            ended.wait(1.0)

    def act(self, work: Callable[[OpenScene], T]) -> T:
        """Do something in the workspace. Raises EnvironmentUnfit, with its holder, where another process has it."""
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
