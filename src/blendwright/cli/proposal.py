"""What the command line proposes to a session, and whether somebody can be asked on it."""

from __future__ import annotations

import sys

import blendwright
from blendwright.policy.host_profile import HostProfile
from blendwright.policy.session_contract import Proposal


def command_line() -> Proposal:
    """The command line as a host: it asks for all that the policy grants. What it says of itself needs no validation."""
    host = HostProfile.model_construct(
        name="blendwright",
        version=blendwright.__version__,
        transport="command_line",
        cancellation=True,
        elicitation=at_a_terminal(),
    )
    return Proposal.model_construct(host=host)


def at_a_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()
