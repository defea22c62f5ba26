"""Any sequence of what a journal can be asked keeps it equal to a model that is too simple to be wrong."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from blendwright.journal import Journal
from blendwright.records.branches import SwitchTo
from blendwright.records.commits import Entry
from blendwright.values.errors import JournalError
from journal.ledger import EMPTY, assert_sound, audit, baseline, operation, reading, saved, special, wanted

NAMES = [f"op{n}" for n in range(8)]
BRANCHES = ["main", "one", "two"]


@dataclass
class Node:
    """A commit of the model; ancestors are found by walking."""

    parent: int | None
    name: str | None
    scene: str
    replayable: bool = True
    adopts: bool = False
    rolled_back: bool = False


class JournalMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="journal-"))
        self.workspace = self.directory / "w"
        self.nodes: dict[int, Node] = {}
        self.checkpoints: set[int] = set()
        self.gone: set[int] = set()
        self.collected = False
        self.undone: list[int] = []
        self.base: int | None = None
        self.boundary = 0
        self.records = 0
        self.head = 0
        self.current: str | None = "main"
        self.left: dict[str, int] = {}
        """Where the branches are that HEAD is not on."""

    @initialize()
    def begin(self) -> None:
        self.journal = Journal(self.workspace)
        self.journal.commit([baseline()])
        self.nodes[1] = Node(None, None, EMPTY)
        self.head, self.records = 1, 1

    def line(self, number: int | None) -> list[int]:
        found: list[int] = []
        while number is not None:
            found.append(number)
            number = self.nodes[number].parent
        return found

    def add(self, node: Node) -> None:
        self.head = len(self.nodes) + 1
        self.nodes[self.head] = node
        self.records += 1
        self.undone.clear()

    # ------------------------------------------------------------------ rules

    @rule(names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=4), failed=st.booleans())
    def commit(self, names: list[str], failed: bool) -> None:
        scene = self.nodes[self.head].scene
        scenes = [f"{len(self.nodes) + index}:{name}" for index, name in enumerate(names)]
        before = [scene, *scenes]
        entries: list[Entry] = [operation(name, *pair) for name, pair in zip(names, pairwise(before), strict=True)]
        scene = scenes[-1]
        entries += [audit("bad", "failed", scene, None), reading("look", scene)] if failed else []
        taken = {self.nodes[number].name for number in self.line(self.head)}
        if len(set(names)) < len(names) or taken & set(names):
            with pytest.raises(JournalError, match="already committed on this line"):
                self.journal.commit(entries)
            return
        written = self.journal.commit(entries)
        for name, after in zip(names, scenes, strict=True):
            self.add(Node(self.head, name, after))
        self.records += 2 if failed else 0
        assert written.head == self.head and written.audit.sequence == self.records

    @rule(adopts=st.booleans())
    def commit_what_cannot_be_replayed(self, adopts: bool) -> None:
        before = self.nodes[self.head].scene
        scene = f"{len(self.nodes)}:saved"
        staged = self.journal.checkpoints.stage(saved(self.directory, scene), scene)
        self.journal.commit([special("adopt" if adopts else "rebaseline", before, scene, staged)])
        self.add(Node(self.head, None, scene, replayable=False, adopts=adopts))
        self.checkpoints.add(self.head)

    @rule()
    def checkpoint(self) -> None:
        scene = self.nodes[self.head].scene
        self.journal.checkpoints.add(self.journal.checkpoints.stage(saved(self.directory, scene), scene), self.head)
        self.checkpoints.add(self.head)

    @precondition(lambda self: self.base is None)
    @rule(data=st.data())
    def checkout(self, data: st.DataObject) -> None:
        to = data.draw(st.sampled_from(sorted(self.nodes.keys() - self.gone)))
        self.journal.move_head("checkout", to)
        self.head = to
        self.undone.clear()

    @rule(name=st.sampled_from(BRANCHES), data=st.data())
    def create_branch(self, name: str, data: st.DataObject) -> None:
        at = data.draw(st.sampled_from(sorted(self.nodes.keys() - self.gone)))
        if name in (self.current, *self.left):
            with pytest.raises(JournalError, match="already"):
                self.journal.branches.create(name, at)
            return
        self.journal.branches.create(name, at)
        self.left[name] = at

    @rule(name=st.sampled_from(BRANCHES))
    def delete_branch(self, name: str) -> None:
        if name not in self.left:
            with pytest.raises(JournalError, match="HEAD is on" if name == self.current else "no branch"):
                self.journal.branches.delete(name)
            return
        self.journal.branches.delete(name)
        del self.left[name]

    @precondition(lambda self: self.base is None)
    @rule(name=st.sampled_from([None, *BRANCHES]), data=st.data())
    def switch(self, name: str | None, data: st.DataObject) -> None:
        """To a branch, to a new one, or to none at all."""
        new = name is not None and name not in (self.current, *self.left)
        anywhere = st.sampled_from(sorted(self.nodes.keys() - self.gone))
        to = data.draw(anywhere) if name is None or new else self.left.get(name, self.head)
        moved = self.journal.move_head("checkout", to, SwitchTo(name, create=new))
        stays = to == self.head and name is not None
        assert (moved is None) == stays
        if self.current is not None and self.current != name:
            self.left[self.current] = self.head
        if name is not None:
            self.left.pop(name, None)
        self.current = name
        self.head = to
        if not stays:
            self.undone.clear()

    @precondition(lambda self: self.base is None)
    @rule()
    def undo(self) -> None:
        head = self.journal.head
        assert head is not None
        target = head.parent
        assert target == self.nodes[self.head].parent
        if target is not None:
            self.journal.move_head("undo", target)
            self.undone.append(self.head)
            self.head = target

    @precondition(lambda self: self.base is None)
    @rule()
    def redo(self) -> None:
        target = self.journal.redo_target()
        assert target == (self.undone[-1] if self.undone else None)
        if target is not None:
            self.journal.move_head("redo", target)
            self.head = self.undone.pop()

    @precondition(lambda self: self.base is None)
    @rule()
    def begin_plan(self) -> None:
        self.boundary = self.journal.recovery.begin_boundary("r")
        self.base = self.head

    @precondition(lambda self: self.base is not None)
    @rule(keep=st.booleans())
    def end_plan(self, keep: bool) -> None:
        if keep:
            self.journal.commit([], keeps=self.boundary)
        else:
            self._roll_back()
        self.base = None

    def _roll_back(self) -> None:
        assert self.base is not None
        taken = [number for number in self.line(self.head) if number not in self.line(self.base)]
        assert self.journal.roll_back(self.boundary).numbers == tuple(taken)
        for number in taken:
            self.nodes[number].rolled_back = True
        self.records += len(taken)
        self.head = self.base
        self.undone.clear()

    @rule()
    def reopen(self) -> None:
        self.journal.close()
        assert_sound(self.workspace, collected=self.collected)
        self.journal = Journal(self.workspace)
        info = self.journal.recovery.info()
        assert (info.boundary is None) == (self.base is None)
        if info.boundary is not None:
            self._roll_back()
            self.base = None

    @rule()
    def gc(self) -> None:
        """Every commit that could be checked out before can be after it."""
        reach = {number: len(self.journal.checkpoints.route(number).redo) for number in self.nodes.keys() - self.gone}
        freed = self.journal.checkpoints.collect_garbage(redo_budget=3)
        assert freed.lost == ()
        self._collected(reach)

    @rule()
    def drop_other_lines(self) -> None:
        roots = (self.head, *self.undone, *self.left.values())
        needed = [number for root in roots for number in self.line(root)]
        reach = {number: len(self.journal.checkpoints.route(number).redo) for number in needed}
        freed = self.journal.checkpoints.collect_garbage(redo_budget=3, drop_other_lines=True)
        gone = set(self.gone)
        self._collected(reach)
        assert set(freed.lost) == self.gone - gone

    def _collected(self, reach: dict[int, int]) -> None:
        self.collected = True
        kept = {path.name for path in (self.workspace / "checkpoints").iterdir()}
        self.checkpoints = {number for number in self.checkpoints if self._file(number) in kept}
        for number, before in reach.items():
            assert len(self.journal.checkpoints.route(number).redo) <= max(before, 3)
        # What gc made unreachable is not worth a visit.
        self.gone = {number for number in self.nodes if self._unreachable(number)}

    def _file(self, number: int) -> str:
        content = (self.directory / f"{self.nodes[number].scene}.saved").read_bytes()
        return f"{hashlib.sha256(content).hexdigest()}.blend"

    def _unreachable(self, number: int) -> bool:
        for ancestor in self.line(number):
            if ancestor in self.checkpoints:
                return False
            if not self.nodes[ancestor].replayable:
                return True
        return False

    # ------------------------------------------------------------------ what always holds

    @invariant()
    def it_knows_what_the_model_knows(self) -> None:
        if not self.nodes:
            return
        head = self.journal.head
        assert head is not None and (head.number, head.hash_after) == (self.head, self.nodes[self.head].scene)
        on_it = {} if self.current is None else {self.current: self.head}
        assert {one.name: one.commit for one in self.journal.branches.listed()} == {**self.left, **on_it}
        assert self.journal.branches.current() == self.current
        line = self.line(self.head)
        assert [commit.number for commit in self.journal.log(limit=1000)] == line
        found = self.journal.find_many([wanted(name) for name in NAMES])
        assert [one.where for one in found] == [self._where(name, line) for name in NAMES]

    def _where(self, name: str, line: list[int]) -> str:
        adopted = next((number for number in line if self.nodes[number].adopts), 0)
        places = {
            ("ancestor" if line.index(n) < (line.index(adopted) if adopted else len(line)) else "before_adopt")
            if n in line
            else ("rolled_back" if node.rolled_back else "elsewhere")
            for n, node in self.nodes.items()
            if node.name == name
        }
        order = ("ancestor", "before_adopt", "elsewhere", "rolled_back")
        return next((place for place in order if place in places), "nowhere")

    @invariant()
    def the_way_to_head_is_the_shortest_that_is_allowed(self) -> None:
        if not self.nodes:
            return
        line = self.line(self.head)
        distance = next((i for i, n in enumerate(line) if n in self.checkpoints), None)
        blocked = next((i for i, n in enumerate(line) if not self.nodes[n].replayable), None)
        assert blocked is None or (distance is not None and distance <= blocked)
        route = self.journal.checkpoints.route(self.head)
        expected = line[: len(line) - 1 if distance is None else distance]
        assert [commit.number for commit in route.redo] == expected[::-1]

    def teardown(self) -> None:
        if self.nodes:
            self.journal.close()
            assert_sound(self.workspace, collected=self.collected)
        shutil.rmtree(self.directory)


TestAnySequence = JournalMachine.TestCase
TestAnySequence.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
