"""The way in: `blendwright …` on a command line.

A server on stdio takes over the wire before anything large is loaded, so that its host is answered at once, and a command that runs
something has Blender started. The version needs nothing else at all.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from types import ModuleType
from typing import Any

from blendwright import __version__


def main() -> None:
    arguments = sys.argv[1:]
    if arguments == ["--version"] and _printed(f"blendwright {__version__}\n"):
        return
    # Not at the top: `--version` needs nothing of this.
    from blendwright.util.interrupts import hold_interrupts

    prepare_loading()
    hold_interrupts()
    if arguments[:1] == ["serve"] and not {"--http", "--help"} & {part.partition("=")[0] for part in arguments}:
        from blendwright.server.transport.early_server import answer_early

        with answer_early(arguments):
            _run()
    else:
        from blendwright.cli.early_blender import blender_started

        with blender_started(arguments):
            _run()


def prepare_loading() -> None:
    """Hardly anything of what is loaded is garbage: whoever runs the command looks for some again (`loaded`). And what pydantic calls
    plugins is code of any package in the environment, which has no business here and takes time to be looked for."""
    gc.disable()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    _leave_out_search_for_plugins()


def _leave_out_search_for_plugins() -> None:
    """pydantic loads what looks for plugins, and with it readers of archives and mails, before it asks whether there shall be any.
    Whoever wants more of that module than to hear that there are none gets the real one."""
    name = "pydantic.plugin._loader"

    def really(attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        sys.modules.pop(name, None)
        return getattr(importlib.import_module(name), attribute)

    if os.environ["PYDANTIC_DISABLE_PLUGINS"] == "__all__" and name not in sys.modules:
        stand_in = ModuleType(name)
        vars(stand_in).update(get_plugins=lambda: (), __getattr__=really)
        sys.modules[name] = stand_in


# Whether what was loaded is set aside from the search for garbage.
_set_aside = False


def loaded() -> None:
    """From here on there is work, and with it garbage. What was loaded is none: nobody needs to look through it again."""
    global _set_aside
    if not _set_aside:  # asking how much is set aside would count all of it
        gc.freeze()
        _set_aside = True
    gc.enable()


def _printed(line: str) -> bool:
    """Whether standard output took it; what to say otherwise is for the program itself to know."""
    try:
        sys.stdout.write(line)
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):  # full, closed, or not there at all
        return False
    return True


def _run() -> None:
    from blendwright.cli.main import main as run

    try:
        run()
    finally:
        loaded()
