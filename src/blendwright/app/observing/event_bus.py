"""Hands every event to those who watch one workspace, and wires who they are. Whoever fails at it watches no more."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from blendwright.app.observing.export import EXTRA, Export, configured, installed
from blendwright.app.observing.tally import Tally
from blendwright.values import events


class EventBus:
    """The observer that the engine is given; those behind it are added once the workspace is ours."""

    def __init__(self) -> None:
        self.tally = Tally()
        self._observers: list[events.Observer] = [self.tally]

    def add(self, observer: events.Observer) -> None:
        self._observers.append(observer)

    def __call__(self, event: events.Event) -> None:
        for observer in tuple(self._observers):
            try:
                observer(event)
            except Exception as error:
                # An outermost place: what is told has happened, and no observer may make it look as if it had not.
                self._observers.remove(observer)
                self(events.Defect(error))


def open_event_bus(
    watch: EventBus, place: Path, observers: Iterable[events.Observer] = (), *, redact: Sequence[str] = ()
) -> None:
    """The log, OpenTelemetry where the environment configures it, and whom the caller brings along. `redact` are arguments whose
    values the log must not quote."""
    # Loading structlog takes as long as a dozen operations; commands that open no workspace do without.
    from blendwright.app.observing.log import OFF, Log, wanted_level

    shown = wanted_level()
    if shown != OFF:
        watch.add(Log(place, shown=shown, redact=redact))
    for observer in observers:
        watch.add(observer)
    traces, metrics = configured(os.environ)
    if traces or metrics:
        if installed():
            watch.add(Export(traces=traces, metrics=metrics))
        else:
            watch(events.Remark(EXTRA))
