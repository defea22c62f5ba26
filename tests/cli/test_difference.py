"""How a difference of two scenes is told to people."""

from __future__ import annotations

import pytest

from blendwright.cli.output import console, show_difference
from blendwright.records.results import Changed, Difference, Entry, PropertyChange


def test_people_get_a_difference_line_by_line(capfd: pytest.CaptureFixture[str]) -> None:
    moved = PropertyChange("transform.location", [0.0, 0.0, 0.1], [1.0, 2.0, 3.0])
    hidden = PropertyChange("parent.object", None, "Box")
    entries = (
        (Entry("objects", "New [bold]"),),
        (Changed("objects", "Box", (moved, hidden)),),
        (Entry("lights", "Key"),),
    )
    show_difference(Difference(*entries, unseen=False), console())
    assert capfd.readouterr().out.splitlines() == [
        "+ objects New [bold]",
        "- lights Key",
        "~ objects Box",
        "    transform.location: [0, 0, 0.1] → [1, 2, 3]",
        "    parent.object: - → Box",
    ]
    show_difference(Difference((), (), (), unseen=True), console())
    assert "something that snapshots do not show" in capfd.readouterr().out
    equal = Difference((), (), (), unseen=False)
    show_difference(equal, console())
    assert capfd.readouterr().out == ""
    show_difference(equal, console(), none="no difference")
    assert capfd.readouterr().out == "no difference\n"
