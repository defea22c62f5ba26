"""What Blendwright does, shown on real Blender in under a minute: `python scripts/demo.py DIRECTORY` (make demo).

Every line that begins with `$` is a command that is really run, and can be typed again. Long outputs are cut, and the cut is told.
A command that ends otherwise than the story says ends the demo with 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

PROGRAM = "examples/programs/spiral_staircase.star"
TABLE = "examples/plans/table_set.json"
BROKEN = "examples/plans/broken/broken.json"
REPAIRED = "examples/plans/broken/repaired.json"
# Lines of an output that are shown before and after a cut.
HEAD, TAIL = 3, 3
KILLED = -9
BLENDWRIGHT = Path(sys.executable).with_name("blendwright")


class Story:
    """Commands in one directory, each told before it is run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._bold, self._dim, self._plain = ("\033[1m", "\033[2m", "\033[0m") if sys.stdout.isatty() else ("", "", "")

    def tell(self, text: str) -> None:
        print(f"\n{self._bold}{text}{self._plain}", flush=True)

    def run(
        self,
        *arguments: str,
        ends: int = 0,
        head: int = HEAD,
        tail: int = TAIL,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        variables = environment or {}
        shown = [*(f"{name}={value}" for name, value in variables.items()), "blendwright", *arguments]
        print(f"{self._dim}${self._plain} {' '.join(shown)}", flush=True)
        # The display of a run goes to the terminal itself; what it printed is shown when it has ended.
        done = subprocess.run(
            [BLENDWRIGHT, *arguments], stdout=subprocess.PIPE, text=True, env={**os.environ, **variables}
        )
        lines = done.stdout.splitlines()
        if len(lines) > head + tail + 1:
            cut = f"  {self._dim}… {len(lines) - head - tail} lines more …{self._plain}"
            lines = [*lines[:head], cut, *(lines[-tail:] if tail else [])]
        for line in lines:
            print(f"  {line}")
        if done.returncode != ends:
            print(f"this command should end with {ends}, and ended with {done.returncode}", file=sys.stderr)
            sys.exit(1)


def main(directory: str) -> int:
    began = time.monotonic()
    place = Path(directory)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    story = Story(place)
    stairs, table, lamp = (("--workspace", str(place / name)) for name in ("stairs", "table", "lamp"))
    picture = place / "stairs.png"

    story.tell(f"A program of 60 lines, {PROGRAM}. What would it do? Nothing is changed by asking.")
    story.run("preview", PROGRAM, "--set", "treads=16", *stairs)

    story.tell(
        "Run it. Every operation is checked, applied, read back, hashed and committed. Then a picture, denoised."
    )
    story.run("run", PROGRAM, "--set", "treads=16", *stairs, "--image", str(picture))

    story.tell("The same again: everything is known, nothing is done twice.")
    story.run("run", PROGRAM, "--set", "treads=16", *stairs, head=2, tail=1)

    story.tell("A plan with four mistakes is refused before anything runs, with the place and the cure of each.")
    story.run("run", BROKEN, *lamp, ends=2, head=18, tail=0)
    story.tell("With the repair that it named, it runs.")
    story.run("run", REPAIRED, *lamp, head=0, tail=1)

    story.tell("A plan of 133 operations, and kill -9 in the middle of it.")
    story.run("run", TABLE, *table, ends=KILLED, environment={"BLENDWRIGHT_CRASH_AT": "plan.committed:2"})
    story.tell("Run it again: what was acknowledged is still there, and the rest is done.")
    story.run("run", TABLE, *table, head=3, tail=1)

    story.tell("Take the last operation back; the hash of the scene proves it. And the whole record, proven.")
    story.run("undo", *table)
    story.run("audit", "verify", *table)

    print(f"\n{time.monotonic() - began:.0f} s. The picture: {picture}")
    print(
        "Next: `blendwright new` starts a workspace of your own, `blendwright init-host` connects your model's host,\n"
        "docs/window.md brings it into the Blender you have open, and `blendwright --help` lists the rest.\n"
        "(`source .venv/bin/activate` puts blendwright on your PATH.)"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
