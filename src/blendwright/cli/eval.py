"""blendwright eval: a folder of requests through a planner, and how many of them came out as expected."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from blendwright.cli.approver import approver
from blendwright.cli.ask import Attempts, BaseUrl, Model, ProviderName, Seconds, Tokens, chosen
from blendwright.cli.options import AsJson, Blender
from blendwright.cli.output import Exit, notes, present
from blendwright.cli.plan_input import stops_on_interrupt
from blendwright.cli.safe_console import SafeConsole
from blendwright.cli.session import open_session
from blendwright.planner.budget import Budget
from blendwright.planner.evaluation import Evaluation, EvaluationResult, evaluate, read_requests
from blendwright.values.cancel import CancelToken
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault


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
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no request {', '.join(missing)}", f"Look into {folder}.")
    requests = tuple(request for request in requests if not only or request.name in only)
    planner = chosen(provider, model, base_url)
    cancel = CancelToken()

    def show_result(result: EvaluationResult) -> None:
        if not json:
            label, style = ("ok    ", "green") if result.ok else ("failed", "red")
            notes().labelled(label, result.name, style)

    with (
        tempfile.TemporaryDirectory(prefix="blendwright-eval-") as directory,
        stops_on_interrupt(cancel),
        # In a workspace that is thrown away nobody needs to be asked about what is deleted.
        open_session(directory, blender=blender, approver=approver(["destructive"])) as opened,
    ):
        budget = Budget(attempts=attempts, tokens=tokens, seconds=seconds)
        measured = evaluate(opened, planner, requests, budget=budget, on_result=show_result, cancel=cancel)
    return present(
        json,
        lambda: {"ok": measured.success_rate >= least, "provider": provider, **measured.to_json()},
        lambda out: _show(out, measured),
        _exit_code(measured, least, interrupted=cancel.cancelled),
    )


def _exit_code(measured: Evaluation, least: float, *, interrupted: bool) -> Exit:
    if interrupted:
        return Exit.INTERRUPTED
    if all(result.run.ending == "service" for result in measured.results):
        return Exit.UNFIT
    return Exit.DONE if measured.success_rate >= least else Exit.FAILED


def _show(out: SafeConsole, measured: Evaluation) -> None:
    rows = [
        (
            result.name, ("✓", "green") if result.ok else ("✗", "red"), str(result.run.attempts),
            str(result.run.usage.total), f"{result.run.seconds:.1f}",
            "; ".join(result.unmet) or ("" if result.ok else result.run.reason),
        )
        for result in measured.results
    ]  # fmt: skip
    out.columns(rows, headers=("request", "", "attempts", "tokens", "s", "why not"))
    totals = measured.to_json()
    out.show(
        f"{totals['succeeded']} of {totals['requests']} ({totals['success_rate']:.0%}), {totals['right_at_first']} at first, "
        f"{totals['attempts']} attempts, {totals['tokens']} tokens, {totals['seconds']:.1f} s with {measured.model}"
    )
