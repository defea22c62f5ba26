"""Searches for the commit that broke a check. Each workspace has at most one running search, with a separate Blender."""

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
# How long closing the console waits for each running search.
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

    def to_json(self) -> dict[str, Any]:
        names = ("expect", "good", "bad", "state", "found", "message", "cure")
        return {**{name: getattr(self, name) for name in names}, "looked": list(self.looked)}


class Bisections:
    """The last search of every workspace, running or ended. Any thread may call the methods."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._searches: dict[str, _Search] = {}
        self._changed = threading.Lock()

    def last_search(self, workspace: ConsoleWorkspace) -> dict[str, Any]:
        """Return the last search of a workspace as JSON. Its `state` is "none" if there was no search."""
        search = self._searches.get(workspace.id)
        if search is None:
            return {"state": "none"}
        return search.to_json()

    def require_idle(self, workspace: ConsoleWorkspace) -> None:
        """Raise Refusal if a search is running in the workspace."""
        search = self._searches.get(workspace.id)
        if search is not None and search.state == "running":
            raise Refusal.of(Fault.SCENE_CONFLICT, "a search already runs in this workspace", "Wait for it or stop it.")

    def start(self, workspace: ConsoleWorkspace, expect: str, good: str | None, bad: str) -> dict[str, Any]:
        """Start a search in a thread and return it as JSON. Raise Refusal if one is running."""
        with self._changed:
            self.require_idle(workspace)
            search = self._searches[workspace.id] = _Search(expect, good, bad)
            search.thread = threading.Thread(target=self._run, args=(workspace, search), name="bisect", daemon=True)
            search.thread.start()
        return search.to_json()

    def stop(self, workspace: ConsoleWorkspace) -> None:
        search = self._searches.get(workspace.id)
        if search is not None:
            search.cancel.cancel()

    def close(self) -> None:
        """Stop all searches and wait for their Blenders."""
        for search in self._searches.values():
            search.cancel.cancel()
        for search in self._searches.values():
            if search.thread is not None:
                search.thread.join(END_SECONDS)

    def _run(self, workspace: ConsoleWorkspace, search: _Search) -> None:
        def observe(looked: Looked) -> None:
            search.looked.append(looked.to_json())
            self._live.tell(workspace.id, EVENT, search.to_json())

        try:
            result = bisect(
                workspace.directory,
                search.expect,
                good=search.good,
                bad=search.bad,
                blender=workspace.blender,
                cancel=search.cancel,
                observe=observe,
            ).to_json()
            search.found = {name: result[name] for name in ("first_bad", "last_good", "message", "commits", "rebuilds")}
            search.state = "found"
        except BlendwrightError as error:
            search.message, search.cure, search.state = error.message, error.cure, "refused"
        except Exception:
            # The outermost handler of this thread.
            _log.exception("a search of the console failed")
            search.message, search.cure, search.state = "the search failed", "See the log of the console.", "refused"
        if search.cancel.cancelled and search.found is None:
            search.message, search.cure, search.state = "the search was stopped", None, "stopped"
        self._live.tell(workspace.id, EVENT, search.to_json())
