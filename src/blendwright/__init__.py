"""Blendwright: strict plans for Blender, checked, executed, verified and undone.

`blendwright.open` is the entry point. Python imports it at its first use, because code inside Blender imports this
package too and must not need the dependencies of the core.
"""

import sys

# `python -m blendwright` would import modules from the working directory first, and that directory may contain any file. Remove it
# before any further import, also of the standard library. While Python looks for the module, argv[0] is "-m".
if getattr(sys, "argv", None) and sys.argv[0] == "-m" and not sys.flags.safe_path:
    del sys.path[0]

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blendwright.workspace import Approver, CancelToken, OpenScene, Policy, Proposal, RunOptions, open

__version__ = "0.1.0"
__all__ = ["Approver", "CancelToken", "OpenScene", "Policy", "Proposal", "RunOptions", "open"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from blendwright import workspace

        return getattr(workspace, name)
    raise AttributeError(f"module 'blendwright' has no attribute {name!r}")
