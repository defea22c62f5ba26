"""The tutorial and the newcomer's session are played as they are written: their program is saved, their commands are run in turn, and
what they show is what the commands print."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from support.processes.shell import Shell

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
REFUSED = {
    "run wrong.star": 2,
    "run shelf.star --set boards=6": 1,
    'call object.transform --args \'{"object": "Board_9", "location": [0, 0, 1]}\'': 1,
}


@pytest.mark.parametrize(("page", "name"), [("tutorial.md", "shelf.star"), ("first-fifteen-minutes.md", "fence.star")])
def test_a_session_does_what_its_page_says(page: str, name: str, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    text = (DOCS / page).read_text("utf-8")
    blocks = BLOCK.findall(text)
    (program,) = (content for language, content in blocks if language == "python")
    (tmp_path / name).write_text(program)
    (tmp_path / "wrong.star").write_text(program.replace('"cube"', '"cubes"'))
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
