"""Checks of the Blender and the grants that a batch file or a table of results requests.

Users pass batch files and tables of results on, so their content may come from somebody else. They may name a Blender that this user
added, but not a path of a program. Their grants count only if the user who runs them agrees.
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


def consented_blender(given: str | None, requested: str | None, origin: str) -> str | None:
    """Return the Blender that the user gave, or else the one that the file `origin` requests. Raise Refusal if that is a path."""
    if given is not None or requested is None or is_blender_name(requested):
        return given or requested
    message = f"{origin}: blender: '{requested[:200]}' is not the name of an added Blender"
    fix = "To use this path, pass --blender PATH yourself, or give it a name: blendwright blender add PATH --name NAME"
    raise Refusal([Finding(Fault.POLICY_BLOCKED, message, "/blender", fix)])


def consented_grants(given: Sequence[str], requested: Sequence[str], origin: str) -> tuple[str, ...]:
    """Return the grants that the user gave and the grants that the file `origin` requests.

    The user must have given the requested grants too, or confirm them now at the terminal. Raise Refusal otherwise."""
    missing = sorted(parse_grants(requested) - parse_grants(given))
    if missing and not _confirmed(missing, origin):
        message = f"{origin}: approve: it grants itself permissions that need a user's approval: {', '.join(missing)}"
        fix = "Check what it runs, then allow it: " + " ".join(f"--approve {name}" for name in missing)
        raise Refusal([Finding(Fault.POLICY_BLOCKED, message, "/approve", fix)])
    return tuple(dict.fromkeys((*requested, *given)))


def _confirmed(grants: Sequence[str], origin: str) -> bool:
    """Ask the user at the terminal to confirm grants. Return False without a terminal."""
    if not at_a_terminal():
        return False
    out = notes()
    out.labelled(f"{origin}:", f"requests these grants: {', '.join(grants)}", "bold yellow")
    out.show("Blendwright will not ask again while the batch runs. Allow them? [y/N] ", end="")
    return sys.stdin.readline().strip().casefold() in ("y", "yes")
