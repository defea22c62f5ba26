"""Checks of a batch's definition before a worker process runs its cases.

Users pass definitions on, and the definitions of a fleet are rows that other users can write. Errors about such a definition carry a mark
in their details: the case that names it fails, and the worker continues.
"""

from __future__ import annotations

from blendwright.batch.definition import Batch
from blendwright.batch.outputs.makers import output_of
from blendwright.batch.results.table import ResultsTable
from blendwright.values.errors import EnvironmentUnfit, Refusal

UNSOUND = "unsound"
# Exceptions that invalid data causes. OSError is missing because it points to a problem of this machine.
BY_DATA = (
    TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError, RecursionError,
)  # fmt: skip
_AGAIN = "Submit the batch again, with the same Blendwright everywhere."


def queue_of(version: str, registry: str) -> str:
    """Return the name of the queue for a Blender version and a set of tools. Only workers that have both read it."""
    return f"cases-{version}-{registry[:16]}"


def batch_queue(batch: Batch) -> str:
    return queue_of(batch.blender_version, batch.registry)


def read_definition(results: ResultsTable, id: str, queue: str | None) -> Batch:
    """Return the definition of a batch. Raise EnvironmentUnfit if it is unknown, was changed, or waits in the wrong queue."""
    try:
        batch = results.batch(id)
        if batch is None:
            raise _unsound(f"the table of results has no batch {id[:40]}")
        _require_names(batch)
        if batch.id != id:
            message = (
                f"the definition of the batch has changed: its id is {batch.id[:16]}, and the job expects {id[:16]}"
            )
            raise _unsound(message)
        if queue is not None and batch_queue(batch) != queue:
            raise _unsound(f"its job waits in {queue}, and the batch needs {batch_queue(batch)[:80]}")
    except BY_DATA as error:
        raise _unsound(f"the definition of batch {id[:40]} cannot be read") from error
    return batch


def require_equal(batch: Batch, version: str, catalogue: str) -> None:
    """Raise EnvironmentUnfit unless this machine has the Blender and the tools that the batch's keys were made with."""
    differing = {
        "Blender": (version, batch.blender_version),
        "the catalogue of tools": (catalogue, batch.registry),
    }
    for name, (available, required) in differing.items():
        if available != required:
            message = f"{name} differs from the one that the batch was made with: {available[:16]} here, {required[:16]} there"
            fix = "Use the same Blendwright and the same Blender as the batch's author."
            raise EnvironmentUnfit(message, cure=fix)


def _require_names(batch: Batch) -> None:
    """Raise EnvironmentUnfit unless all outputs are files directly in the staging directory. The definition may be manipulated."""
    for output in batch.outputs:
        try:
            output_of(output.kind, output.name, output.args)
        except Refusal as refusal:
            fix = "The definition of the batch was changed. Submit the batch again."
            raise _unsound(f"batch {batch.id}: {refusal.message}", fix) from refusal


def _unsound(message: str, cure: str = _AGAIN) -> EnvironmentUnfit:
    return EnvironmentUnfit(message, cure=cure, details={UNSOUND: True})
