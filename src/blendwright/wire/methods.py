"""The methods of a worker's scene, each with its name, its request and its answer.

The core uses this list to call methods, the worker to provide them, and both to check what they receive. Nearly all
requests are steps.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from blendwright.values.findings import Finding
from blendwright.wire.file_facts import FileFacts
from blendwright.wire.shape_check import Check, shape


class StepRequest(TypedDict):
    """An operation to run inside Blender. Its arguments are canonical, because the core has checked them."""

    tool: str
    version: int
    args: Mapping[str, Any]
    # The `mcp_call_id`, which the worker writes into its log.
    call: NotRequired[str]
    # The locations at which the worker reads or writes the files of path arguments.
    files: NotRequired[Mapping[str, str]]
    # Run `verify` of a read-only tool too. Writing tools always verify.
    verify: NotRequired[bool]
    # Apply the step, revert it by this method and prove the reversal. Such a rehearsal leaves the scene unchanged.
    rehearse: NotRequired[str]
    # The deadline after which the core ends the worker. A tool that can return partial work does so before it.
    seconds: NotRequired[float]
    # The steps that a core sends without waiting share an epoch. After one of them fails, the worker refuses the rest.
    epoch: NotRequired[int]
    # Answer before reading the next request. Otherwise the worker may hash a kept step together with the following steps.
    prompt: NotRequired[bool]
    # The core discards this process and does not trust its scene, so the step captures no inverse and computes no hash.
    disposable: NotRequired[bool]
    # Compare the incremental hash with a full recomputation before answering.
    cross_check: NotRequired[bool]


class StepAnswer(TypedDict):
    """The outcome of a step."""

    ok: bool
    fault: str | None
    message: str
    findings: list[dict[str, Any]]
    result: dict[str, Any] | None
    changes: list[list[str]]
    before: str
    after: str
    # For a step that ran code: True if its file has the same content as before, including content that no hash covers.
    unchanged: NotRequired[bool]
    # The output of code that ended before it could answer.
    printed: NotRequired[str]
    # The method that reverted the step. None for a kept step; "failed" if the scene differs and the core must rebuild it.
    reverted_by: str | None
    artifacts: list[str]
    plan_ms: float | None
    execute_ms: float | None
    verify_ms: float | None


CHANGE_LENGTHS = frozenset(range(3, 8))
REVERT_FAILED = "failed"
# Fields that no worker may send, because only the core knows them.
ADDED_BY_CORE = frozenset({"unchanged", "printed"})
# The file in the scratch directory with the output of the code so far.
PRINTED_FILE = "printed.txt"
# The key, among the files of a request, of the directory for the frames of an animation. No argument names it.
FRAMES_DIRECTORY = ":frames"
# The error code of a step whose epoch ended with an earlier failure.
EPOCH_CLOSED = "epoch_closed"
# The error code for a scene that hides a driver outside of `animation_data.drivers`.
HIDDEN_DRIVER = "hidden_driver"


def is_consistent(answer: StepAnswer) -> bool:
    """Return whether the values of an answer agree with each other.

    A failed step has readable findings, a kept step has none, and each change has a valid length.
    """
    # The core reads the first finding of a failure, and keeps a step without findings.
    findings = answer["findings"]
    if answer["ok"] is bool(findings) or (findings and not all(map(_is_finding, findings))):
        return False
    # A change has a kind, a name and an outcome. A membership has two names; a linked datablock also has its libraries.
    return CHANGE_LENGTHS.issuperset(map(len, answer["changes"]))


def _is_finding(data: Any) -> bool:
    try:
        finding = Finding.from_json(data)
    except (KeyError, TypeError, ValueError, AttributeError):
        return False
    if type(finding.message) is not str or type(finding.pointer) is not str:
        return False
    optional_texts = (finding.cure, finding.rule)
    return all(type(text) in (str, type(None)) for text in optional_texts)


class BulkRequest(TypedDict):
    """Steps to run in this order in one request, until one fails or they take too long."""

    steps: list[StepRequest]
    # As for a single step. A bulk with unfinished steps also closes its epoch.
    epoch: int


class BulkAnswer(TypedDict):
    """The answers to all steps or to the first ones. Only the last one may have failed.

    If none failed and steps are left over, the run took long, and the core sends the rest again.
    """

    answers: list[StepAnswer]


class NoArguments(TypedDict):
    """The request of a method without arguments."""


class FileRequest(TypedDict):
    """A .blend file, as a path inside the worker's scratch."""

    path: str


class OpenRequest(FileRequest):
    """A file to open. Without `full` the worker computes no hash, and the hash in the answer is meaningless.

    `drop_unused` removes datablocks without users at once, which a window's file may have and the next saved file
    would lose.
    """

    full: NotRequired[bool]
    drop_unused: NotRequired[bool]


class SwapRequest(FileRequest):
    """A file to open in place of the scene, with `drop_unused` as for opening.

    `home` is the directory of the file that this one is a copy of. Paths in the hash are relative to it.
    """

    drop_unused: NotRequired[bool]
    home: NotRequired[str]


class SaveRequest(FileRequest):
    """A file to save to. Without `full` the answer has the incremental hash, not a full recomputation."""

    full: NotRequired[bool]


class ExportRequest(FileRequest):
    """A file to export to. With `keep_unused`, datablocks without users get a fake user, so that the file keeps them."""

    keep_unused: NotRequired[bool]


class HashRequest(TypedDict):
    """A request for the hash. With `full` the worker recomputes it."""

    full: NotRequired[bool]


class RelocateRequest(FileRequest):
    """The paths of external files to replace, and the file to save the scene to."""

    new_paths: Mapping[str, str]


class ContentRequest(FileRequest):
    """A file for the content of datablocks. `keys` selects them by kind and name; the default is all."""

    keys: NotRequired[list[list[str]]]


class ReadBackRequest(FileRequest):
    """An exported file with its format and purpose."""

    form: str
    profile: str


class ReadBackAnswer(TypedDict):
    facts: FileFacts


class SceneHash(TypedDict):
    """The fingerprint of the scene after the method."""

    hash: str


class RedoStep(TypedDict):
    """A committed step with the hash that it led to."""

    tool: str
    version: int
    args: Mapping[str, Any]
    after: str


class RedoRequest(TypedDict):
    """Steps to run again in this order, up to the first that leads to another hash."""

    steps: list[RedoStep]


class RedoAnswer(SceneHash):
    """The number of steps that led to the same hash as before, and the hash after the last step that ran."""

    redone: int
    message: str


class Script(TypedDict):
    """Code that a scene contains; see `tool_api.file_port.Carried`."""

    what: str
    kind: str
    name: str
    where: str


class ActiveItem(Script):
    """An item of a scene that runs automatically or names a file. The digest distinguishes contents under the same
    name.
    """

    digest: str


class ExternalPath(TypedDict):
    """A path as the scene stores it, with the datablock that stores it."""

    kind: str
    name: str
    path: str


class ExportAnswer(SceneHash):
    """The scripts that the export removed."""

    cleaned: list[Script]


class SwapAnswer(SceneHash):
    """The differences of the opened scene, and its active content."""

    changes: list[list[str]]
    active_content: list[ActiveItem]


class ContentAnswer(TypedDict):
    """The number of datablocks written."""

    blocks: int


class UnlistedAnswer(TypedDict):
    """Kind, name and digest of datablocks."""

    blocks: list[list[str]]


class ExternalFilesAnswer(TypedDict):
    paths: list[ExternalPath]


class ActiveContentAnswer(TypedDict):
    active_content: list[ActiveItem]


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A method that a worker answers."""

    name: str
    request_fits: Check
    """Checks the shape of a request."""
    answer_fits: Check
    """Checks the shape of an answer."""


def _method(name: str, request: type, answer: type) -> Method:
    return Method(f"scene.{name}", shape(request), shape(answer))


RESET = _method("reset", NoArguments, SceneHash)
OPEN = _method("open", OpenRequest, SceneHash)
SAVE = _method("save", SaveRequest, SceneHash)
EXPORT = _method("export", ExportRequest, ExportAnswer)
SWAP = _method("swap", SwapRequest, SwapAnswer)
HASH = _method("hash", HashRequest, SceneHash)
UNLISTED = _method("unlisted", NoArguments, UnlistedAnswer)
EXTERNAL_FILES = _method("external_files", NoArguments, ExternalFilesAnswer)
RELOCATE_FILES = _method("relocate_files", RelocateRequest, SceneHash)
ACTIVE_CONTENT = _method("active_content", NoArguments, ActiveContentAnswer)
CONTENT = _method("content", ContentRequest, ContentAnswer)
READ_BACK = _method("read_back", ReadBackRequest, ReadBackAnswer)
REDO = _method("redo", RedoRequest, RedoAnswer)
STEP = Method("scene.step", shape(StepRequest), shape(StepAnswer, without=ADDED_BY_CORE, is_sound=is_consistent))


def _is_bulk_answer(value: Any) -> bool:
    if value.__class__ is not dict or value.keys() != {"answers"}:
        return False
    answers = value["answers"]
    if answers.__class__ is not list or not answers or not all(map(STEP.answer_fits, answers)):
        return False
    return all(answer["ok"] for answer in answers[:-1])


BULK = Method("scene.bulk", shape(BulkRequest), _is_bulk_answer)

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *(
            RESET,
            OPEN,
            SAVE,
            EXPORT,
            SWAP,
            HASH,
            UNLISTED,
            EXTERNAL_FILES,
            RELOCATE_FILES,
            ACTIVE_CONTENT,
            CONTENT,
            READ_BACK,
            REDO,
            STEP,
            BULK,
        ),
    )
}
