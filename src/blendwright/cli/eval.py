"""blendwright eval: a folder of requests through a planner, and how many of them came out as expected."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

import blendwright
from blendwright.cli.ask import Attempts, BaseUrl, Model, ProviderName, Seconds, Tokens, chosen
from blendwright.cli.consent import approver, command_line
from blendwright.cli.output import AsJson, Blender, Columns, Exit, console, notes, print_json
from blendwright.cli.plan_input import stops_on_interrupt
from blendwright.planner.budget import Budget
from blendwright.planner.evaluation import Evaluation, EvaluationResult, evaluate, read_requests
from blendwright.run.history import refusal
from blendwright.values.cancel import CancelToken


def evaluation(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Requests with expectations, one *.json each.")],
    blender: Blender = None,
    provider: ProviderName = "gemini",
    model: Model = None,
    base_url: BaseUrl = None,
    attempts: Attempts = 4,
    tokens: Tokens = 400_000,
    seconds: Seconds = 900.0,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="Only this request; repeatable.")
    ] = None,
    least: Annotated[
        float, typer.Option("--least", min=0.0, max=1.0, help="End with 1 when fewer than this part succeed.")
    ] = 1.0,
    json: AsJson = False,
) -> int:
    """Measure a planner: success rate, attempts, tokens and time over a folder of requests."""
    requests = read_requests(folder)
    missing = sorted(set(only or ()) - {request.name for request in requests})
    if missing:
        raise refusal(f"there is no request {', '.join(missing)}", f"Look into {folder}.")
    requests = tuple(request for request in requests if not only or request.name in only)
    planner = chosen(provider, model, base_url)
    cancel = CancelToken()

    def show_result(result: EvaluationResult) -> None:
        if not json:
            word = Text("ok    " if result.ok else "failed", style="green" if result.ok else "red")
            notes().print(word.append(f" {result.name}", style="default"))

    with (
        tempfile.TemporaryDirectory(prefix="blendwright-eval-") as place,
        stops_on_interrupt(cancel),
        # In a workspace that is thrown away nobody needs to be asked about what is deleted.
        blendwright.open(
            place, blender=blender, spare=False, proposal=command_line(), approver=approver(["destructive"])
        ) as opened,
    ):
        limits = Budget(attempts=attempts, tokens=tokens, seconds=seconds)
        measured = evaluate(opened, planner, requests, budget=limits, on_result=show_result, cancel=cancel)
    if json:
        print_json({"ok": measured.success_rate >= least, "provider": provider, **measured.to_json()})
    else:
        _show(measured)
    if cancel.cancelled:
        return Exit.INTERRUPTED
    if all(result.run.ending == "service" for result in measured.results):
        return Exit.UNFIT
    return Exit.DONE if measured.success_rate >= least else Exit.FAILED


def _show(measured: Evaluation) -> None:
    out = console()
    table = Columns("request", "", "attempts", "tokens", "s", "why not")
    for result in measured.results:
        mark = Text("✓", style="green") if result.ok else Text("✗", style="red")
        why = "; ".join(result.unmet) or ("" if result.ok else result.run.reason)
        run = result.run
        table.row(Text(result.name), mark, str(run.attempts), str(run.usage.total), f"{run.seconds:.1f}", Text(why))
    out.print(table)
    totals = measured.to_json()
    out.print(
        Text(
            f"{totals['succeeded']} of {totals['requests']} ({totals['success_rate']:.0%}), {totals['right_at_first']} at first, "
            f"{totals['attempts']} attempts, {totals['tokens']} tokens, {totals['seconds']:.1f} s with {measured.model}"
        )
    )
