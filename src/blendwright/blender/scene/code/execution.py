"""Foreign code, run here and now: its output caught, its errors told with the line that raised them.

Holds nothing back by itself: whoever asks has chosen a process that may be lost, or a person has allowed the code.
"""

import contextlib
import io
import traceback
import warnings
from pathlib import Path

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.code.files import CodeFiles, render_outputs, restore_render_outputs, take_in_loaded_files
from blendwright.blender.scene.code.pinned_sources import pinned_sources
from blendwright.blender.scene.files.imported_blocks import pack_painted_images
from blendwright.blender.scene.reader import SceneReader
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.wire.methods import PRINTED_FILE

# How tracebacks call the code, instead of a file.
CODE = "<code>"
LONGEST_MESSAGE = 500
LONGEST_TAIL = 1000


class CodeExecution(SceneReader):
    """The part of the Scene port that runs code."""

    def run_code(self, code: str, most: int, seed: int) -> tuple[str, bool]:
        printed = _CappedOutput(most, self._outbox.with_name(PRINTED_FILE))
        files, outputs = CodeFiles(self._files), render_outputs()
        self._stale = True
        try:
            program = compile(code, CODE, "exec", dont_inherit=True)
            caught = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed)
            with pinned_sources(seed), caught[0], caught[1], warnings.catch_warnings():
                # What a later Blender will not have any more is no concern of code that is run once.
                warnings.simplefilter("ignore", DeprecationWarning)
                exec(program, {"__name__": "__main__", "files": files})
            self._state.reject_reserved_names()
        except BaseException as error:
            # An outermost place: code may raise anything, and SystemExit among it must not end the worker.
            raise _code_error(error, printed.text()) from None
        finally:
            printed.close()
        pack_painted_images("/code")
        if files:
            scratch = self._outbox.parent
            restore_render_outputs(outputs, scratch)
            take_in_loaded_files(scratch)
        protect_unused()
        self._state.forget_names()
        return printed.text(), printed.cut


class _CappedOutput(io.TextIOBase):
    """Keeps the beginning of what is written, in a file too: the core reads it there when the process did not live to answer."""

    def __init__(self, most: int, file: Path) -> None:
        self._most = most
        self._file = file.open("wb", buffering=0)
        self._parts: list[str] = []
        self._size = 0
        self.cut = False

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        part = text[: self._most - self._size]
        self.cut = self.cut or len(part) < len(text)
        if part:
            self._parts.append(part)
            self._size += len(part)
            # What the code did to the file, or to the disk, is its own loss; so is what a thread of it prints later.
            with contextlib.suppress(OSError, ValueError):
                self._file.write(part.encode("utf-8", "replace"))
        return len(text)

    def close(self) -> None:
        self._file.close()
        super().close()

    def text(self) -> str:
        # A lone surrogate cannot be told as JSON.
        return "".join(self._parts).encode("utf-8", "replace").decode()


def _code_error(error: BaseException, printed: str) -> StepError:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == CODE]
    if isinstance(error, SyntaxError) and error.filename == CODE:
        line = error.lineno
    else:
        line = (lines or [None])[-1]
    message = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_MESSAGE]
    if line is not None:
        position = f"line {line}: "
    else:
        position = ""
    if printed.strip():
        tail = f". It had printed: {printed[-LONGEST_TAIL:].strip()}"
    else:
        tail = ""
    cure = "Correct the code; nothing of it stands."
    return StepError.of(Fault.EXECUTION_FAILED, f"{position}the code raised {message}{tail}", at="/code", cure=cure)


def protect_unused() -> None:
    """Give datablocks without users a fake user: Blender would drop them when it saves."""
    for _, block in fp.all_blocks():
        if block.users == 0 and block.library is None:
            block.use_fake_user = True
