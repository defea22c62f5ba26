"""The tutorial is played as it is written: its program is saved, its commands are run in turn, and what it shows is what they print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from shell import Shell

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REFUSED = {
    "run shelf.star --set boards=6": 1,
    'call object.transform --args \'{"object": "Board_9", "location": [0, 0, 1]}\'': 1,
}


def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    text = TUTORIAL.read_text("utf-8")
    blocks = BLOCK.findall(text)
    (program,) = (content for language, content in blocks if language == "python")
    (tmp_path / "shelf.star").write_text(program)
    played = 0
    for _, content in (block for block in blocks if not block[0]):
        for part in re.split(r"^\$ blendwright ", content, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            spoken = shell(*shlex.split(command), code=REFUSED.get(command, 0)).out
            at = 0
            for line in shown.splitlines():
                for piece in filter(None, line.split("…")):
                    found = spoken.find(piece, at)
                    assert found >= 0, f"`{command}` does not print {piece!r} after what came before it:\n{spoken}"
                    at = found + len(piece)
            played += 1
    assert played == text.count("\n$ blendwright ")
