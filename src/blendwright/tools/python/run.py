from __future__ import annotations

from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api import Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, DeclaredFiles, Result, Seed, optional
from blendwright.tool_api.file_kinds import execution_reason, is_data
from blendwright.tool_api.promises import (
    SAFE_ONE_TIME_WRITE,
    Determinism,
    Isolation,
    Revert,
    SafetyLevel,
    Version,
)
from blendwright.tools.python.code_check import check_code, with_line_breaks

# Largest length of code in characters. The session contract has the effective limit; this one only bounds the schema.
MAX_CODE_CHARACTERS = 1_000_000
# Largest number of characters of output that a result contains.
MAX_OUTPUT_CHARACTERS = 65_536
# One day.
MAX_TIMEOUT_MS = 86_400_000


class RunPythonArgs(Args):
    code: Annotated[str, AfterValidator(with_line_breaks)] = Field(
        min_length=1,
        max_length=MAX_CODE_CHARACTERS,
        description="Python code that changes the scene through bpy; the result contains what it prints. Line breaks that were "
        "escaped twice are accepted.",
    )
    mode: Literal["safe", "trusted"] = Field(
        default="safe",
        description="safe: run it in a confined disposable process and check the result. trusted: run it in the process of the "
        "scene, after a person has allowed exactly this code.",
    )
    timeout_ms: int | None = optional(
        "Time limit in milliseconds. Default: constraints.code_seconds of the session contract.",
        ge=1,
        le=MAX_TIMEOUT_MS,
    )
    seed: Seed = Field(default=0, description="Seed of random numbers.")
    files: DeclaredFiles | None = optional(
        'Files inside the allowed roots that safe code reads (in) and writes (out): {"in": [paths], "out": [paths]}. Blendwright '
        "copies them in and out; the code opens files[path]. Loaded images, sounds and fonts are packed into the scene."
    )
    overwrite: bool = Field(
        default=False, description="Whether the call may replace existing files; it is then destructive."
    )

    @field_validator("files")
    @classmethod
    def _safe_only(cls, value: DeclaredFiles | None, info: ValidationInfo) -> DeclaredFiles | None:
        if value and info.data.get("mode") == "trusted":
            raise PydanticCustomError(
                "files_safe", "files are only for safe code; trusted code uses file.import and file.export"
            )
        return value


class PythonRan(Result):
    """The result of code, in addition to its changes to the scene."""

    mode: str = Field(description="The mode in which the code ran.")
    output: str = Field(max_length=MAX_OUTPUT_CHARACTERS, description="Start of the printed output.")
    truncated: bool = Field(description="Whether the code printed more than that.")


class RunPython(Tool[RunPythonArgs, PythonRan]):
    """Run Python code on the scene: confined and checked, or trusted after a person has allowed it.

    Safe code works on a copy of the scene. Its result becomes the scene only if the code ended in time and
    Blendwright refused nothing. The result must contain no code: no registered text, no scripted driver, no linked library,
    no path to a file. Safe code
    reaches no process, no network and no file except copies of the declared ones; importers, exporters and images use
    files[path].
    Plans that demand a seeded result run the code twice and compare the results. Otherwise the result counts as
    nondeterministic.
    """

    name = "python.run"
    version = 2
    destructive_with = ("overwrite",)
    time_limit = "code_seconds"
    promises = (
        SAFE_ONE_TIME_WRITE.but(determinism=Determinism.SEEDED, revert=Revert.MEMFILE, replayable=False)
        .writes_to(*Kind)
        .needs("python_safe")
    )
    makes_others = True
    examples = (
        Example({
            "code": "import bpy, random\n"
            "mesh = bpy.data.meshes.new('Marker')\n"
            "mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, random.random())], [], [(0, 1, 2)])\n"
            "bpy.context.scene.collection.objects.link(bpy.data.objects.new('Marker', mesh))\n"
            "print('made', mesh.name)\n"
        }),
        Example(
            {
                "code": "import bpy, random\nfor obj in bpy.data.objects:\n    obj.location.z += random.random()\n    print(obj.name)\n",
                "timeout_ms": 2000,
                "seed": 7,
            },
            ("mesh.create_primitive", {"kind": "cube", "name": "Crate"})
        ),
    )  # fmt: skip

    def examine(self, args: RunPythonArgs, blender: Version | None) -> Findings:
        return check_code(args.code, trusted=args.mode == "trusted", files=bool(args.files))

    def capabilities_for(self, args: RunPythonArgs) -> tuple[str, ...]:
        if args.mode == "trusted":
            return ("python_trusted",)
        capabilities = ["python_safe"]
        names = {"in": "file_read", "out": "file_write"}
        for key, paths in (args.files or {}).items():
            if paths:
                capabilities.append(names[key])
        return tuple(capabilities)

    def safety_level_for(self, args: RunPythonArgs) -> SafetyLevel:
        """Return destructive also for outputs that are not plain data, because a program may later run them unconfined."""
        if _executable_outputs(args):
            return SafetyLevel.DESTRUCTIVE
        return super().safety_level_for(args)

    def reasons_for(self, args: RunPythonArgs) -> tuple[str, ...]:
        return tuple(execution_reason(path) for path in _executable_outputs(args))

    def determinism_for(self, args: RunPythonArgs) -> Determinism:
        """Return nondeterministic for calls with output files, because exporters write the time into them."""
        if (args.files or {}).get("out"):
            return Determinism.NONDETERMINISTIC
        return Determinism.SEEDED

    def isolation_for(self, args: RunPythonArgs) -> Isolation:
        if args.mode == "safe":
            return Isolation.DISPOSABLE
        return Isolation.REPLACED

    def seconds_for(self, args: RunPythonArgs) -> float | None:
        if args.timeout_ms is None:
            return None
        return args.timeout_ms / 1000

    def time_asked(self, args: RunPythonArgs) -> tuple[str, float] | None:
        if args.timeout_ms is None:
            return None
        return ("/timeout_ms", args.timeout_ms / 1000)

    def code_chars_for(self, args: RunPythonArgs) -> int:
        return len(args.code)

    def shown_for(self, args: RunPythonArgs) -> str:
        return args.code

    def check(self, scene: Scene, args: RunPythonArgs) -> Findings:
        """Check nothing: `examine` has already read the code, and only running it shows more."""
        yield from ()

    def apply(self, scene: Scene, args: RunPythonArgs) -> PythonRan:
        output, truncated = scene.run_code(args.code, MAX_OUTPUT_CHARACTERS, args.seed)
        return PythonRan(mode=args.mode, output=output, truncated=truncated)

    def verify(self, scene: Scene, args: RunPythonArgs, result: PythonRan) -> Findings:
        """Check nothing: code makes no promise to compare, and the core checks the result of safe code in another process."""
        yield from ()


def _executable_outputs(args: RunPythonArgs) -> list[PurePath]:
    """Return the declared outputs that programs may execute or take their configuration from."""
    outputs = [PurePath(path) for path in (args.files or {}).get("out", ())]
    return [path for path in outputs if not is_data(path)]
