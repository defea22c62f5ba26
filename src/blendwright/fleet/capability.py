"""The registration of the capability `fleet`."""

from __future__ import annotations

from blendwright.capabilities import Capability, Command

CAPABILITY = Capability(
    name="fleet",
    summary="Run batches on many machines, with the queue and the results in PostgreSQL.",
    commands={
        "worker": Command(
            "fleet.commands.worker", "worker", "Run cases of batches that wait in a database, until stopped."
        ),
    },
    offers={"batch.fleet": "fleet.port:FLEET"},
    needs=("batch",),
    examples={
        "worker": (
            "blendwright worker --engine postgres://artist@db/batches --workers 4",
            "blendwright worker --engine env --once           # until no case waits",
        ),
    },
)
