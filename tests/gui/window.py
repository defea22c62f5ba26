"""A Blender with a window on a virtual screen, driven as a person drives it: by keys and by the mouse."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from gui.pictures import save_png
from gui.root import Root

WIDTH, HEIGHT = 1280, 800
LOOKING = Path(__file__).with_name("looking.py")
# Software GL on a busy machine: a start takes 5 to 40 seconds, a redraw up to one.
PATIENCE = 120.0


class WindowFault(AssertionError):
    """The window did not do what the test needs; the message holds what Blender printed."""


@dataclass
class Window:
    """Without a window manager keys go to the editor under the pointer: it rests over the 3D view until `click` or `point` moves it."""

    root: Root
    arguments: Sequence[str] = ()
    """More arguments of Blender, such as a file to open."""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    factory: bool = True
    """Without the person's preferences, and so without extensions that were installed."""

    def __post_init__(self) -> None:
        number = len(list(self.root.place.glob("window*.log")))
        self.log = self.root.place / f"window{number}.log"
        self._socket = self.root.place / f"look{number}"
        self._screen = self.root.place / f"screen{number}"
        self._screen.mkdir()
        self._server, self.display = self._start_server()
        try:
            self.process = self._start_blender()
            self._wait_until_drawn()
        except BaseException:
            self.kill()
            raise

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    # What a person does.

    def keys(self, *keys: str) -> None:
        """Keys in a row, by their X names, each pressed and released: `keys("g", "x", "2", "Return")`, `keys("ctrl+z")`."""
        self._xdotool("key", "--delay", "60", *keys)

    def type(self, text: str) -> None:
        self._xdotool("type", "--delay", "60", text)

    def point(self, x: int, y: int) -> None:
        """From the left upper corner of the window."""
        # Blender learns of the editor under the pointer by a movement, and a pointer that stays makes none.
        self._xdotool("mousemove", str(x - 1), str(y), "mousemove", str(x), str(y))

    def click(self, x: int, y: int, button: int = 1) -> None:
        self.point(x, y)
        self._xdotool("click", str(button))

    def point_at_view(self) -> None:
        x, y, width, height = self.python(
            "r = bpy.context.region; [r.x, bpy.context.window.height - r.y - r.height, r.width, r.height]"
        )
        self.point(x + width // 2, y + height // 2)

    # What a test sees.

    def picture(self, path: Path, *, settled: bool = True) -> Path:
        """The whole window as a PNG, once it shows what was done."""
        path.parent.mkdir(parents=True, exist_ok=True)
        save_png(self.settle() if settled else self._read_screen(), path)
        return path

    def python(self, code: str) -> Any:
        """The value of the last expression, as JSON holds it, in Blender's main thread. To look and to set the stage; the story is keys."""
        deadline = time.monotonic() + PATIENCE
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            while True:
                try:
                    connection.connect(str(self._socket))
                    break
                except (FileNotFoundError, ConnectionRefusedError):
                    self._pause(deadline, "it does not listen")
            with connection.makefile("rwb") as stream:
                question = code.encode()
                stream.write(b"%d\n%s" % (len(question), question))
                try:
                    stream.flush()
                    line = stream.readline()
                except OSError as error:
                    raise self._fault(f"it gave no answer to {code!r} ({error})") from error
        if not line:
            raise self._fault(f"it ended while it was asked {code!r}")
        answer = json.loads(line)
        if "error" in answer:
            raise WindowFault(answer["error"])
        return answer["value"]

    def until(self, code: str, wanted: Any = True) -> Any:
        """Asks until the answer is `wanted`: keys are taken in Blender's own time."""
        deadline = time.monotonic() + PATIENCE
        while (value := self.python(code)) != wanted:
            self._pause(deadline, f"{code} is {value!r} and not {wanted!r}")
        return value

    def settle(self) -> bytes:
        """Waits until the window shows what was done, and returns its pixels. A popup takes letters only once it is drawn."""
        # What Blender drew waits in its own queue until its next round, and then for the server.
        screen = b""
        for _ in range(20):
            self.python("None")
            self.python("None")
            self._xdotool("getmouselocation")
            former, screen = screen, self._read_screen()
            if screen == former:
                break
            time.sleep(0.2)
        return screen

    # Its end.

    def kill(self) -> None:
        """As kill -9 of Blender does; its screen goes with it."""
        for process in (getattr(self, "process", None), self._server):
            if process is not None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                process.wait()

    def close(self) -> None:
        """Quits without saving, or is killed if it does not come to that."""
        if self.alive:
            with contextlib.suppress(WindowFault):
                self.python("bpy.app.timers.register(lambda: bpy.ops.wm.quit_blender() and None)")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(60)
        self.kill()

    # How it starts.

    def _start_server(self) -> tuple[subprocess.Popen[bytes], str]:
        reading, writing = os.pipe()
        with os.fdopen(reading) as number:
            try:
                server = self.root.start(
                    [
                        *("Xvfb", "-displayfd", str(writing), "-screen", "0", f"{WIDTH}x{HEIGHT}x24"),
                        *("-fbdir", self._screen, "-nolisten", "tcp", "-ac", "-noreset"),
                    ],
                    keep_open=[writing],
                )
            finally:
                os.close(writing)
            display = number.readline().strip()
        if not display:
            server.kill()
            server.wait()
            raise WindowFault("Xvfb did not start")
        return server, f":{display}"

    def _start_blender(self) -> subprocess.Popen[bytes]:
        with self.log.open("wb") as output:
            return self.root.start(
                [
                    *("blender", *(["--factory-startup"] if self.factory else [])),
                    *("--window-geometry", "0", "0", str(WIDTH), str(HEIGHT)),
                    *self.arguments,
                    *("--python", str(LOOKING)),
                ],
                environment={"DISPLAY": self.display, "BLENDWRIGHT_GUI_SOCKET": str(self._socket), **self.environment},
                output=output,
            )

    def _wait_until_drawn(self) -> None:
        self.until("bpy.context.region.width > 100")
        self.point_at_view()

    def _read_screen(self) -> bytes:
        return (self._screen / "Xvfb_screen0").read_bytes()

    def _xdotool(self, *arguments: str) -> None:
        self.root.run(["xdotool", *arguments], environment={"DISPLAY": self.display})

    def _pause(self, deadline: float, problem: str) -> None:
        if not self.alive:
            raise self._fault(f"it ended with {self.process.returncode}")
        if time.monotonic() > deadline:
            raise self._fault(problem)
        time.sleep(0.1)

    def _fault(self, problem: str) -> WindowFault:
        printed = self.log.read_text(errors="replace")[-2000:]
        return WindowFault(f"the Blender of {self.root.suite}: {problem}\nBlender printed:\n{printed}")


class OpenWindow(Protocol):
    """The fixture `open_window`: a window of the test's root, which is closed when the test ends."""

    def __call__(
        self, *arguments: str, environment: Mapping[str, str] | None = None, factory: bool = True
    ) -> Window: ...
