"""Hands every event of one workspace to its observers, and decides who they are. An observer that raises is removed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from blendwright.app.observing.counters import EventCounters
from blendwright.app.observing.export import EXTRA, Export, configured, installed
from blendwright.app.observing.log import OFF, Log, shown_level
from blendwright.values import events


class EventBus:
    """The observer that the engine is given; those behind it are added once the workspace is ours."""

    def __init__(self) -> None:
        self.counters = EventCounters()
        self._observers: list[events.Observer] = [self.counters]

    def add(self, observer: events.Observer) -> None:
        self._observers.append(observer)

    def __call__(self, event: events.Event) -> None:
        for observer in tuple(self._observers):
            try:
                observer(event)
            except Exception as error:
                # An outermost place: what an event reports has happened, and no observer may make it look as if it had not.
                self._observers.remove(observer)
                self(events.Defect(error))


def open_event_bus(
    bus: EventBus, workspace: Path, observers: Iterable[events.Observer] = (), *, redact: Sequence[str] = ()
) -> None:
    """Add the observers: the log, OpenTelemetry where the environment configures it, and those of the caller.

    The log must not quote the values of the arguments that `redact` names."""
    shown = shown_level()
    if shown != OFF:
        bus.add(Log(workspace, shown=shown, redact=redact))
    for observer in observers:
        bus.add(observer)
    traces, metrics = configured(os.environ)
    if traces or metrics:
        if installed():
            bus.add(Export(traces=traces, metrics=metrics))
        else:
            bus(events.Remark(EXTRA))
