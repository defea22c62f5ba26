"""Run every repeatable example on an empty scene and write what came out as JSON: `python -m conformance.hashes FILE all`,
or only the last one of every tool: `… FILE last`.

Started by the suite in a process of its own: equal input must give the output there that it gave in the process of the suite."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from blendwright.tool_api.promises import Determinism
from conformance.cases import every_case
from conformance.play import Play


def main(target: Path, examples: str) -> None:
    import bpy

    with tempfile.TemporaryDirectory() as scratch:
        play = Play(Path(scratch))
        chosen = [
            case
            for case in every_case()
            if case.determinism is not Determinism.NONDETERMINISTIC and case.fits(bpy.app.version)
            if examples == "all" or case.is_last
        ]
        target.write_text(json.dumps({case.id: play.outcome(case) for case in chosen}, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
    # Blender 4.5 does not come to an end by itself once it has rendered.
    os._exit(0)
