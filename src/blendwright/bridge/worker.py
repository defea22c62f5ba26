"""A connection of the core to one worker process, with control over the process.

A worker's memory is only a cache. Therefore every doubt about a worker ends the same way: SIGKILL, and the waiting calls fail.
"""

from __future__ import annotations

import os
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from blendwright.bridge import exit_diagnosis
from blendwright.bridge.connection import Connection, fail
from blendwright.bridge.send_queue import SendQueue
from blendwright.bridge.spawn import Child
from blendwright.util.directory_removal import remove_directory
from blendwright.values.errors import ProtocolBreach, WorkerError


class WorkerProcess(Connection):
    """A worker that is a child process. It is also its `ChildProcess`. Thread-safe."""

    def __init__(self, child: Child) -> None:
        super().__init__(child.read_fd, SendQueue(child.write_fd))
        self._child = child
        self._killed_because: str | None = None
        self._condemned: dict[Future[Any], WorkerError] = {}
        self._reader = self.start_reading(f"blendwright-worker-{self.pid}")

    def greet(self, timeout: float) -> None:
        """Exchange the handshake. Call this once before anything else. On failure, close the worker and raise EnvironmentUnfit."""
        try:
            self.exchange_hello(timeout)
        except WorkerError as error:
            tail = exit_diagnosis.log_tail(self._child.log)
            self.close(0.0)
            raise exit_diagnosis.start_failed(error, tail) from error
        except (ValueError, KeyError, TypeError) as error:
            self.close(0.0)
            raise exit_diagnosis.start_failed(
                ProtocolBreach(f"the worker sent an invalid hello: {error}"), []
            ) from error

    @property
    def process(self) -> WorkerProcess:
        return self

    @property
    def pid(self) -> int:
        return self._child.process.pid

    @property
    def scratch(self) -> Path:
        return self._child.scratch

    @property
    def scratch_mb(self) -> int:
        return self._child.scratch_mb

    @property
    def alive(self) -> bool:
        """True until the worker ends or the core kills it."""
        return self._end is None and self._killed_because is None

    def log_tail(self) -> list[str]:
        """Return the last lines that the worker and its Blender wrote."""
        return exit_diagnosis.log_tail(self._child.log)

    def kill(self) -> None:
        """End the process by SIGKILL. Waiting calls fail with WorkerLost."""
        self._kill("killed by the core")

    def abandon(self) -> None:
        """Give up the worker by killing it."""
        self.kill()

    def close(self, timeout: float = 1.0) -> None:
        """Let the worker end, kill it after `timeout` seconds, and remove its scratch directory. A second call does nothing."""
        self._sending.close()
        self._reader.join(timeout)
        if self._reader.is_alive():
            self.kill()
            self._reader.join()
        remove_directory(self.scratch)

    def _kill(self, reason: str) -> None:
        if self._killed_because is None:
            self._killed_because = reason
        self._child.process.kill()

    def _give_up(self, future: Future[Any], error: WorkerError) -> None:
        """Kill the worker because of one call. That call fails with `error`, all other calls with WorkerLost."""
        with self._lock:
            if future.done():
                return
            # Store the error before the kill. The reader notices the death first and must give this call its specific error.
            self._condemned[future] = error
        self._kill(error.message)
        fail(future, error)

    def _stream_ended(self, breach: ProtocolBreach | None) -> WorkerError:
        # Without a breach the process is already exiting, and the signal cannot change its exit status.
        # The signal only ends a worker that closed its pipe and continues to run.
        if breach is not None:
            self._kill(breach.message)
        self._child.process.kill()
        status = self._child.process.wait()
        if self._child.lifeline_fd is not None:
            os.close(self._child.lifeline_fd)
        log = exit_diagnosis.log_tail(self._child.log)
        return breach or exit_diagnosis.worker_lost(self.pid, status, log, self._killed_because)

    def _error_for(self, future: Future[Any], end: WorkerError) -> WorkerError:
        return self._condemned.get(future, end)
