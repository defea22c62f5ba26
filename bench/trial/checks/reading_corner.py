from __future__ import annotations

from collections.abc import Iterator

from bench.trial.checks.facts import Facts, Objects, colors, named, near, seen


def reading_corner(facts: Facts) -> Iterator[str]:
    # A bookshelf is no book, and a book may be named after what it lies on.
    cases = named(facts, "shelf", "bookcase")
    books = {name: one for name, one in named(facts, "book").items() if name not in cases or _is_book(name)}
    shelf = {name: one for name, one in cases.items() if name not in books}
    table = {name: one for name, one in named(facts, "table").items() if name not in books}
    chair = _with_parts(facts, "chair")
    lamp, walls, rug = (named(facts, *words) for words in (("lamp",), ("wall",), ("rug", "carpet")))
    floor = [one for one in named(facts, "floor").values() if near(one["high"][2], 0, 0.01)]
    for what, found in {
        "chair": chair,
        "table": table,
        "lamp": lamp,
        "shelf": shelf,
        "rug": rug,
        "floor": floor,
    }.items():
        if not found:
            yield f"there is no {what}"
            return
    if len(walls) != 2:
        yield "there are not two walls"
    legs, seats = [one for name, one in chair.items() if "leg" in name.lower()], named(facts, "seat")
    if len(legs) != 4 or sum(map(_is_arm, chair)) < 2:
        yield "the chair does not have four legs and two arms"
    if not any(near(one["high"][2], 0.45, 0.06) for one in seats.values()):
        yield "the seat is not at about 0.45 m"
    if not near(max(one["high"][2] for one in shelf.values()), 1.8, 0.15):
        yield "the shelf is not about 1.8 m high"
    table_top = max(one["high"][2] for one in table.values())
    standing = {name: one for name, one in books.items() if name not in _stacked(books, table_top)}
    if len(_stacked(books, table_top)) < 3:
        yield "there is no stack of three books on the table"
    if len(standing) < 12 or len(colors(standing)) < 3:
        yield "the shelf does not hold a dozen books of different colours"
    boards = sorted(one["high"][2] for one in shelf.values() if one["dimensions"][2] < 0.06)
    if len(boards) < 3:
        yield "the bookshelf has less than three shelves"
    for name, one in standing.items():
        if not any(near(one["low"][2], board, 0.01) for board in boards):
            yield f"{name} does not stand on a shelf"
    rug_top = max(one["high"][2] for one in rug.values())
    for what, group in {"chair": chair, "table": table, "lamp": lamp, "shelf": shelf}.items():
        bottom = min(one["low"][2] for one in group.values())
        if not -0.005 <= bottom <= rug_top + 0.005:
            yield f"the {what} floats or stands in the floor"
    if not any(one["light"] and one["light"][2] > one["light"][4] for one in facts["objects"].values()):
        yield "no warm light shines"
    yield from seen(facts, {**chair, **table, **lamp, **shelf})


def _with_parts(facts: Facts, stem: str) -> Objects:
    """What is named so, and what belongs to something that is."""
    objects: Objects = facts["objects"]
    whole = {name for name in objects if stem in name.lower()}
    parts = {name: one for name, one in named(facts, "").items() if one["parent"] in whole}
    return named(facts, stem) | parts


def _is_arm(name: str) -> bool:
    return "arm" in name.lower().replace("armchair", "")


def _is_book(name: str) -> bool:
    """Of something on a shelf: whether 'book' is left when the names of the furniture are taken away."""
    return "book" in name.lower().replace("bookshelf", "").replace("bookcase", "")


def _stacked(books: Objects, table_top: float) -> set[str]:
    """Books that lie on each other, beginning on the table."""
    found: set[str] = set()
    height = table_top
    while True:
        above = [
            (one["high"][2], name)
            for name, one in books.items()
            if name not in found and near(one["low"][2], height, 0.003)
        ]
        above = [entry for entry in above if entry[0] - height < 0.1]
        if not above:
            return found
        height, name = min(above)
        found.add(name)
