"""Turns for programs that are evaluated: a few at once, clients by turns, and short ones not behind long ones.

A program begins in the quick lane. One that takes longer than most goes on in the slow lane where a place is free there; else it is
stopped, and begun anew when it has a place. So however many long programs there are, and on however many connections they come, a short
one waits for a moment of each of them and no more. Waiting counts as time of the call.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from blendwright.programs.evaluator_process import MOST_AT_ONCE, EvaluationStopped, GoOn
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault

# Longer than nearly all programs take.
QUICK_SECONDS = 0.5
QUICK_AT_ONCE = MOST_AT_ONCE // 2
SLOW_AT_ONCE = MOST_AT_ONCE - QUICK_AT_ONCE

T = TypeVar("T")


class Lane:
    """Places for a few at once. Who waits for one gets it by turns of the clients, and within a client in order."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: OrderedDict[str, deque[Future[None]]] = OrderedDict()
        self._lock = threading.Lock()

    async def take(self, client: str) -> None:
        """Wait for a place."""
        turn: Future[None] = Future()
        with self._lock:
            self._waiting.setdefault(client, deque()).append(turn)
            self._serve()
        try:
            await asyncio.wrap_future(turn)
        except BaseException:
            if not turn.cancel():
                self.leave()  # it got its place in the very moment
            raise

    def take_free(self) -> bool:
        """Take a place that nobody waits for, where there is one."""
        with self._lock:
            if self._free == 0:
                return False
            self._free -= 1
            return True

    def leave(self) -> None:
        with self._lock:
            self._free += 1
            self._serve()

    def _serve(self) -> None:
        while self._free and self._waiting:
            client, line = self._waiting.popitem(last=False)
            turn = line.popleft()
            if line:
                self._waiting[client] = line  # back to the end: the others first
            if turn.set_running_or_notify_cancel():
                self._free -= 1
                turn.set_result(None)


class _Evaluation:
    """One program on its way, for the thread that evaluates it: whether it is to go on, and whose place it has."""

    def __init__(self, quick: Lane, slow: Lane, ends: float) -> None:
        self.lane = quick
        self.unwanted = False
        self.postponed = False
        self._quick, self._slow = quick, slow
        self._ends = ends

    def go_on(self, seconds: float) -> bool:
        if self.unwanted or time.monotonic() >= self._ends:
            return False
        if self.lane is self._quick and seconds >= QUICK_SECONDS:
            if not self._slow.take_free():
                self.postponed = True
                return False
            self.lane = self._slow
            self._quick.leave()
        return True

    def evaluate(self, work: Callable[[GoOn], T]) -> T:
        try:
            return work(self.go_on)
        finally:
            self.lane.leave()


class ProgramTurns:
    """The turns of one server."""

    def __init__(self) -> None:
        self._quick, self._slow = Lane(QUICK_AT_ONCE), Lane(SLOW_AT_ONCE)
        # Its own threads: others wait for files and pictures in those that all share.
        self._threads = ThreadPoolExecutor(QUICK_AT_ONCE + SLOW_AT_ONCE, "program")

    async def run(self, client: str, seconds: float | None, work: Callable[[GoOn], T]) -> T:
        """Have `work` evaluate a program, when it is this client's turn, and with `go_on` for how long. Raises Refusal when `seconds`
        are over before it has ended."""
        ends = time.monotonic() + (threading.TIMEOUT_MAX if seconds is None else seconds)
        evaluation = _Evaluation(self._quick, self._slow, ends)
        try:
            async with asyncio.timeout(seconds):
                await self._quick.take(client)
                try:
                    return await self._in_thread(evaluation, work)
                except EvaluationStopped:
                    if not evaluation.postponed:
                        raise TimeoutError from None
                await self._slow.take(client)
                evaluation.lane = self._slow
                try:
                    return await self._in_thread(evaluation, work)
                except EvaluationStopped:
                    raise TimeoutError from None
        except TimeoutError:
            message = f"the {seconds or 0:g} s of the call were over before the program was evaluated"
            cure = "Allow more time, send fewer programs at once, or let them do less."
            raise Refusal.of(Fault.TOOL_TIMEOUT, message, cure) from None

    async def _in_thread(self, evaluation: _Evaluation, work: Callable[[GoOn], T]) -> T:
        done = self._threads.submit(evaluation.evaluate, work)
        try:
            return await asyncio.wrap_future(done)
        except asyncio.CancelledError:
            evaluation.unwanted = True
            if done.cancel():
                evaluation.lane.leave()  # no thread has begun it
            raise
