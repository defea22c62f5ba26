"""What a batch that others may have written says about itself, and what only its user can say: which program is run as Blender.

Batch files and tables of results are passed on. They may name a Blender that was added here, and no program.
"""

from __future__ import annotations

from blendwright.bridge.sources.named_blender import NamedBlender
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding


def consented_blender(given: str | None, said: str | None, where: str) -> str | None:
    """The Blender that the user gave, else the one that `where` names. Raises Refusal where that is no name of one."""
    if given is not None or said is None or NamedBlender.from_text(said) is not None:
        return given or said
    message = f"{where}: blender: '{said[:200]}' is no Blender that was added"
    cure = "A path counts only where you give it: --blender PATH; or give it a name: blendwright blender add PATH --name NAME"
    raise Refusal([Finding(Fault.POLICY_BLOCKED, message, "/blender", cure)])
