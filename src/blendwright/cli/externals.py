"""blendwright externals: the files that the scene refers to and does not hold, and what became of them."""

from __future__ import annotations

from blendwright.app.queries import external_files
from blendwright.cli.options import AsJson, Workspace
from blendwright.cli.output import Exit, note_external_files, present
from blendwright.cli.safe_console import SafeConsole


def externals(workspace: Workspace = ".blendwright", json: AsJson = False) -> int:
    """List the external files of the scene, as they are now: images, fonts, sounds, caches, linked files."""
    files, findings = external_files(workspace)

    def show(out: SafeConsole) -> None:
        rows = [
            ((file.state, "green" if file.state == "present" else "red"), file.path, (", ".join(file.used_by), "dim"))
            for file in files
        ]
        out.listing(rows, none="the scene refers to no other files")
        note_external_files(findings)

    listed = [finding.to_json() for finding in findings]
    return present(
        json,
        lambda: {"ok": not findings, "externals": [file.to_json() for file in files], "findings": listed},
        show,
        Exit.FAILED if findings else Exit.DONE,
    )
