"""The commands ask and eval: carry out a request in words with a model's plans, or measure a planner with many
requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
import tempfile
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from rich.status import Status
from rich.text import Text
from rich.tree import Tree

from blendwright.cli.approvals import approver, read_line
from blendwright.cli.options import Approve, AsJson, Attach, Blender, Image, Scene, Workspace
from blendwright.cli.output import (
    Exit,
    SafeConsole,
    note_outcome,
    note_remarks,
    notes,
    present,
    print_json,
    show_difference,
)
from blendwright.cli.progress import Pausable
from blendwright.cli.proposal import at_a_terminal
from blendwright.cli.session import open_session, stops_on_interrupt
from blendwright.planner.answers import AttemptFailure, PlanProposal
from blendwright.planner.budget import Budget, Price
from blendwright.planner.evaluation import Evaluation, EvaluationResult, evaluate, read_requests
from blendwright.planner.loop import PlannerObserver, PlannerRun, approve_all
from blendwright.planner.plannable import PlannableDialect
from blendwright.planner.port import KeyProblem, PlannerError
from blendwright.planner.prompt import build_first_request
from blendwright.planner.providers import Provider, create_planner
from blendwright.planner.result import PlannerResult
from blendwright.policy.redaction import redacted
from blendwright.records.results import Preview
from blendwright.util.cancel import CancelToken
from blendwright.values.errors import EnvironmentUnfit, Refusal
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Operation, Plan
from blendwright.values.report import OperationReport
from blendwright.views.export import render_picture

# Seconds to wait for a person's answer, so that a person who left finds the plan still waiting.
ANSWER_SECONDS = 24 * 3600.0
EXITS = {
    "done": Exit.DONE,
    "proposed": Exit.DONE,
    "declined": Exit.REFUSED,
    "gave_up": Exit.FAILED,
    "failed": Exit.FAILED,
    "service": Exit.UNFIT,
    "interrupted": Exit.INTERRUPTED,
}

Attempts = Annotated[
    int, typer.Option("--attempts", metavar="N", help="Number of plans that the model may try.", min=1, max=20)
]
ProviderName = Annotated[Provider, typer.Option("--provider", help="Provider of the model.")]
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help="Name of the provider's model.")]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Address of another service, such as a local one.")
]
Tokens = Annotated[int, typer.Option("--tokens", metavar="N", help="Token limit of all attempts together.", min=1000)]
Seconds = Annotated[float, typer.Option("--seconds", metavar="N", help="Time limit of the whole run.", min=1.0)]
# Limits of the displayed plan: characters of a value, arguments of an operation, and operations.
MAX_VALUE_CHARACTERS = 60
MAX_ARGUMENTS = 8
MAX_OPERATIONS = 200


def ask(
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="Description of the wanted scene, in words.")],
    workspace: Workspace = ".blendwright",
    scene: Scene = None,
    blender: Blender = None,
    attach: Attach = None,
    dialect: Annotated[PlannableDialect, typer.Option("--dialect", help="Dialect of the model's plan.")] = "operations",
    provider: ProviderName = "gemini",
    model: Model = None,
    base_url: BaseUrl = None,
    attempts: Attempts = 4,
    tokens: Tokens = 400_000,
    seconds: Seconds = 900.0,
    cost: Annotated[
        float | None, typer.Option("--cost", metavar="N", help="Stop at this cost; needs --price.", min=0.0)
    ] = None,
    price: Annotated[
        str | None, typer.Option("--price", metavar="IN,OUT", help="Price of a million tokens, for --cost.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Plan and preview; change nothing.")] = False,
    skip_preview: Annotated[bool, typer.Option("--no-preview", help="Run plans without trying them first.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Run the plan without asking.")] = False,
    image: Image = None,
    approve: Approve = None,
    json: AsJson = False,
) -> int:
    """Let a model plan your request, preview the plan, and run it after your approval."""
    if not request.strip():
        raise Refusal.of(Fault.SCHEMA_INVALID, "the request is empty", "Describe the scene that you want.")
    planner = chosen(provider, model, base_url)
    if not yes and not dry_run and not at_a_terminal():
        cure = "Use --yes to run the plan without a question, or --dry-run to only see it."
        raise Refusal.of(Fault.SCHEMA_INVALID, "there is no terminal for asking whether the plan may run", cure)
    budget = Budget(attempts, tokens, seconds, cost, _price(price, cost))
    cancel, screen = CancelToken(), PlannerProgress(quiet=json)
    preview_image = None
    if dry_run:
        preview_image = image
    elif image is not None and not skip_preview:
        preview_image = _preview_path(image)
    picture: Outcome | None = None

    def question(proposal: PlanProposal, shown: Preview | None) -> bool:
        with screen.pause():
            notes().show("Run this plan? [y/N] ", "bold", end="")
            line = read_line(time.time() + ANSWER_SECONDS, cancel)
        return line is not None and line.strip().casefold() in ("y", "yes")

    approve_plan = question
    if yes:
        approve_plan = approve_all
    with (
        stops_on_interrupt(cancel),
        open_session(
            workspace, scene=scene, blender=blender, approver=approver(approve, screen.pause), attach=attach
        ) as opened,
    ):
        if image is not None and not dry_run:
            problems = opened.target_findings(image)
            if problems:
                raise Refusal(problems)
        screen.redact = opened.terms.audit.redact
        request_id = f"ask-{secrets.token_hex(6)}"
        with screen.busy("looking at the scene"):
            first = build_first_request(opened, request, dialect, request_id)
        planner_run = PlannerRun(
            opened, planner, first, request_id, budget=budget, preview=not skip_preview, dry_run=dry_run,
            image=preview_image, approve=approve_plan, observer=screen, cancel=cancel,
        )  # fmt: skip
        with screen.busy("asking"):
            result = asyncio.run(planner_run.run())
        if result.ending == "done" and image is not None:
            picture = render_picture(opened, image, cancel)
    if json:
        print_json(result.to_json())
    else:
        screen.show_result(result)
    if picture is not None:
        note_outcome(picture)
    return EXITS[result.ending]


def chosen(provider: Provider, model: str | None, base_url: str | None) -> Any:
    """Return the planner. Raise EnvironmentUnfit, with the fix, if its key is missing or invalid."""
    try:
        return create_planner(provider, model=model, base_url=base_url)
    except KeyProblem as error:
        raise EnvironmentUnfit(error.message, cure=error.cure) from error


class PlannerProgress(Pausable, PlannerObserver):
    """Progress messages on standard error. A changing line appears only on a terminal; with `quiet`, nothing appears."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__()
        self.out = notes()
        self.redact: Sequence[str] = ()
        self._quiet = quiet
        self._status: Status | None = None

    @contextlib.contextmanager
    def busy(self, activity: str) -> Generator[None]:
        if self._quiet or not self.out.is_terminal:
            yield
            return
        with Status(Text(activity), console=self.out.drawing) as status:
            self._status = self.live = status
            try:
                yield
            finally:
                self._status = self.live = None

    def _now(self, activity: str) -> None:
        if self._status is not None:
            self._status.update(Text(activity))

    def _label(self, label: str, text: str, style: str) -> None:
        if not self._quiet:
            self.out.labelled(label, text, style)

    def requesting(self, attempt: int, attempts: int) -> None:
        self._now(f"asking the model (attempt {attempt} of {attempts})")

    def service_failed(self, error: PlannerError, wait: float | None) -> None:
        message = error.message
        if wait is not None:
            message += f"; next try in {wait:g} s"
        self._label("service:", message, "bold yellow")

    def planned(self, proposal: PlanProposal) -> None:
        if not self._quiet:
            title = f"plan with {len(proposal.plan.operations)} operations"
            self.out.print(plan_tree(proposal.plan, title, self.redact))

    def previewing(self) -> None:
        self._now("trying it on a copy")

    def previewed(self, preview: Preview) -> None:
        if self._quiet:
            return
        self.out.show("It would", "bold")
        show_difference(preview.differences.difference, self.out)
        if preview.picture is not None:
            for artifact in preview.picture.artifacts:
                self.out.show(f"wrote {artifact}")
        note_remarks(preview.picture_notes)

    def executing(self, proposal: PlanProposal) -> None:
        self._now("running the plan")

    def progressed(self, report: OperationReport) -> None:
        self._now(f"{report.operation_id} {report.tool}"[:60])

    def attempt_failed(self, failure: AttemptFailure) -> None:
        self._label(f"{failure.stage}:", failure.message, "bold red")

    def show_result(self, result: PlannerResult) -> None:
        reason = ""
        if result.reason:
            reason = f"{result.reason.removesuffix('.')}. "
        attempts = f"{result.attempts} attempts"
        if result.attempts == 1:
            attempts = "1 attempt"
        counts = f"{attempts}, {result.usage.total} tokens, {result.seconds:.1f} s"
        style = "bold red"
        if result.ok:
            style = "bold green"
        self.out.labelled(result.ending.replace("_", " "), reason + counts, style)
        if result.error is not None and result.error.cure:
            self.out.show(f"  {result.error.cure}")
        self.out.show(f"  what happened: blendwright log --request {result.request_id}", "dim")


def _price(text: str | None, cost: float | None) -> Price:
    if text is None:
        if cost is not None:
            cure = "Add --price IN,OUT, each for a million tokens."
            raise Refusal.of(Fault.SCHEMA_INVALID, "--cost needs the price of tokens", cure)
        return Price()
    try:
        prompt, output = (float(part) for part in text.split(","))
    except ValueError:
        prompt = output = math.nan
    if not all(math.isfinite(number) and number >= 0 for number in (prompt, output)):
        raise Refusal.of(Fault.SCHEMA_INVALID, f"'{text}' is not a price", "Give two numbers: --price 0.3,2.5")
    return Price(prompt, output)


def _preview_path(image: Path) -> Path:
    """Return the path of the preview's picture, next to that of the result."""
    return image.with_name(f"{image.stem}.preview{image.suffix or '.png'}")


def plan_tree(plan: Plan, title: str, redact: Sequence[str] = ()) -> Tree:
    """Return a tree with each operation under its last dependency, and with redacted arguments."""
    tree = Tree(Text(title, style="bold"))
    shown = plan.operations[:MAX_OPERATIONS]
    branches: dict[str, Tree] = {}
    waiting = list(shown)
    while waiting:
        # In a valid plan, an operation is always ready. In an unchecked plan, the remaining ones go to the root.
        ready = [operation for operation in waiting if _is_ready(operation, branches, waiting)] or waiting
        for operation in ready:
            parent = tree
            for id in operation.depends_on:
                parent = branches.get(id, parent)
            branches[operation.id] = parent.add(_label(operation, redact))
        waiting = [operation for operation in waiting if operation not in ready]
    if len(plan.operations) > len(shown):
        tree.add(Text(f"and {len(plan.operations) - len(shown)} more", style="dim"))
    return tree


def _is_ready(operation: Operation, branches: dict[str, Tree], waiting: list[Operation]) -> bool:
    waiting_ids = {remaining.id for remaining in waiting}
    return all(id in branches or id not in waiting_ids for id in operation.depends_on)


def _label(operation: Operation, redact: Sequence[str]) -> Text:
    label = Text(operation.id, style="bold").append(f"  {operation.tool}", style="cyan")
    if operation.safety_level == "destructive":
        label.append("  destructive", style="bold red")
    args = list(redacted(operation.args, redact).items())
    for key, value in args[:MAX_ARGUMENTS]:
        label.append(f"\n  {key}: ", style="dim").append(_short(value), style="default")
    if len(args) > MAX_ARGUMENTS:
        label.append(f"\n  and {len(args) - MAX_ARGUMENTS} more", style="dim")
    return label


def _short(value: Any) -> str:
    # JSON escapes control characters of names, which must not reach the terminal.
    text = orjson.dumps(value).decode()
    if len(text) <= MAX_VALUE_CHARACTERS:
        return text
    return text[: MAX_VALUE_CHARACTERS - 1] + "…"


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
        float,
        typer.Option("--least", metavar="N", help="Exit with 1 if a smaller fraction succeeds.", min=0.0, max=1.0),
    ] = 1.0,
    json: AsJson = False,
) -> int:
    """Measure a planner: success rate, attempts, tokens and time over a folder of requests."""
    requests = read_requests(folder)
    missing = sorted(set(only or ()) - {request.name for request in requests})
    if missing:
        raise Refusal.of(Fault.TARGET_NOT_FOUND, f"there is no request {', '.join(missing)}", f"See {folder}.")
    requests = tuple(request for request in requests if not only or request.name in only)
    planner = chosen(provider, model, base_url)
    cancel = CancelToken()

    def show_result(result: EvaluationResult) -> None:
        if not json:
            if result.ok:
                notes().labelled("ok    ", result.name, "green")
            else:
                notes().labelled("failed", result.name, "red")

    with (
        tempfile.TemporaryDirectory(prefix="blendwright-eval-") as directory,
        stops_on_interrupt(cancel),
        # Deleting in a temporary workspace needs no approval.
        open_session(directory, blender=blender, approver=approver(["destructive"])) as opened,
    ):
        budget = Budget(attempts=attempts, tokens=tokens, seconds=seconds)
        measured = evaluate(opened, planner, requests, budget=budget, on_result=show_result, cancel=cancel)
    return present(
        json,
        lambda: {"ok": measured.success_rate >= least, "provider": provider, **measured.to_json()},
        lambda out: _show_evaluation(out, measured),
        _exit_code(measured, least, interrupted=cancel.cancelled),
    )


def _exit_code(measured: Evaluation, least: float, *, interrupted: bool) -> Exit:
    if interrupted:
        return Exit.INTERRUPTED
    if all(result.run.ending == "service" for result in measured.results):
        return Exit.UNFIT
    if measured.success_rate >= least:
        return Exit.DONE
    return Exit.FAILED


def _show_evaluation(out: SafeConsole, measured: Evaluation) -> None:
    rows: list[tuple[str | tuple[str, str], ...]] = []
    for result in measured.results:
        mark, problems = ("✓", "green"), "; ".join(result.unmet)
        if not result.ok:
            mark, problems = ("✗", "red"), problems or result.run.reason
        run = result.run
        rows.append((result.name, mark, str(run.attempts), str(run.usage.total), f"{run.seconds:.1f}", problems))
    out.columns(rows, headers=("request", "", "attempts", "tokens", "s", "why not"))
    totals = measured.to_json()
    out.show(
        f"{totals['succeeded']} of {totals['requests']} ({totals['success_rate']:.0%}), {totals['right_at_first']} at first, "
        f"{totals['attempts']} attempts, {totals['tokens']} tokens, {totals['seconds']:.1f} s with {measured.model}"
    )
