"""Commands that need Blender in any case have it started before their own modules are loaded.

What the command line says is looked at here only as far as it decides about that; reading it properly comes later.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from blendwright.util.interrupts import accept_interrupts, hold_interrupts

if TYPE_CHECKING:
    from blendwright.workspace.early_blender import EarlyBlender

COMMANDS = frozenset({"run", "call"})
WORKSPACE = "--workspace"
DEFAULT = ".blendwright"
# They have no need of Blender, or mean another one.
OTHERWISE = frozenset({"--help", "--attach", "--blender", "--contract"})

_started: EarlyBlender | None = None


@contextlib.contextmanager
def blender_started(arguments: Sequence[str]) -> Generator[None]:
    """For the length of a command. What it did not take is gone afterwards."""
    global _started
    workspace = expected_workspace(arguments)
    if workspace is None:
        yield
        return
    from blendwright.workspace.early_blender import start_early

    _started = start_early(workspace)
    try:
        yield
    finally:
        started, _started = _started, None
        if started is not None:
            hold_interrupts()  # the command has ended, and nobody is left to answer one
            try:
                started.drop()
            finally:
                with contextlib.suppress(KeyboardInterrupt):
                    accept_interrupts()


def early_blender(workspace: str) -> EarlyBlender | None:
    """The one that was started for this workspace."""
    from blendwright.workspace.locations import workspace_directory

    fits = _started is not None and not _started.taken and _started.directory == workspace_directory(workspace)
    return _started if fits else None


def expected_workspace(arguments: Sequence[str]) -> str | None:
    """The workspace that a command line will open, with the Blender that a workspace has by itself; None where it is otherwise."""
    if not arguments or arguments[0] not in COMMANDS:
        return None
    found = DEFAULT
    for place, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in OTHERWISE:
            return None
        if name == WORKSPACE:
            found = value if equals else next(iter(arguments[place + 1 : place + 2]), DEFAULT)
    return found
