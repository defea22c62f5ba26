"""The screen of the window: redraws of the panel, and the progress of long work in Blender's status bar."""

from typing import Any

import bpy

from blendwright.blender.window import readiness
from blendwright.blender.window.status import Status

_data: Any = bpy.data


class Display:
    """The panel and status bar texts of one session. `clear` removes the text from the status bar."""

    def __init__(self, status: Status) -> None:
        self._status = status
        self._has_text = False
        _redraw_panels()

    def show(self, params: dict[str, Any]) -> dict[str, Any]:
        """Show the status that a core sent with `window.show`, and return the user's answers since the last call."""
        answers = self._status.show(params)
        if self._status.running:
            self._set_status_text(f"Blendwright: {self._status.activity()}")
            _redraw_panels()
        else:
            self.clear()
        return answers

    def clear(self) -> None:
        if self._has_text:
            self._set_status_text(None)
        _redraw_panels()

    def _set_status_text(self, text: str | None) -> None:
        self._has_text = text is not None
        for workspace in _data.workspaces:
            workspace.status_text_set(text)


def _redraw_panels() -> None:
    for window in readiness.windows():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI":
                        region.tag_redraw()
