"""blendwright externals: the files that the scene refers to and does not hold, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from blendwright.app.policy_files import load_policy
from blendwright.app.read_workspace import read_journal
from blendwright.cli.output import AsJson, Columns, Exit, Workspace, console, notes, print_json
from blendwright.records.journal_port import JournalReader
from blendwright.run.externals import External, Externals, external_findings, recorded_externals
from blendwright.run.file_roots import FileRoots


def externals(workspace: Workspace = ".blendwright", json: AsJson = False) -> int:
    """List the external files of the scene, as they are now: images, fonts, sounds, caches, linked files."""
    with read_journal(workspace) as journal:
        recorded = of_head(journal)
    place = Path(workspace).resolve()
    here = Externals(FileRoots(load_policy(place).policy.policy.roots, place))
    today = [here.now(external) for external in recorded]
    found = external_findings(today)
    if json:
        entries = [external.to_json() for external in today]
        print_json({"ok": not found, "externals": entries, "findings": [finding.to_json() for finding in found]})
        return Exit.FAILED if found else Exit.DONE
    table = Columns()
    for external in today:
        style = "green" if external.state == "present" else "red"
        table.row(
            Text(external.state, style=style), Text(external.path), Text(", ".join(external.used_by), style="dim")
        )
    console().print(table if today else Text("the scene refers to no other files"))
    say_externals(today)
    return Exit.FAILED if found else Exit.DONE


def of_head(journal: JournalReader) -> tuple[External, ...]:
    """Those of the file that HEAD's scene was taken in from last."""
    return next((recorded_externals(commit.receipt) for commit in journal.origins()), ())


def say_externals(recorded: Sequence[External]) -> None:
    """What is wrong with them, for people."""
    for finding in external_findings(recorded):
        notes().print(Text("external file: ", style="bold yellow").append(finding.message, style="default"))
        notes().print(Text(f"  {finding.cure}", style="dim"))
