"""The program, with a server that keeps no spare Blender: to start one takes a second of processor time, and most tests lose no worker.

Run by its path, with the arguments of the program. Nothing is loaded for it that the program would not load.
"""

from __future__ import annotations

from typing import Any

import blendwright
from blendwright import entry


def open_without_spare(*args: Any, **options: Any) -> Any:
    from blendwright.workspace.opening import open as open_workspace

    return open_workspace(*args, **{"spare": False, **options})


if __name__ == "__main__":
    blendwright.open = open_without_spare
    entry.main()
