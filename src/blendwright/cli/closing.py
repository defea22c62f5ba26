"""How a geonodes plan ended, for people: its gates, whether done was accepted, and its own last words."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from blendwright.cli.output import console

ENDINGS = {"done": ("done", "bold green"), "continue": ("asks for another round", "bold yellow")}


def show_closing(result: dict[str, Any] | None) -> None:
    """Nothing for a plan that is too broken to have a result."""
    if result is None:
        return
    out, gates = console(), result["gates"]
    if gates["success"]:
        out.print(Text("gates passed", style="green"))
    elif gates["failed_gates"]:
        for gate, message in zip(gates["failed_gates"], gates["messages"], strict=True):
            out.print(
                Text(f"{gate} ", style="bold red" if result["gates_required"] else "yellow").append(message, "default")
            )
    else:
        out.print(Text(" ".join(gates["messages"]), style="yellow"))
    if result["status"] in ENDINGS:
        word, style = ENDINGS[result["status"]]
        out.print(Text(word, style=style).append(f": {result['final_message']}", style="default"))
    else:
        out.print(Text("done is not accepted", style="bold red"))
