"""What changes on the screen besides the scene: the panel is drawn again, and long work is told in the status bar."""

from typing import Any

import bpy

from blendwright.blender.window import readiness
from blendwright.blender.window.status import Status

_data: Any = bpy.data


class Display:
    """Of one session; `clear` leaves the screen as it was."""

    def __init__(self, status: Status) -> None:
        self._status = status
        self._is_telling = False
        _redraw_panels()

    def show(self, params: dict[str, Any]) -> dict[str, Any]:
        """Answers `window.show`."""
        pressed = self._status.show(params)
        if self._status.running:
            self._tell(f"Blendwright: {self._status.activity()}")
            _redraw_panels()
        else:
            self.clear()
        return pressed

    def clear(self) -> None:
        if self._is_telling:
            self._tell(None)
        _redraw_panels()

    def _tell(self, text: str | None) -> None:
        self._is_telling = text is not None
        for workspace in _data.workspaces:
            workspace.status_text_set(text)


def _redraw_panels() -> None:
    for window in readiness.windows():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI":
                        region.tag_redraw()
