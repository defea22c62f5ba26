"""What a session asks of its journal costs the same however long it is: counted in the instructions that SQLite runs, not in time."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from blendwright.journal import Journal
from journal.ledger import begun, chain, saved, wanted

FEW, MANY = 60, 1500
SINCE = 20
# What is looked up in a tree may take one more turn; whatever reads all commits takes MANY.
ROOM = 100


def grow(journal: Journal, workspace: Path, commits: int) -> None:
    """So many commits, the last few of them since a checkpoint."""
    head = journal.head
    assert head is not None
    first = head.number
    journal.commit(chain([f"o{first + place}" for place in range(commits)], head.hash_after, request=f"r{first}"))
    at = journal.show(first + commits - SINCE)
    journal.checkpoints.add(journal.checkpoints.stage(saved(workspace, at.hash_after), at.hash_after), at.number)


def fail_whole(journal: Journal, times: int) -> None:
    """Plans that are taken back, one after another: every one that is kept behind them begins a line."""
    for number in range(times):
        head = journal.head
        assert head is not None
        # As every run does first.
        journal.find_many([wanted("new", request="new")])
        boundary = journal.recovery.begin_boundary(f"failing-{head.number}-{number}")
        journal.commit(chain([f"lost{head.number}-{number}"], head.hash_after, request=f"f{head.number}-{number}"))
        journal.roll_back(boundary)
        journal.find_many([wanted("new", request="new")])
        journal.commit(chain([f"kept{head.number}-{number}"], head.hash_after, request=f"k{head.number}-{number}"))


def counted(journal: Journal, act: Callable[[], object]) -> int:
    """How many instructions of SQLite's machine it takes."""
    opened: Any = journal
    connection: Any = opened._store._connection
    count = 0

    def step() -> bool:
        nonlocal count
        count += 1
        return False

    connection.set_progress_handler(step, 1)
    try:
        act()
    finally:
        connection.set_progress_handler(None)
    return count


def costs(journal: Journal) -> dict[str, int]:
    head = journal.head
    assert head is not None
    boundary = journal.recovery.begin_boundary(f"cost-{head.number}")
    acts: dict[str, Callable[[], object]] = {
        "head": lambda: journal.head,
        "origins": lambda: journal.origins(all_lines=True),
        "route": lambda: journal.checkpoints.route(head.number),
        "steps_between": lambda: journal.checkpoints.steps_between(head.number - SINCE, head.number),
        "find_many": lambda: journal.find_many([wanted("new", request="new")]),
        "open_boundary": journal.recovery.open_boundary,
        "commit": lambda: journal.commit(chain([f"c{head.number}"], head.hash_after, request=f"c{head.number}")),
        "roll_back": lambda: journal.roll_back(boundary),
        "moves": lambda: journal.moves(limit=5),
        "log": lambda: journal.log(limit=5),
        "recovery": journal.recovery.info,
    }
    return {name: counted(journal, act) for name, act in acts.items()}


@pytest.mark.parametrize("history", ["commits", "failures"])
def test_what_a_session_asks_costs_the_same_in_a_long_journal(tmp_path: Path, history: str) -> None:
    journal = begun(tmp_path)
    journal.find_many([wanted("new", request="new")])
    grow(journal, tmp_path, FEW)
    few = costs(journal)
    if history == "commits":
        grow(journal, tmp_path, MANY)
    else:
        fail_whole(journal, 60)
        grow(journal, tmp_path, FEW)
    many = costs(journal)
    journal.close()
    assert {name: (few[name], count) for name, count in many.items() if count > few[name] + ROOM} == {}
    assert min(few.values()) > 0


def test_what_is_remembered_of_plans_that_were_taken_back_is_plain_numbers(tmp_path: Path) -> None:
    """One for every such plan, for as long as the workspace is open: objects for each would be what the server grows by."""
    journal = begun(tmp_path)
    try:
        fail_whole(journal, 10)
        gc.collect()
        before = len(gc.get_objects())
        fail_whole(journal, 80)
        gc.collect()
        assert len(gc.get_objects()) - before < 40
    finally:
        journal.close()


def test_a_journal_at_rest_keeps_no_pages(tmp_path: Path) -> None:
    """Its keys are spread all over their index, so its pages fill the cache bit by bit: a server would grow with its history."""
    journal = begun(tmp_path)
    grow(journal, tmp_path, MANY)
    journal.find_many([wanted("new", request="new")])
    opened: Any = journal
    connection: Any = opened._store._connection

    def kept() -> int:
        return connection.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0]

    full = kept()
    journal.release_memory()
    assert full > 500_000 and kept() < 50_000
    head = journal.head
    assert head is not None and journal.find_many([wanted("new", request="new")])
    journal.close()
