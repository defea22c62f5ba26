"""The embeddable API: opens a workspace and connects its parts.

import blendwright

with blendwright.open("my-workspace") as scene:
    result = scene.call("mesh.create_primitive", kind="cube", name="Box")
    assert result.ok, result.message
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blendwright.engine.options import RunOptions
    from blendwright.policy.policy import Policy
    from blendwright.policy.session_contract import Proposal
    from blendwright.util.cancel import CancelToken
    from blendwright.values.approval import Approver
    from blendwright.workspace.open_scene import OpenScene
    from blendwright.workspace.opening import open

__all__ = ["Approver", "CancelToken", "OpenScene", "Policy", "Proposal", "RunOptions", "open"]

# Modules by exported name. They load on first access, because the program often needs only single modules of this package.
_MODULES = {
    "Approver": "values.approval",
    "CancelToken": "util.cancel",
    "OpenScene": "workspace.open_scene",
    "Policy": "policy.policy",
    "Proposal": "policy.session_contract",
    "RunOptions": "engine.options",
    "open": "workspace.opening",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"blendwright.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'blendwright.workspace' has no attribute {name!r}")
