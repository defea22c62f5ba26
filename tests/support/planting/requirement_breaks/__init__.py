"""For each requirement of the contracts, what is broken to show that the test that claims it can fail: one table per document.

The key is the id of the requirement. `caught_by` is the file of a test that claims it, `only` picks the smallest of several as
pytest's -k does; the name of the bug says in words what is broken, as `docs/reference/requirements.md` has it.

As in `seeded_bugs.py`, nothing of the engine is imported at the top of a table.
"""

from __future__ import annotations

from support.planting.planting import Bug
from support.planting.requirement_breaks import core, execution, geonodes, operations, steps

TABLES = (operations.BREAKS, execution.BREAKS, core.BREAKS, geonodes.BREAKS, steps.BREAKS)
BREAKS: dict[str, Bug] = {id: bug for table in TABLES for id, bug in table.items()}
