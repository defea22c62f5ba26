"""The registration of the capability `planner`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="planner",
    summary="From words to a plan: a language model writes it, and repairs it until it is valid.",
    commands={
        "ask": Command(
            "planner.commands",
            "ask",
            "Let a model plan your request, preview the plan, and run it after your approval.",
        ),
        "eval": Command(
            "planner.commands",
            "evaluation",
            "Measure a planner: success rate, attempts, tokens and time over a folder of requests.",
        ),
    },
    examples={
        "ask": (
            "blendwright ask 'a round table with four chairs'",
            "blendwright ask 'make the lamp red' --yes --image lamp.png",
            "blendwright ask 'a fence' --dry-run            # only the plan",
        ),
        "eval": (
            "blendwright eval examples/requests",
            "blendwright eval examples/requests --only table --attempts 2",
        ),
    },
)
