"""Every requirement of the five published contracts, under a stable id: where it stands there, and what it asks, in our words.

A test says which it proves: `@pytest.mark.proves("EXEC-IDEMP-01")`; `pytest --proves EXEC-IDEMP-01` runs those tests. What was broken
to see the test fail stands in `requirement_breaks/`, and all of it together in `docs/reference/requirements.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

from requirements import core, execution, geonodes, operations, steps


@dataclass(frozen=True, slots=True)
class Requirement:
    """`place` is the section of the document and the number of the line there, or of the first and the last one."""

    id: str
    document: str
    place: str
    sentence: str


REQUIREMENTS: dict[str, Requirement] = {
    id: Requirement(id, document.DOCUMENT, place, sentence)
    for document in (operations, execution, core, geonodes, steps)
    for id, (place, sentence) in document.REQUIREMENTS.items()
}
