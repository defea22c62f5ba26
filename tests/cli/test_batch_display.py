"""The bar of a batch on a terminal: how many are done is always seen, the last picture where there is room for it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from blendwright.batch.commands import display as batch_display
from blendwright.batch.commands.display import BatchDisplay
from blendwright.batch.progress import Progress
from blendwright.batch.results.table import Counts
from blendwright.cli.output import notes

PICTURE = Path("/shows/of/autumn/chairs/cases/000013/picture.png")


@pytest.mark.parametrize(("width", "picture"), [(40, False), (80, False), (120, True)])
def test_it_fits_into(width: int, picture: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, width=width, color_system=None)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    out = notes()
    vars(out)["drawing"] = terminal
    monkeypatch.setattr(batch_display, "notes", lambda: out)
    progress = Progress(Counts(waiting=26, done=12, failed=2), picture=PICTURE)
    with BatchDisplay(json=False, stop=print) as display:
        display.update(None, progress)
    assert "14/40" in shown.getvalue() and "2 failed" in shown.getvalue()
    assert (str(PICTURE) in shown.getvalue()) == picture
