"""What the disk must hold after a crash: everything that was told, nothing twice, and the hashes of a story that nobody disturbed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import apsw

from journal.ledger import assert_sound


def facts(told: Path) -> list[list[str]]:
    return [line.split(" ") for line in told.read_text().splitlines()] if told.exists() else []


def hashes(told: list[list[str]]) -> dict[str, str]:
    """The hash after each operation and at the end, under names that are the same in every story."""
    found: dict[str, str] = {}
    for what, *rest in told:
        if what == "ack":
            found[f"{rest[0].split('-', 2)[2]} {rest[1]}"] = rest[2]
        elif what == "end":
            found["end"] = rest[1]
    return found


def ended(told: list[list[str]]) -> set[int]:
    return {int(rest[0]) for what, *rest in told if what == "end"}


def assert_holds(workspace: Path, told: list[list[str]], undisturbed: dict[str, str]) -> None:
    """Without Blender: what was told is on the disk, once, and is what it should be."""
    assert_sound(workspace)
    db: Any = apsw.Connection(str(workspace / "journal.db"), apsw.SQLITE_OPEN_READONLY)
    gone = {number for (number,) in db.execute("SELECT number FROM rolled_back")}
    rows = list(db.execute("SELECT number, request_id, operation_id, tool, hash_after FROM commits"))
    # What a plan that is kept whole had done when it was broken off: whoever opens the workspace next takes it back first.
    for request, base in db.execute("SELECT request_id, base FROM boundaries WHERE state = 'open'"):
        gone |= {number for number, of, *_ in rows if of == request and number > base}
    moves = {(kind, target) for kind, target in db.execute("SELECT kind, to_commit FROM head_moves")}
    db.close()
    standing = {(request, id): hash for number, request, id, _, hash in rows if number not in gone}
    times = Counter((request, id) for number, request, id, *_ in rows if number not in gone)
    assert all(count == 1 for count in times.values()), "nothing was applied twice"
    for (request, id), hash in standing.items():
        if request.startswith("story-"):
            expected = undisturbed.get(f"{request.split('-', 2)[2]} {id}", hash)
            assert hash == expected, f"{request} {id} led to another scene than where nobody is killed"
    # A plan that was taken back may be asked for again, and may stand then.
    asked = {rest[0]: place for place, (what, *rest) in enumerate(told) if what == "asked"}
    for place, (what, *rest) in enumerate(told):
        if what == "ack":
            assert standing.get((rest[0], rest[1])) == rest[2], f"{rest} was acknowledged"
        elif what == "called":
            assert any(row[3:] == (rest[0], rest[1]) for row in rows), f"{rest} was acknowledged"
        elif what == "moved":
            assert (rest[0], int(rest[1])) in moves, f"{rest} was acknowledged"
        elif what in ("adopted", "rebaselined"):
            assert any((row[0], row[4]) == (int(rest[0]), rest[1]) for row in rows), f"{rest} was acknowledged"
        elif what == "rolled_back" and asked.get(rest[0], -1) < place:
            assert not any(request == rest[0] for request, _ in standing), f"{rest} was taken back"
        elif what == "end":
            assert rest[1] == undisturbed.get("end", rest[1]), "a story ended in another scene"
