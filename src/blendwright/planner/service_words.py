"""What a service says when something is wrong, made fit to be shown: short, visible, and without the key."""

from __future__ import annotations

from blendwright.planner.data_block import visible

LONGEST = 300
HIDDEN = "[key]"


def in_short(said: object, *secrets: str) -> str:
    """`secrets` never leave, in whatever message they come back."""
    text = str(said)
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN)
    return visible(" ".join(text.split()), LONGEST)
