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

# The contract has the limit that counts; this one only keeps the schema finite.
LONGEST = 1_000_000
MOST_OUTPUT = 65_536
MOST_MILLISECONDS = 86_400_000


class RunPythonArgs(Args):
    code: Annotated[str, AfterValidator(with_line_breaks)] = Field(
        min_length=1,
        max_length=LONGEST,
        description="Python code. Line breaks that were escaped twice are read as such. "
        "It changes the scene through bpy; what it prints is returned.",
    )
    mode: Literal["safe", "trusted"] = Field(
        default="safe",
        description="safe: in a confined process that is thrown away, and what it leaves is checked. trusted: in the process that "
        "holds the scene, after a person has allowed this very code.",
    )
    timeout_ms: int | None = optional(
        "How long the code may run, in milliseconds; left out, as long as the contract gives it (constraints.code_seconds).",
        ge=1,
        le=MOST_MILLISECONDS,
    )
    seed: Seed = Field(default=0, description="What random numbers start from.")
    files: DeclaredFiles | None = optional(
        'Files inside the allowed roots that safe code reads (in) and writes (out): {"in": [paths], "out": [paths]}. They are '
        "copied in and out; the code has them as files[path]. Images, sounds and fonts that it loads are packed into the scene."
    )
    overwrite: bool = Field(
        default=False, description="Whether files that are there may be replaced; the call is then destructive."
    )

    @field_validator("files")
    @classmethod
    def _safe_only(cls, value: DeclaredFiles | None, info: ValidationInfo) -> DeclaredFiles | None:
        if value and info.data.get("mode") == "trusted":
            raise PydanticCustomError(
                "files_safe", "files are for safe code; trusted code has file.import and file.export"
            )
        return value


class PythonRan(Result):
    """What code left besides its changes to the scene."""

    mode: str = Field(description="How it was run.")
    output: str = Field(max_length=MOST_OUTPUT, description="What it printed, from the beginning.")
    truncated: bool = Field(description="Whether it printed more than that.")


class RunPython(Tool[RunPythonArgs, PythonRan]):
    """Run Python code on the scene: confined and checked, or trusted after a person has allowed it.

    Safe code works on a copy. Its result becomes the scene only when the code ended in time, nothing was refused, and it left no code
    behind: no registered text, no scripted driver, no linked library, no path to a file. It reaches no process, no network and no file
    but copies of those that are declared, so importers, exporters and images work with files[path].
    Its result is seeded where that is demanded, as plans do: it then runs twice, and must do the same. Otherwise it is nondeterministic.
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
        names = {"in": "file_read", "out": "file_write"}
        return ("python_safe", *(names[key] for key, paths in (args.files or {}).items() if paths))

    def safety_level_for(self, args: RunPythonArgs) -> SafetyLevel:
        """Return destructive also for outputs that are not plain data: whoever runs them later runs the code unconfined."""
        return SafetyLevel.DESTRUCTIVE if _executable_outputs(args) else super().safety_level_for(args)

    def reasons_for(self, args: RunPythonArgs) -> tuple[str, ...]:
        return tuple(execution_reason(path) for path in _executable_outputs(args))

    def determinism_for(self, args: RunPythonArgs) -> Determinism:
        """The same twice is asked of the scene and of what is printed; the files that exporters write have the time in them."""
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
        """Nothing more than was read in the code: only running tells."""
        yield from ()

    def apply(self, scene: Scene, args: RunPythonArgs) -> PythonRan:
        output, truncated = scene.run_code(args.code, MOST_OUTPUT, args.seed)
        return PythonRan(mode=args.mode, output=output, truncated=truncated)

    def verify(self, scene: Scene, args: RunPythonArgs, result: PythonRan) -> Findings:
        """Code promises nothing that could be held against it; the core checks what safe code leaves, in another process."""
        yield from ()


def _executable_outputs(args: RunPythonArgs) -> list[PurePath]:
    """Return the declared outputs that programs may execute or take their configuration from."""
    outputs = [PurePath(path) for path in (args.files or {}).get("out", ())]
    return [path for path in outputs if not is_data(path)]
