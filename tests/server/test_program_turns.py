"""Turns of programs: bounded in number, and within the time of the call."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from blendwright.programs.evaluator_process import MOST_AT_ONCE, EvaluationStopped, Evaluators, GoOn
from blendwright.programs.program import Program, evaluate
from blendwright.server.context import ServerContext
from blendwright.server.programs.turns import ProgramTurns
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from support.hosts import mcp as hosts
from support.processes.evaluators import EvaluatorWatch

MANY = 14


class Programs:
    """Programs that do nothing: long ones until they are let go, and short ones at once. Knows how many were evaluated at once."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.begun: list[str] = []
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()

    def short(self, name: str) -> Callable[[GoOn], str]:
        return self._program(name, lambda go_on: None)

    def long(self, name: str) -> Callable[[GoOn], str]:
        def wait(go_on: GoOn) -> None:
            while not self.let_go.wait(0.001):
                if not go_on(0.0):
                    raise EvaluationStopped

        return self._program(name, wait)

    def _program(self, name: str, wait: Callable[[GoOn], None]) -> Callable[[GoOn], str]:
        def work(go_on: GoOn) -> str:
            with self._lock:
                self.begun.append(name)
                self._now += 1
                self.most = max(self.most, self._now)
            try:
                wait(go_on)
            finally:
                with self._lock:
                    self._now -= 1
            return name

        return work


def test_only_a_few_programs_are_evaluated_at_a_time_and_all_in_the_end() -> None:
    programs = Programs()

    async def main() -> list[str]:
        turns = ProgramTurns()
        long = [asyncio.create_task(turns.run(None, programs.long(f"long {at}"))) for at in range(MANY)]
        while len(programs.begun) < MOST_AT_ONCE:
            await asyncio.sleep(0)
        programs.let_go.set()
        return await asyncio.gather(*long)

    assert asyncio.run(main()) == [f"long {at}" for at in range(MANY)]
    assert programs.most == MOST_AT_ONCE


def test_waiting_counts_as_time_of_the_call() -> None:
    programs = Programs()

    async def main() -> Refusal:
        turns = ProgramTurns()
        long = [asyncio.create_task(turns.run(None, programs.long(str(at)))) for at in range(MANY)]
        await asyncio.sleep(0)
        with pytest.raises(Refusal) as late:
            await turns.run(0.1, programs.long("late"))
        programs.let_go.set()
        await asyncio.gather(*long)
        return late.value

    refusal = asyncio.run(main())
    assert refusal.findings[0].fault is Fault.TOOL_TIMEOUT
    assert "late" not in programs.begun, "every thread had a long one"


def test_whoever_goes_away_leaves_its_place() -> None:
    programs = Programs()

    async def main() -> str:
        turns = ProgramTurns()
        for _ in range(3):
            gone = [asyncio.create_task(turns.run(None, programs.long("gone"))) for _ in range(MANY)]
            await asyncio.sleep(0.01)
            for task in gone:
                task.cancel()
            await asyncio.gather(*gone, return_exceptions=True)
        return await asyncio.wait_for(turns.run(None, programs.short("next")), 30)

    assert asyncio.run(main()) == "next"


def test_a_program_that_ends_its_process_is_evaluated_once(
    monkeypatch: pytest.MonkeyPatch, evaluators: Evaluators
) -> None:
    asked: list[Any] = []
    ask = evaluators.ask

    def counted(*args: Any) -> Any:
        asked.append(args)
        return ask(*args)

    monkeypatch.setattr(evaluators, "ask", counted)
    program = Program("x = [1] * 1000000\n\nfor i in range(60):\n  x = x + x\n  y = 1")
    (finding,) = evaluate(program, ("object.delete",), evaluators=evaluators).findings
    assert (finding.fault, finding.place, len(asked)) == (Fault.LIMIT_EXCEEDED, "program:4:1", 1)


def test_a_program_that_is_not_wanted_any_more_ends(evaluators: Evaluators) -> None:
    program = Program("object.delete(name = 'A')")
    assert evaluate(program, ("object.delete",), evaluators=evaluators).operations
    [process] = evaluators._idle  # pyright: ignore[reportPrivateUsage]
    # A stopped process never answers, so the program cannot end before it is cancelled, however fast the machine is.
    os.kill(process.pid, signal.SIGSTOP)
    with pytest.raises(EvaluationStopped):
        evaluate(program, ("object.delete",), evaluators=evaluators, go_on=lambda seconds: False)
    assert not process.alive
    assert evaluate(program, ("object.delete",), evaluators=evaluators).operations


def test_a_leaked_evaluator_is_found_and_ended(evaluators: Evaluators, evaluator_watch: EvaluatorWatch) -> None:
    evaluators.warm()
    [process] = evaluators._idle  # pyright: ignore[reportPrivateUsage]
    assert evaluator_watch.end_leaked(patience_seconds=0.0) == [process.pid]
    assert not process.alive and evaluator_watch.end_leaked() == []


class Counted:
    """In the place of processes, of which it counts how many are asked at once."""

    asked = now = most = 0
    lock = threading.Lock()
    full, let_go = threading.Event(), threading.Event()

    def ask(self, *_: Any) -> dict[str, Any]:
        with self.lock:
            Counted.now += 1
            Counted.most = max(Counted.most, Counted.now)
            if Counted.now == MOST_AT_ONCE:
                self.full.set()
        assert self.let_go.wait(60)
        with self.lock:
            Counted.now -= 1
        return {"worn": False}

    def end(self) -> None:
        pass


def test_never_more_processes_than_may_be_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluators = Evaluators()
    monkeypatch.setattr(evaluators, "_take", Counted)
    threads = [threading.Thread(target=evaluators.ask, args=({}, 1, str)) for _ in range(3 * MOST_AT_ONCE)]
    for thread in threads:
        thread.start()
    assert Counted.full.wait(60)
    Counted.let_go.set()
    for thread in threads:
        thread.join()
    assert Counted.most == MOST_AT_ONCE


def test_the_time_of_a_call_bounds_its_program_over_mcp(context: ServerContext) -> None:
    text = "for i in range(9000000):\n  pass\nobject.create_empty(name = 'E')"
    answer = hosts.call(context, "2026-07-28", "plan_execute", {"program": text, "timeout_s": 0.05}).structured_content
    assert answer["ok"] is False and "0.05 s of the call" in answer["message"], answer
