"""Runs inside the Blender of a test: answers what a test asks about its state, one question per connection, in Blender's main thread.

Blender runs this file with --python; the name of the socket is in BLENDWRIGHT_GUI_SOCKET. A question is Python code; the answer is the
value of its last expression as JSON, or the error.
"""

from __future__ import annotations

import ast
import json
import os
import socket
import traceback
from typing import Any

import bpy

INTERVAL = 0.02


def answer(code: str) -> dict[str, Any]:
    try:
        return {"value": value(code)}
    except Exception:
        return {"error": traceback.format_exc()}


def value(code: str) -> Any:
    tree = ast.parse(code)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    names: dict[str, Any] = {"bpy": bpy}
    # A timer has no window: without one there is no active object, and few operators run.
    window = bpy.context.window_manager.windows[0]
    area = max(window.screen.areas, key=lambda area: (area.type == "VIEW_3D", area.width * area.height))
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        exec(compile(tree, "<question>", "exec"), names)
        if not isinstance(last, ast.Expr):
            return None
        result = eval(compile(ast.Expression(last.value), "<question>", "eval"), names)
        return json.loads(json.dumps(result, default=plain))


def plain(thing: Any) -> Any:
    """Vectors, colours and sets are lists; what is left is its text."""
    try:
        return list(thing)
    except TypeError:
        return str(thing)


def listen() -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.environ["BLENDWRIGHT_GUI_SOCKET"])
    listener.listen()
    listener.setblocking(False)

    def look() -> float:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            return INTERVAL
        with connection:
            connection.settimeout(10)
            with connection.makefile("rwb") as stream:
                code = stream.read(int(stream.readline())).decode()
                stream.write(json.dumps(answer(code)).encode() + b"\n")
        return INTERVAL

    bpy.app.timers.register(look, persistent=True)


# The splash comes after this script, and would take the first key.
bpy.context.preferences.view.show_splash = False
listen()
