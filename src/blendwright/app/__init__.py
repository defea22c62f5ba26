"""The embeddable API: opens a workspace and joins the parts.

import blendwright

with blendwright.open("my-workspace") as scene:
    made = scene.call("mesh.create_primitive", kind="cube", name="Box")
    assert made.ok, made.message
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blendwright.app.open_scene import OpenScene
    from blendwright.app.opening import open
    from blendwright.policy.approvals import Approver
    from blendwright.policy.policy import Policy
    from blendwright.policy.session_contract import Proposal
    from blendwright.run.options import RunOptions
    from blendwright.values.cancel import CancelToken

__all__ = ["Approver", "CancelToken", "OpenScene", "Policy", "Proposal", "RunOptions", "open"]

# Loaded when it is first asked for: the program uses single modules of this package.
_MODULES = {
    "Approver": "policy.approvals",
    "CancelToken": "values.cancel",
    "OpenScene": "app.open_scene",
    "Policy": "policy.policy",
    "Proposal": "policy.session_contract",
    "RunOptions": "run.options",
    "open": "app.opening",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"blendwright.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'blendwright.app' has no attribute {name!r}")
