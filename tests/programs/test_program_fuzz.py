"""Thousands of programs, grown from a grammar and mutated: operations or a finding with a line, and the process lives on."""

from __future__ import annotations

import random
import re

import pytest

from blendwright.programs.evaluator_process import Evaluators
from blendwright.programs.program import LIMITS, Program, evaluate
from blendwright.programs.recording import Limits

TOOLS = ("mesh.create_primitive", "object.transform", "object.delete", "scene.snapshot")
PLACE = re.compile(r"program:[1-9][0-9]*:[1-9][0-9]*")
# Small, so that thousands are cheap: whatever passes them is refused as it would be at full size.
SMALL = Limits(**{**{name: getattr(LIMITS, name) for name in Limits.__dataclass_fields__}, "steps": 100_000})
NAMES = (
    "a",
    "b",
    "x",
    "mesh",
    "object",
    "math",
    "vec",
    "param",
    "print",
    "random",
    "struct",
    "json",
    "_record",
    "_at",
    "_fail",
    "_counts",
)
VALUES = (
    "0", "1", "-7", "2.5", "1e400", "1 << 62", "'é'", "'A'", "None", "True", "[]", "[1, 2, 3]", "{}", "{'k': [1]}", "(1,)",
    "len", "mesh", "object.delete", "lambda q: q", "range(5)", "json.encode", "float('nan')", "print",
)  # fmt: skip
CALLS = (
    "object.delete(name = {0})", "mesh.create_primitive(kind = 'cube', name = {0}, size = {1})", "scene.snapshot()",
    "object.transform(name = {0}, location = vec.polar({1}, {2}))", "math.sin({0})", "math.pow({0}, {1})", "vec.add({0}, {1})",
    "random({0}).int({1}, {2})", "param('n', {0}, min = {1})", "print({0})", "fail({0})", "load({0}, 'f')", "f({0})",
    "json.decode({0})", "getattr({0}, {1})", "hasattr(mesh, {0})", "sorted({0}, key = {1})", "str({0}) % {1}", "_record({0})",
    "struct(operation = {0}, name = {1})", "call_stack()", "{0}.format({1})", "dir({0})", "type({0})({1})",
)  # fmt: skip
MARKS = "()[]{}:=+-*/%,.'\"\\#\n\t \0@!~^&|<>;éλ\u200b\U0001f600"


class Grower:
    """Programs of a few lines, from one seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def program(self) -> str:
        if self._chance.random() < 0.2:
            return self._sensible()
        lines = [self._statement(0) for _ in range(self._chance.randint(1, 5))]
        return self._mutated("\n".join(lines))

    def _sensible(self) -> str:
        """One that yields operations, but for what its numbers and names may break."""
        count, name = (
            self._chance.randint(1, 20),
            self._chance.choice(("'A%d' % i", "str(i)", "'é'", "'A' + str(i * i)")),
        )
        calls = "\n".join(f"  {self._chance.choice(CALLS[:4]).format(name, '1.5', 'i')}" for _ in range(2))
        return f"n = param('n', {count})\nfor i in range(n):\n{calls}\nprint(n)"

    def _value(self, depth: int) -> str:
        pick = self._chance.random()
        if depth > 2 or pick < 0.45:
            return self._chance.choice(VALUES)
        if pick < 0.6:
            return self._chance.choice(NAMES)
        if pick < 0.75:
            sign = self._chance.choice(("+", "-", "*", "/", "//", "%", "<", "==", "in", "and", "|", "<<"))
            return f"({self._value(depth + 1)} {sign} {self._value(depth + 1)})"
        if pick < 0.85:
            return f"[{self._value(depth + 1)} for {self._chance.choice(NAMES)} in {self._value(depth + 1)}]"
        return self._call(depth + 1)

    def _call(self, depth: int) -> str:
        return self._chance.choice(CALLS).format(*(self._value(depth + 1) for _ in range(3)))

    def _statement(self, depth: int) -> str:
        indent = "  " * depth
        pick = self._chance.random()
        if depth < 3 and pick < 0.15:
            return f"{indent}for {self._chance.choice(NAMES)} in {self._value(1)}:\n{self._statement(depth + 1)}"
        if depth < 3 and pick < 0.25:
            return f"{indent}if {self._value(1)}:\n{self._statement(depth + 1)}\n{indent}else:\n{self._statement(depth + 1)}"
        if depth < 3 and pick < 0.35:
            return f"{indent}def f(a = {self._value(2)}, *b, **x):\n{self._statement(depth + 1)}"
        if pick < 0.6:
            return f"{indent}{self._chance.choice(NAMES)} {self._chance.choice(('=', '+='))} {self._value(0)}"
        return indent + self._call(0)

    def _mutated(self, text: str) -> str:
        for _ in range(self._chance.choice((0, 0, 0, 1, 2))):
            at, end = sorted(self._chance.randrange(len(text) + 1) for _ in range(2))
            piece = self._chance.choice(MARKS) * self._chance.choice((1, 1, 1, 3, 300))
            text = self._chance.choice(
                (text[:at] + piece + text[at:], text[:at] + text[end:], text[:end] + text[at:], text[:at])
            )
        return text


def check(seeds: range, evaluators: Evaluators) -> None:
    yielded = refused = 0
    for seed in seeds:
        text = Grower(seed).program()
        done = evaluate(Program(text, {"n": 1} if seed % 3 == 0 else {}), TOOLS, limits=SMALL, evaluators=evaluators)
        assert bool(done.operations) != bool(done.findings), (seed, text)
        for finding in done.findings:
            assert finding.place is not None and PLACE.fullmatch(finding.place), (seed, text, finding)
            assert int(finding.place.split(":")[1]) <= text.count("\n") + 1, (seed, text, finding)
            assert finding.message and finding.cure and "Traceback" not in finding.message, (seed, text, finding)
        assert all(one.tool in TOOLS for one in done.operations), (seed, text)
        yielded, refused = yielded + bool(done.operations), refused + bool(done.findings)
    assert min(yielded, refused) > len(seeds) // 50, "both ends are reached"


def test_ten_thousand_programs_end_in_operations_or_in_a_finding_with_a_line(evaluators: Evaluators) -> None:
    check(range(10_000), evaluators)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_two_hundred_thousand_programs(evaluators: Evaluators) -> None:
    check(range(10_000, 210_000), evaluators)
