"""Which operation of a plan a finding belongs to, read from its pointer."""

from __future__ import annotations

from blendwright.values.plan import Operation, Plan


class Owners:
    """Looks operations up by pointers into the plan's document."""

    def __init__(self, plan: Plan) -> None:
        self._operations = {operation.pointer: operation for operation in plan.operations}

    def of(self, pointer: str) -> Operation | None:
        """The operation that a pointer leads into; None for what stands outside of them all."""
        while pointer:
            if pointer in self._operations:
                return self._operations[pointer]
            pointer = pointer.rpartition("/")[0]
        return None

    def position(self, pointer: str) -> int:
        """For sorting: what belongs to no operation comes first."""
        owner = self.of(pointer)
        return -1 if owner is None else owner.position
