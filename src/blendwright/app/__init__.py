"""The embeddable API: opens a workspace and joins the parts.

import blendwright

with blendwright.open("my-workspace") as scene:
    made = scene.call("mesh.create_primitive", kind="cube", name="Box")
    assert made.ok, made.message
"""

from blendwright.app.open_scene import OpenScene
from blendwright.app.opening import open
from blendwright.policy.approvals import Approver
from blendwright.policy.policy import Policy
from blendwright.policy.session_contract import Proposal
from blendwright.run.options import RunOptions
from blendwright.values.cancel import CancelToken

__all__ = ["Approver", "CancelToken", "OpenScene", "Policy", "Proposal", "RunOptions", "open"]
