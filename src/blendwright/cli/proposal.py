"""The proposal of the command line for the contract of a session."""

from __future__ import annotations

import sys

import blendwright
from blendwright.policy.host_profile import HostProfile
from blendwright.policy.session_contract import Proposal


def command_line() -> Proposal:
    """Return the command line as a host that proposes everything that the policy grants. Skip the validation of these constants."""
    host = HostProfile.model_construct(
        name="blendwright",
        version=blendwright.__version__,
        transport="command_line",
        cancellation=True,
        elicitation=at_a_terminal(),
    )
    return Proposal.model_construct(host=host)


def at_a_terminal() -> bool:
    """Return whether a person at a terminal can answer questions."""
    return sys.stdin.isatty() and sys.stderr.isatty()
