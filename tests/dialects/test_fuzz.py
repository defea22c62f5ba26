"""Mutated plans: never an exception, and whatever is invalid has a finding whose pointer leads somewhere."""

from __future__ import annotations

import copy
import json
import random
from typing import Any, cast

import pytest

from blendwright.dialects import operations, steps
from blendwright.dialects.registry import recognise
from blendwright.plan.repair import refused
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.session_contract import ContractTerms
from blendwright.schemas.json_reader import read_json
from blendwright.tools import catalog
from blendwright.values.findings import Finding, pointer_of
from support.plans.documents import box, geonodes_plan, patch_step, python_step, step, tree_step

QUICK = 1_000
FULL = 1_000_000
# Each with a seed of its own: about a minute, and what fails is found again without the rest.
PARTS = 10
ARRAY = {"object": "Box a", "modifier": "Row", "type": "ARRAY"}
SEEDS: list[Any] = [
    {
        "request_id": "r",
        "operations": [
            box("a"),
            box("b", "a", tool_name="modifier.apply", args=ARRAY, safety_level="destructive"),
            box("c", "a", "b", tool_name="scene.snapshot", args={}, safety_level="read_only"),
        ],
    },
    {"steps": [step("step_1"), step("step_2", "step_1", tool="scene.snapshot"), step("step_3", "step_1", title="x")]},
    {"steps": [step("a"), step("b", "a", tool="object.inspect", args={"name": "Box a"}), step("c", tool="no.such")]},
    geonodes_plan(tree_step("a"), patch_step("b"), python_step("c"), meta={"requires_gate_verification": False}),
    [
        {"step_id": "a", "tool": "t", "ok": True, "skipped": False, "reason": None, "error": None, "output": [1]},
        {"step_id": "b", "tool": None, "ok": False, "skipped": True, "reason": "r", "error": None},
        {
            "step_id": "__meta__",
            "ok": False,
            "skipped": False,
            "reason": None,
            "task_status": "PARTIAL",
            "stats": {"total_steps": 2, "ok": 1, "skipped": 1, "failed": 0},
            "blocked_steps": [],
            "failed_steps": [],
        },
    ],
]
STRANGE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**53, 2**64, -(2**70), float("nan"), float("inf"), "", " ", "a", "b", "step_1", "step_99",
    "__meta__", "é\u0301", "\ud800", "x" * 300, "a\n", "/~", [], {}, [[]], [None], {"": {}}, {"name": "scene.snapshot", "args": {}},
    "no.such", "read_only", "destructive", "COMPLETED", "BLOCKED", "NODE_TREE",
    "__gates__",
)  # fmt: skip


def places(document: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found: list[tuple[str | int, ...]] = [path]
    if isinstance(document, dict):
        for key, item in cast("dict[str, Any]", document).items():
            found += places(item, (*path, key))
    elif isinstance(document, list):
        for place, item in enumerate(cast("list[Any]", document)):
            found += places(item, (*path, place))
    return found


def mutated(document: Any, chance: random.Random) -> Any:
    """One change somewhere: another value, type or key, something gone, doubled, moved or nested without end."""
    known = places(document)
    path = chance.choice(known)
    if not path or max(map(len, known)) > 60:  # deep enough already
        return chance.choice(STRANGE) if chance.random() < 0.05 else document
    holder: Any = document
    for part in path[:-1]:
        holder = holder[part]
    key, how = path[-1], chance.randrange(8)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(key, int):
        holder.insert(chance.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    elif how == 1:
        holder[str(chance.choice(("extra", "args", "", "title", "a/b~c", "operations", "steps")))] = holder[key]
    elif how == 2:
        for _ in range(chance.choice((1, 5, 70, 120))):
            holder[key] = [holder[key]] if chance.random() < 0.5 else {"k": holder[key]}
    elif how == 3 and isinstance(holder[key], str):
        text = str(holder[key])
        place = chance.randrange(len(text) + 1)
        holder[key] = (
            text[:place] + chance.choice(("", "x", "é", "\x00", "\ud800", "._:")) + text[place + chance.randrange(2) :]
        )
    elif how == 4 and isinstance(holder[key], list):
        chance.shuffle(holder[key])
    elif how == 5:
        holder[key] = copy.deepcopy(at(document, chance.choice(known)))
    else:
        holder[key] = copy.deepcopy(chance.choice(STRANGE))
    return document


def at(document: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        document = document[part]
    return document


def judged(document: Any) -> tuple[Finding, ...]:
    """A document through everything that happens before it runs, and the rendering of its refusal."""
    if isinstance(document, list):
        return steps.validate_result(document)
    dialect = recognise(document)
    if isinstance(dialect, Finding):
        return (dialect,)
    plan = dialect.parse(document)
    valid = validate(plan, catalog.tools(), ContractTerms())
    if isinstance(valid, ValidPlan):
        assert len(valid.schedule("registry", "baseline").order) == len(plan.operations)
        return ()
    report = refused(plan, valid)
    result = dialect.render(report)
    assert dialect is not operations.DIALECT or result["error_code"]
    # What the schema minds about operations is what makes them unsound: the repair relies on it.
    if len(plan.findings) < 100 and plan.operations and dialect is operations.DIALECT:
        minded = {
            finding.pointer.split("/")[2] for finding in plan.findings if finding.pointer.startswith("/operations/")
        }
        assert minded == {str(operation.position) for operation in plan.operations if operation.unsound}
    return valid


def leads_somewhere(document: Any, pointer: str) -> bool:
    if pointer and not pointer.startswith("/"):
        return False
    value = document
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            known = {pointer_of([name]): item for name, item in cast("dict[Any, Any]", value).items()}
            if pointer_of([key]) not in known:
                return False
            value = known[pointer_of([key])]
        elif isinstance(value, list) and key.isdigit() and int(key) < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[int(key)]
        else:
            return False
    return True


def fuzzed(rounds: int, seed: int) -> int:
    chance = random.Random(seed)
    refusals = 0
    for number in range(rounds):
        document = copy.deepcopy(SEEDS[number % len(SEEDS)])
        for _ in range(chance.choice((1, 1, 2, 4))):
            document = mutated(document, chance)
        findings = judged(document)
        refusals += bool(findings)
        for finding in findings:
            assert finding.message and leads_somewhere(document, finding.pointer), (document, finding)
    return refusals


def test_mutated_plans_are_refused_with_pointers_and_never_break_anything() -> None:
    refusals = fuzzed(QUICK, 20)
    assert QUICK // 2 < refusals < QUICK


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PARTS))
def test_a_million_mutated_plans_are_refused_with_pointers(seed: int) -> None:
    assert fuzzed(FULL // PARTS, 1_000 + seed) > FULL // PARTS // 2


def test_mutated_text_is_read_or_refused() -> None:
    chance = random.Random(7)
    for number in range(QUICK // 4):
        text = bytearray(json.dumps(SEEDS[number % len(SEEDS)]).encode())
        for _ in range(chance.choice((1, 3))):
            place = chance.randrange(len(text))
            text[place : place + chance.randrange(3)] = chance.choice(
                (b"", b'"', b"}", b"[", b"\xff", b"NaN", b'"a":1,', b"9" * 30)
            )
        document, findings = read_json(bytes(text))
        assert findings or judged(document) is not None
        assert not findings or document is None
