"""The process of a `PlayedWindow`: Blender's wheel with the real extension in it, and lines on standard input for the person's hands.

    python played_process.py EXTENSION_PARENT WINDOWS PACKAGE [PACKAGES…]

A Blender without a screen has no timers, so the pump is called in a loop here. Each line is a JSON object with one deed; each answer is
a line of JSON on what was standard output. What Blender prints goes to standard error.
"""

import importlib
import json
import os
import queue
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

# What Windows lacks; with this variable the process pretends to lack it too.
ELSEWHERE = "BLENDWRIGHT_PLAYED_ELSEWHERE"
ONLY_POSIX = ("fcntl", "resource", "pwd", "grp", "termios")
ONLY_POSIX_SOCKETS = ("AF_UNIX", "MSG_DONTWAIT", "MSG_NOSIGNAL")
# The person's work and a core's requests take turns, as events and timers do in Blender's own loop.
LONGEST_PAUSE = 0.02


class Played:
    """The user's acts by name, in the process that plays the window."""

    def __init__(self, extension: Any, package: str, packages: list[str]) -> None:
        import bpy

        self._bpy: Any = bpy
        self.window = extension.this_window
        self._loader = importlib.import_module("blendwright_extension.package_loader")
        self._package, self._packages = package, packages
        self._names: dict[str, Any] = {"bpy": bpy, "session": lambda: self.window.session}
        self._next_answer = ""

    def do(self, code: str, push: bool = True) -> None:
        """Edit by hand, and push the undo step that Blender would push."""
        exec(code, self._names)
        if push:
            self._bpy.ops.ed.undo_push(message="by hand")

    def ask(self, expression: str) -> Any:
        return eval(expression, self._names)

    def undo(self) -> list[str]:
        return sorted(self._bpy.ops.ed.undo())

    def redo(self) -> list[str]:
        return sorted(self._bpy.ops.ed.redo())

    def mode(self, name: str, mode: str) -> None:
        self._bpy.context.view_layer.objects.active = self._bpy.data.objects[name]
        self._bpy.ops.object.mode_set(mode=mode)

    def save(self, path: str) -> None:
        """Save, as Ctrl-S does."""
        if path:
            self._bpy.ops.wm.save_as_mainfile(filepath=path)
        else:
            self._bpy.ops.wm.save_mainfile()

    def open(self, path: str) -> None:
        """Open another file, or without a name a new one, as Ctrl-N does."""
        if path:
            self._bpy.ops.wm.open_mainfile(filepath=path)
        else:
            self._bpy.ops.wm.read_homefile(use_factory_startup=True)
        self._bpy.ops.ed.undo_push(message="Original")

    def fingerprint(self) -> str:
        self._loader.load({"package": self._package, "packages": self._packages})
        state = importlib.import_module("blendwright.blender.window.scene_state").WindowState()
        return state.full_root()

    def use_extension(self, package: str) -> None:
        self.window = importlib.import_module(f"{package}.open_window").this_window

    def answer_next(self, answer: str) -> None:
        """Press a button as soon as the panel shows an approval."""
        self._next_answer = answer

    def press(self) -> None:
        session = self.window.session
        if self._next_answer and session is not None and session.status.approvals:
            session.status.answer(session.status.approvals[0]["id"], self._next_answer)
            self._next_answer = ""

    def rest(self, seconds: float) -> float:
        """Wait as Blender's event loop does: call the pump when it has asked for it, and do nothing else."""
        ends, before = time.monotonic() + seconds, time.process_time()
        while (left := ends - time.monotonic()) > 0:
            pump = self.window.pump
            time.sleep(left if pump is None else min(pump.tick(), left))
        return time.process_time() - before

    def disconnect(self) -> None:
        self.window.disconnect()

    def connect(self, path: str) -> None:
        self.window.connect(Path(path), timer=False)


def main(extension_parent: str, windows: str, package: str, *packages: str) -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # As in Blender's own Python: there a broken pipe ends the process.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    import bpy

    if os.environ.get(ELSEWHERE):
        sys.modules.update(dict.fromkeys(ONLY_POSIX))  # pyright: ignore[reportCallIssue, reportArgumentType]
        for name in ONLY_POSIX_SOCKETS:
            delattr(socket, name)
    sys.path.insert(0, extension_parent)
    extension: Any = importlib.import_module("blendwright_extension.open_window")
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    # A Blender with a screen does this by itself.
    bpy.ops.ed.undo_push(message="Original")
    played = Played(extension, package, list(packages))
    played.connect(windows)

    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    _say(answers, {"pid": os.getpid()})
    pause = 0.0
    while True:
        try:
            line = lines.get(timeout=pause) if pause else lines.get_nowait()
        except queue.Empty:
            played.press()
            pump = played.window.pump
            pause = LONGEST_PAUSE if pump is None else min(pump.tick(), LONGEST_PAUSE)
            continue
        if not line:
            played.disconnect()
            answers.flush()
            os._exit(0)  # Blender's own end is slow in the wheel
        deed: dict[str, Any] = json.loads(line)
        try:
            answer = {"answer": getattr(played, deed.pop("deed"))(**deed)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        _say(answers, answer)


def _say(answers: Any, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
