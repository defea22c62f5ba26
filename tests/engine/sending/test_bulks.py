"""Operations that travel in bulks: nothing that is promised, answered or written down differs from sending them one at a time."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, cast

import pytest

from blendwright.bridge.worker import WorkerProcess
from blendwright.dialects import operations
from blendwright.engine.sending import bulk_policy
from blendwright.policy.policy import LimitsAsked
from blendwright.policy.session_contract import Proposal
from blendwright.values.errors import WorkerFault
from blendwright.values.faults import Fault
from blendwright.values.plan import Boundary, OnFailure
from blendwright.values.report import RunReport
from blendwright.wire import methods
from support.engine.engine import UNASKED, Engine
from support.plans.documents import box, step
from support.plans.named_plans import plan_of, statuses, steps_of, trial, trial_step

pytestmark = pytest.mark.usefixtures("checked")

OPERATIONS = 80
KINDS = ("cube", "plane", "cylinder", "uv_sphere")
MISTAKES = ("fail", "raise", "unverified", "undeclared")
# Drawn anew for every call, or told by a clock; the hash of an audit record covers them.
VOLATILE = frozenset({
    "mcp_call_id", "blender_mutation_id", "timestamp", "prev", "hash", "entry_hash", "plan_us", "execute_us", "verify_us",
})  # fmt: skip


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A second scene with the same history, to which operations are sent one at a time."""
    with Engine(tmp_path_factory.mktemp("other")) as engine:
        engine.do("object.create_empty", {"name": "Anchor", "location": [1, 2, 3]})
        yield engine


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each method was called on a worker."""
    counted = Counter[str]()
    submit = WorkerProcess.submit

    def counting(self: WorkerProcess, method: str, params: Mapping[str, Any]) -> Future[Any]:
        counted[method] += 1
        return submit(self, method, params)

    monkeypatch.setattr(WorkerProcess, "submit", counting)
    monkeypatch.setattr(bulk_policy, "LONG_RUN", 2)
    monkeypatch.setattr(bulk_policy, "BULK", 32)
    return counted


def random_operations(request: str, mistakes: Sequence[str]) -> list[dict[str, Any]]:
    """Creations mostly, which later operations change or ask for; some find their name taken, and some do not behave."""
    chance = random.Random(request)
    listed: list[dict[str, Any]] = []
    made: list[str] = []
    for number in range(OPERATIONS):
        id, drawn = f"op{number:03d}", chance.random()
        made_here = {"kind": chance.choice(KINDS), "name": f"{request} {id}"}
        if drawn < 0.15 and made:
            moved = {"name": chance.choice(made), "location": [number, 0, 1]}
            listed.append(box(id, tool_name="object.transform", args=moved))
        elif drawn < 0.2:
            listed.append(box(id, tool_name="scene.find", args={}, safety_level="read_only"))
        elif drawn < 0.3:
            wanted = {"name": f"{request} {number % 3}"}
            listed.append(box(id, tool_name="material.ensure_principled", args=wanted))
        elif drawn < 0.33 and mistakes and made:
            listed.append(box(id, args={"kind": "cube", "name": "Anchor"}))
        elif drawn < 0.38 and mistakes and made:
            listed.append(trial(id, chance.choice(mistakes)))
        else:
            listed.append(box(id, args=made_here))
            made.append(made_here["name"])
    return listed


def told(report: RunReport) -> list[Any]:
    """Everything a caller learns, but for what is new every time."""
    return [
        (
            (one.operation_id, one.status, one.fault, one.message, one.findings, one.result, one.blocked),
            (one.commit, one.scene_hash_before, one.scene_hash_after, one.operation_key, lasting(one.receipt)),
        )
        for one in report.operations
    ]


def lasting(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: lasting(part) for key, part in cast("Mapping[str, Any]", value).items() if key not in VOLATILE}
    return value


def written(engine: Engine, request: str) -> tuple[list[Any], list[Any]]:
    """What the journal and the audit have of a request."""
    commits = [lasting(commit._asdict()) for commit in engine.journal.commits_of(request)]
    return commits, [lasting(record) for record in engine.records() if record["request_id"] == request]


@pytest.mark.parametrize(
    ("request_id", "boundary", "on_failure", "mistakes"),
    [
        ("all is well", "operation", "stop", ()),
        ("stops", "operation", "stop", MISTAKES),
        ("goes on", "operation", "skip_dependents", MISTAKES),
        ("all or nothing", "plan", "stop", MISTAKES),
        ("all of it", "plan", "stop", ()),
        pytest.param("rebuilt", "operation", "skip_dependents", (*MISTAKES, "irreversible"), marks=pytest.mark.slow),
    ],
)
def test_a_plan_in_bulks_ends_as_it_does_one_at_a_time(
    engine: Engine,
    other: Engine,
    sent: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
    request_id: str,
    boundary: Boundary,
    on_failure: OnFailure,
    mistakes: tuple[str, ...],
) -> None:
    document = {"request_id": request_id, "operations": random_operations(request_id, mistakes)}
    plan = replace(operations.DIALECT.parse(document), boundary=boundary, on_failure=on_failure)
    in_bulks = engine.run(plan)
    assert sent[methods.BULK.name]
    sent.clear()
    monkeypatch.setattr(bulk_policy, "LONG_RUN", OPERATIONS + 1)
    one_at_a_time = other.run(plan)
    assert not sent[methods.BULK.name] and sent[methods.STEP.name]
    assert in_bulks.ok is (not mistakes)
    assert told(in_bulks) == told(one_at_a_time)
    assert (in_bulks.status, in_bulks.scene_hash_after) == (one_at_a_time.status, one_at_a_time.scene_hash_after)
    assert written(engine, request_id) == written(other, request_id)
    assert engine.full_hash() == other.full_hash() == engine.head().hash_after == other.head().hash_after


@pytest.mark.parametrize(("at_once", "bulks"), [(None, 3), (8, 24), (64, 3), (1, 0)])
def test_a_contract_that_asks_for_fewer_at_once_has_smaller_bulks(
    engine: Engine, sent: Counter[str], at_once: int | None, bulks: int
) -> None:
    with engine.under(UNASKED, Proposal(limits=LimitsAsked(calls_at_once=at_once))):
        report = engine.run(plan_of(f"at once {at_once}", *(box(f"op{number:03d}") for number in range(96))))
    assert report.ok and sent[methods.BULK.name] == bulks
    assert sent[methods.STEP.name] == (0 if bulks else 96)


def test_a_bulk_is_one_message_and_every_operation_has_its_own_receipt(engine: Engine, sent: Counter[str]) -> None:
    report = engine.run(plan_of("messages", *(box(f"op{number:03d}") for number in range(96))))
    assert report.ok and sent == {methods.BULK.name: 3}
    receipts = [operation.receipt for operation in report.operations]
    assert all(receipts) and len({receipt["scene_hash_after"] for receipt in receipts if receipt}) == 96
    joined = [(receipt["scene_hash_before"], receipt["scene_hash_after"]) for receipt in receipts if receipt]
    assert [after for _, after in joined[:-1]] == [before for before, _ in joined[1:]]


def test_operations_that_take_long_get_their_own_time(
    engine: Engine, sent: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker leaves some of a bulk over when it takes long, and refuses what is behind it: all that comes one by one then, and the
    rest in bulks again, small ones first."""
    submit, answers, sizes = WorkerProcess.submit_bulk, list[Future[Any]](), list[int]()

    def leaving_some(self: WorkerProcess, steps: Sequence[methods.StepRequest], epoch: int) -> Future[Any]:
        sizes.append(len(steps))
        if not answers:
            answers.append(submit(self, steps[:5], epoch))
        elif len(answers) == 1:
            answers.append(Future())
            answers[-1].set_exception(WorkerFault(methods.EPOCH_CLOSED, "of this epoch something is left over"))
        else:
            answers.append(submit(self, steps, epoch))
        return answers[-1]

    monkeypatch.setattr(WorkerProcess, "submit_bulk", leaving_some)
    report = engine.run(plan_of("slowly", *(box(f"op{number:03d}") for number in range(128))))
    assert report.ok and sent[methods.STEP.name] == 59
    assert sizes[:4] == [32, 32, 8, 8] and sum(sizes[2:]) == 64 and max(sizes[4:]) > 8


def test_what_is_too_large_together_is_sent_one_by_one(
    engine: Engine, sent: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("blendwright.wire.frames.MAX_FRAME", 4000)
    report = engine.run(plan_of("large", *(box(f"op{number:03d}") for number in range(40))))
    assert report.ok and sent[methods.STEP.name] >= 32


def test_a_worker_that_answers_more_than_it_was_asked_is_not_believed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit = WorkerProcess.submit_bulk

    def doubled(self: WorkerProcess, steps: Sequence[methods.StepRequest], epoch: int) -> Future[Any]:
        answer = submit(self, steps, epoch).result(60)
        wrong: Future[Any] = Future()
        wrong.set_result({"answers": answer["answers"] * 2})
        return wrong

    monkeypatch.setattr(WorkerProcess, "submit_bulk", doubled)
    report = engine.run(plan_of("doubled", *(box(f"op{number:03d}") for number in range(20))))
    assert report.ok and len({one.commit for one in report.operations}) == 20


def test_the_culprit_in_a_bulk_is_named(engine: Engine) -> None:
    listed = [step(f"s{number:03d}") for number in range(40)]
    listed[17] = trial_step("s017", "crash")
    report = engine.run(steps_of("culprit", *listed))
    assert [id for id, status in statuses(report).items() if status != "succeeded"] == ["s017"]
    assert report.operations[17].fault is Fault.WORKER_LOST
