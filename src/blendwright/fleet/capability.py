"""Registers the capability `fleet`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="fleet",
    summary="Batches over many machines: the queue and the results are in PostgreSQL.",
    commands={
        "worker": Command(
            "fleet.commands.worker", "worker", "Do cases of batches that wait in a database, until told to stop."
        ),
    },
    offers={"batch.fleet": "fleet.port:FLEET"},
    needs=("batch",),
    examples={
        "worker": (
            "blendwright worker --engine postgres://artist@db/batches --workers 4",
            "blendwright worker --engine env --once           # until nothing waits",
        ),
    },
)
