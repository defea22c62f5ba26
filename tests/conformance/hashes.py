"""Run every repeatable example on an empty scene and write what came out as JSON: `python -m conformance.hashes FILE`.

Started twice by the suite, in processes of their own: equal input must give equal output in both."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from blendwright.tool_api.promises import Determinism
from conformance.cases import Case, every_case
from conformance.play import Play


def outcome(play: Play, case: Case) -> dict[str, Any]:
    given = play.set(case)
    answer = play.run(case)
    # A rendered picture holds the time of its making; the hash of its pixels is in the result.
    rendered = case.tool.name.startswith("render.")
    written = {name: data for name, data in play.written(case).items() if not rendered}
    files = {name: hashlib.sha256(data).hexdigest() for name, data in written.items()}
    return {"given": given, "after": answer["after"], "result": answer["result"], "files": files}


def main(target: Path) -> None:
    import bpy

    with tempfile.TemporaryDirectory() as scratch:
        play = Play(Path(scratch))
        chosen = [
            case
            for case in every_case()
            if case.determinism is not Determinism.NONDETERMINISTIC and case.fits(bpy.app.version)
        ]
        target.write_text(json.dumps({case.id: outcome(play, case) for case in chosen}, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    # Blender 4.5 does not come to an end by itself once it has rendered.
    os._exit(0)
