"""A command of the user's that is told the head of the audit chain, so that it is known outside this machine as well.

It is started without a shell, gets the note as one line of JSON, and has a limited time. The first head is told before anything else
happens: a command that does not work is noticed on opening. Later ones are told in a thread, the newest only, so that no commit waits
and a failure is told to observers. What was told can be given to `blendwright audit verify --known`.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence

from blendwright.values.errors import EnvironmentUnfit
from blendwright.values.events import Observer, Remark, silent

SECONDS = 10.0
# Between two heads: a long run has a new one many times a second.
PAUSE_SECONDS = 1.0
CURE = "Try it by hand with a line of text on its input, or correct audit_heads_command under [journal] in your own blendwright.toml."


class HeadCommand:
    """`tell` and `close` never fail: what is committed is committed, whatever becomes of the command."""

    def __init__(self, argv: Sequence[str], *, observe: Observer = silent) -> None:
        self._argv = tuple(argv)
        self._observe = observe
        self._changed = threading.Condition()
        self._newest: bytes | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def require(self, note: bytes) -> None:
        """Tell a head now. Raises EnvironmentUnfit where that fails."""
        problem = self._run(note)
        if problem is not None:
            raise EnvironmentUnfit(problem, cure=CURE)

    def tell(self, note: bytes) -> None:
        """Tell a head soon, unless a newer one comes before."""
        with self._changed:
            self._newest = note
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="blendwright-audit-head", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Tell the newest head, and end. A second time does nothing."""
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
        """What went wrong, if anything did."""
        doing = f"telling the head of the audit chain to {self._argv[0]}"
        try:
            done = subprocess.run(
                self._argv,
                input=note.strip() + b"\n",
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
                check=False,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            return f"{doing}: it did not end within {SECONDS:g} s"
        except (OSError, ValueError) as error:
            return f"{doing}: {getattr(error, 'strerror', None) or error}"
        if done.returncode == 0:
            return None
        return f"{doing}: it ended with exit code {done.returncode}"
