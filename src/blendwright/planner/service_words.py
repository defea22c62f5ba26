"""What a service says when something is wrong, made fit to be shown: short, visible, and without the key."""

from __future__ import annotations

from blendwright.planner.prompt_data import visible

LONGEST_MESSAGE = 300
HIDDEN = "[key]"


def short_message(said: object, *secrets: str) -> str:
    """`secrets` never leave, in whatever message they come back."""
    text = str(said)
    for secret in secrets:
        if secret:
            text = text.replace(secret, HIDDEN)
    return visible(" ".join(text.split()), LONGEST_MESSAGE)
