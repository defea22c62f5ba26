"""Whether a definition is one that a lane may do cases of. Definitions are passed on, and those of a fleet are rows that others can write.

What is wrong with a definition says so in its details: where it came from others, the case fails that names it, and nobody's work ends.
"""

from __future__ import annotations

from blendwright.batch.definition import Batch
from blendwright.batch.outputs.makers import output_of
from blendwright.batch.results.table import ResultsTable
from blendwright.values.errors import EnvironmentUnfit, Refusal

UNSOUND = "unsound"
# What data raises that is not as it was written. Errors of the system are not among them: those are this machine's.
BY_DATA = (
    TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError, RecursionError,
)  # fmt: skip
_AGAIN = "Submit the batch again, with the same Blendwright everywhere."


def queue_of(version: str, registry: str) -> str:
    """Jobs of a batch wait where only those look who have its Blender and its tools: nobody else can take one."""
    return f"cases-{version}-{registry[:16]}"


def batch_queue(batch: Batch) -> str:
    return queue_of(batch.blender_version, batch.registry)


def read_definition(results: ResultsTable, id: str, queue: str | None) -> Batch:
    """The definition of a batch, which is what it was when it was submitted, and waits where it belongs. Raises EnvironmentUnfit."""
    try:
        batch = results.batch(id)
        if batch is None:
            raise _unsound(f"the table of results has no batch {id[:40]}")
        _require_names(batch)
        if batch.id != id:
            here, there = batch.id[:16], id[:16]
            raise _unsound(
                f"the definition of the batch is not what the batch was made with: {here} here, {there} there"
            )
        if queue is not None and batch_queue(batch) != queue:
            raise _unsound(f"its job waits in {queue}, and it is one of {batch_queue(batch)[:80]}")
    except BY_DATA as error:
        raise _unsound(f"the definition of batch {id[:40]} cannot be read") from error
    return batch


def require_equal(batch: Batch, version: str, catalogue: str) -> None:
    """A case is done by what its key was made with, or not at all. Raises EnvironmentUnfit."""
    differing = {
        "Blender": (version, batch.blender_version),
        "the catalogue of tools": (catalogue, batch.registry),
    }
    for what, (here, keyed) in differing.items():
        if here != keyed:
            message = f"{what} is not what the batch was made with: {here[:16]} here, {keyed[:16]} there"
            raise EnvironmentUnfit(
                message, cure="Use the same Blendwright and the same Blender as whoever made the batch."
            )


def _require_names(batch: Batch) -> None:
    """Outputs are files of the staging directory, whoever wrote the definition. Raises EnvironmentUnfit."""
    for output in batch.outputs:
        try:
            output_of(output.kind, output.name, output.args)
        except Refusal as refusal:
            cure = "Somebody has changed the definition of the batch: submit it again."
            raise _unsound(f"batch {batch.id}: {refusal.message}", cure) from refusal


def _unsound(message: str, cure: str = _AGAIN) -> EnvironmentUnfit:
    return EnvironmentUnfit(message, cure=cure, details={UNSOUND: True})
