"""What a batch that others may have written says about itself, and what only its user can say: which program is run as Blender, and what
is allowed beforehand.

Batch files and tables of results are passed on. They may name a Blender that was added here, and no program; what they want to be allowed
is allowed by whoever runs them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from blendwright.approvals.pending import parse_grants
from blendwright.cli.output import notes
from blendwright.cli.proposal import at_a_terminal
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.workspace.blender_choice import is_blender_name


def consented_blender(given: str | None, said: str | None, where: str) -> str | None:
    """The Blender that the user gave, else the one that `where` names. Raises Refusal where that is no name of one."""
    if given is not None or said is None or is_blender_name(said):
        return given or said
    message = f"{where}: blender: '{said[:200]}' is no Blender that was added"
    cure = "A path counts only where you give it: --blender PATH; or give it a name: blendwright blender add PATH --name NAME"
    raise Refusal([Finding(Fault.POLICY_BLOCKED, message, "/blender", cure)])


def consented_grants(given: Sequence[str], said: Sequence[str], where: str) -> tuple[str, ...]:
    """What is allowed beforehand: what the user gave, and what `where` wants, where the user gave that too or allows it now, at the
    terminal. Raises Refusal."""
    wanted = sorted(parse_grants(said) - parse_grants(given))
    if wanted and not _is_allowed_now(wanted, where):
        message = f"{where}: approve: it allows itself what a person is asked about otherwise: {', '.join(wanted)}"
        cure = "Look at what it runs, then allow it: " + " ".join(f"--approve {name}" for name in wanted)
        raise Refusal([Finding(Fault.POLICY_BLOCKED, message, "/approve", cure)])
    return tuple(dict.fromkeys((*said, *given)))


def _is_allowed_now(wanted: Sequence[str], where: str) -> bool:
    if not at_a_terminal():
        return False
    out = notes()
    out.labelled(f"{where}:", f"it wants to be allowed beforehand: {', '.join(wanted)}", "bold yellow")
    out.show("Nobody is asked while it runs. Allow it? [y/N] ", end="")
    return sys.stdin.readline().strip().casefold() in ("y", "yes")
