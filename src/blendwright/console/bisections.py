"""Searches for the commit that broke a check: one at a time in each workspace, in a Blender of its own, told to the pages as it goes on."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from typing import Any

from blendwright.console.live import Live
from blendwright.console.workspaces import ConsoleWorkspace
from blendwright.history.bisect import Looked, bisect
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import BlendwrightError, Refusal
from blendwright.values.faults import Fault

_log = logging.getLogger(__name__)
END_SECONDS = 20.0
EVENT = "bisect"


@dataclass(slots=True)
class _Search:
    expect: str
    good: str | None
    bad: str
    cancel: CancelToken = field(default_factory=CancelToken)
    state: str = "running"
    looked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    found: dict[str, Any] | None = None
    message: str | None = None
    cure: str | None = None
    thread: threading.Thread | None = None

    def told(self) -> dict[str, Any]:
        names = ("expect", "good", "bad", "state", "found", "message", "cure")
        return {**{name: getattr(self, name) for name in names}, "looked": list(self.looked)}


class Bisections:
    """The last search of every workspace, running or ended. From any thread."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._searches: dict[str, _Search] = {}
        self._changed = threading.Lock()

    def told(self, workspace: ConsoleWorkspace) -> dict[str, Any]:
        """What a page shows of the last one; `state` is "none" where there was none."""
        search = self._searches.get(workspace.id)
        if search is None:
            return {"state": "none"}
        return search.told()

    def require_idle(self, workspace: ConsoleWorkspace) -> None:
        """Raises Refusal while one is running."""
        search = self._searches.get(workspace.id)
        if search is not None and search.state == "running":
            raise Refusal.of(Fault.SCENE_CONFLICT, "a search is running in this workspace", "Wait for it, or stop it.")

    def start(self, workspace: ConsoleWorkspace, expect: str, good: str | None, bad: str) -> dict[str, Any]:
        with self._changed:
            self.require_idle(workspace)
            search = self._searches[workspace.id] = _Search(expect, good, bad)
            search.thread = threading.Thread(target=self._run, args=(workspace, search), name="bisect", daemon=True)
            search.thread.start()
        return search.told()

    def stop(self, workspace: ConsoleWorkspace) -> None:
        search = self._searches.get(workspace.id)
        if search is not None:
            search.cancel.cancel()

    def close(self) -> None:
        """Stop what runs, and wait for its Blenders."""
        for search in self._searches.values():
            search.cancel.cancel()
        for search in self._searches.values():
            if search.thread is not None:
                search.thread.join(END_SECONDS)

    def _run(self, workspace: ConsoleWorkspace, search: _Search) -> None:
        def observe(looked: Looked) -> None:
            search.looked.append(looked.to_json())
            self._live.tell(workspace.id, EVENT, search.told())

        try:
            found = bisect(
                workspace.directory,
                search.expect,
                good=search.good,
                bad=search.bad,
                blender=workspace.blender,
                cancel=search.cancel,
                observe=observe,
            ).to_json()
            search.found = {name: found[name] for name in ("first_bad", "last_good", "message", "commits", "rebuilds")}
            search.state = "found"
        except BlendwrightError as error:
            search.message, search.cure, search.state = error.message, error.cure, "refused"
        except Exception:
            # An outermost place: the thread ends with it.
            _log.exception("a search of the console failed")
            search.message, search.cure, search.state = "the search failed", "See the log of the console.", "refused"
        if search.cancel.cancelled and search.found is None:
            search.message, search.cure, search.state = "the search was stopped", None, "stopped"
        self._live.tell(workspace.id, EVENT, search.told())
