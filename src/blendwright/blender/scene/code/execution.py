"""The execution of a caller's Python code in this process: it captures the output and reports errors with their line.

This module confines nothing. The caller runs it in a process that may be lost, or a person has approved the code.
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

# The file name of the code in tracebacks.
CODE = "<code>"
# The longest exception text, and the longest end of the output, that an error quotes; in characters.
MAX_MESSAGE_CHARACTERS = 500
MAX_TAIL_CHARACTERS = 1000


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
                # Code that runs once need not work in a later Blender.
                warnings.simplefilter("ignore", DeprecationWarning)
                exec(program, {"__name__": "__main__", "files": files})
            self._state.reject_reserved_names()
        except BaseException as error:
            # The code may raise anything, and a SystemExit must not end the worker.
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
    """A text stream that keeps the first `limit` characters in memory and in a file.

    If the process ends before it answers, the core reads the output from the file."""

    def __init__(self, limit: int, file: Path) -> None:
        self._limit = limit
        self._file = file.open("wb", buffering=0)
        self._parts: list[str] = []
        self._size = 0
        self.cut = False

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        part = text[: self._limit - self._size]
        self.cut = self.cut or len(part) < len(text)
        if part:
            self._parts.append(part)
            self._size += len(part)
            # Ignore errors if the code damaged the file or filled the disk, or if one of its threads prints later.
            with contextlib.suppress(OSError, ValueError):
                self._file.write(part.encode("utf-8", "replace"))
        return len(text)

    def close(self) -> None:
        self._file.close()
        super().close()

    def text(self) -> str:
        # JSON cannot represent a lone surrogate.
        return "".join(self._parts).encode("utf-8", "replace").decode()


def _code_error(error: BaseException, printed: str) -> StepError:
    line = None
    if isinstance(error, SyntaxError) and error.filename == CODE:
        line = error.lineno
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename == CODE:
                line = frame.lineno

    position = ""
    if line is not None:
        position = f"line {line}: "
    message = " ".join(f"{type(error).__name__}: {error}".split())[:MAX_MESSAGE_CHARACTERS]
    tail = ""
    if printed.strip():
        tail = f". It had printed: {printed[-MAX_TAIL_CHARACTERS:].strip()}"
    fix = "Correct the code; all its changes were reverted."
    return StepError.of(Fault.EXECUTION_FAILED, f"{position}the code raised {message}{tail}", at="/code", cure=fix)


def protect_unused() -> None:
    """Give a fake user to every local datablock without users, since Blender does not save datablocks without users."""
    for _, block in fp.all_blocks():
        if block.users == 0 and block.library is None:
            block.use_fake_user = True
