"""The way in: `blendwright …` on a command line.

A server on stdio takes over the wire before anything large is loaded, so that its host is answered at once.
"""

from __future__ import annotations

import signal
import sys

from blendwright import __version__


def main() -> None:
    hold_interrupts()
    arguments = sys.argv[1:]
    if arguments == ["--version"] and _printed(f"blendwright {__version__}"):
        return
    if arguments[:1] == ["serve"] and not {"--http", "--help"} & {part.partition("=")[0] for part in arguments}:
        from blendwright.server.early_server import answer_early

        with answer_early(arguments):
            _run()
    else:
        _run()


def hold_interrupts() -> None:
    """Keep Ctrl-C waiting while the program loads: before that is done nobody could answer it."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def accept_interrupts() -> None:
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _printed(line: str) -> bool:
    """Whether standard output took it; what to say otherwise is known to the program itself."""
    try:
        print(line, flush=True)
    except (OSError, ValueError):
        return False
    return sys.stdout is not None  # pyright: ignore[reportUnnecessaryComparison] (there may be none)


def _run() -> None:
    from blendwright.cli.main import main as run

    run()
