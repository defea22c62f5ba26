"""A command of the user that receives the head of the audit chain, so that another machine can store it.

The command starts without a shell, reads the note as one line of JSON, and has a time limit. Opening the journal
sends the first head before anything else, so a broken command shows up at once. A thread sends later heads, only the
newest, so that no commit waits; observers receive its failures. Pass a head that the command stored to
`blendwright audit verify --known`.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence

from blendwright.values.errors import EnvironmentUnfit
from blendwright.values.events import Observer, Remark, silent

# The time limit of one run of the command.
SECONDS = 10.0
# The pause between two runs: a long plan moves the head many times a second.
PAUSE_SECONDS = 1.0
CURE = "Try it by hand with a line of text on its input, or correct audit_heads_command under [journal] in your own blendwright.toml."


class HeadCommand:
    """A sender of audit heads to the user's command.

    `tell` and `close` never raise, because the commits are already durable.
    """

    def __init__(self, argv: Sequence[str], *, observe: Observer = silent) -> None:
        self._argv = tuple(argv)
        self._observe = observe
        self._changed = threading.Condition()
        self._newest: bytes | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def require(self, note: bytes) -> None:
        """Send a head and wait for the command. Raise EnvironmentUnfit when the command fails."""
        problem = self._run(note)
        if problem is not None:
            raise EnvironmentUnfit(problem, cure=CURE)

    def tell(self, note: bytes) -> None:
        """Send a head from the background thread. A newer head that arrives first replaces it."""
        with self._changed:
            self._newest = note
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="blendwright-audit-head", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Send the newest head and end the thread. A second call does nothing."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(2 * SECONDS + PAUSE_SECONDS)

    def _follow(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._newest is not None or self._closed)
                note, self._newest = self._newest, None
            if note is None:
                return
            problem = self._run(note)
            if problem is not None:
                self._observe(Remark(problem))
            with self._changed:
                self._changed.wait_for(lambda: self._closed, PAUSE_SECONDS)

    def _run(self, note: bytes) -> str | None:
        """Run the command with a note on its input. Return a sentence about the failure, or None."""
        action = f"telling the head of the audit chain to {self._argv[0]}"
        try:
            process = subprocess.run(
                self._argv,
                input=note.strip() + b"\n",
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
                check=False,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            return f"{action}: it did not end within {SECONDS:g} s"
        except (OSError, ValueError) as error:
            return f"{action}: {getattr(error, 'strerror', None) or error}"
        if process.returncode == 0:
            return None
        return f"{action}: it ended with exit code {process.returncode}"
