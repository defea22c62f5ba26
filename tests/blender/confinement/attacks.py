"""All attacks, tried in one process: `main` takes {confined|free} SCRATCH OUTSIDE REPORT_FD from the command line.

Every attack returns something true when it has done its harm, and raises or returns False when it was refused. The
report is a JSON object from the attack's name to what happened, written to the inherited descriptor.
"""

import dataclasses
import json
import os
import sys
from pathlib import Path

from tests.blender.confinement import attacks_on_files, attacks_on_others
from tests.blender.confinement.attacking import ATTACKS, HARMLESS, SCRIPT, SECRET, Attack, bpy

from blendwright.blender.confinement import Allowance, confine

__all__ = ["ATTACKS", "HARMLESS", "attacks_on_files", "attacks_on_others", "main"]


def prepare(scratch: Path, outside: Path) -> None:
    """Lay out what the attacks are after; runs before confinement."""
    (outside / SECRET).write_text("hush")
    (outside / SCRIPT).write_text("ran = True\n")
    for name in ("truncate", "delete", "move", "mode"):
        (outside / f"victim-{name}.txt").write_text("intact")
    (scratch / "planted").symlink_to(outside / SECRET)


def outcome(function: Attack, scratch: Path, outside: Path) -> str:
    try:
        return "succeeded" if function(scratch, outside) else "refused"
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        return f"refused: {error}"


def main() -> None:
    mode, scratch, outside, report = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    prepare(scratch, outside)
    os.chdir(scratch)
    account: dict[str, object] = {}
    if mode == "confined":
        account = dataclasses.asdict(confine(Allowance(scratch)))
    bpy().ops.wm.read_factory_settings(use_empty=True)
    chosen = {name: act for name, act in ATTACKS.items() if mode == "confined" or name in HARMLESS}
    outcomes = {name: outcome(act, scratch, outside) for name, act in chosen.items()}
    os.write(report, json.dumps({"account": account, "outcomes": outcomes}).encode())
    os._exit(0)
