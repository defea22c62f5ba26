from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from blendwright.tool_api import Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, Result, Seed
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Determinism, Isolation, Revert, Version
from blendwright.tools.python.code_check import check_code, with_line_breaks

# The contract has the limit that counts; this one only keeps the schema finite.
LONGEST = 1_000_000
MOST_OUTPUT = 65_536
MOST_MILLISECONDS = 600_000


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
    timeout_ms: int = Field(
        default=4000, ge=1, le=MOST_MILLISECONDS, description="How long the code may run, in milliseconds."
    )
    seed: Seed = Field(default=0, description="What random numbers start from.")


class PythonRan(Result):
    """What code left besides its changes to the scene."""

    mode: str = Field(description="How it was run.")
    output: str = Field(max_length=MOST_OUTPUT, description="What it printed, from the beginning.")
    truncated: bool = Field(description="Whether it printed more than that.")


class RunPython(Tool[RunPythonArgs, PythonRan]):
    """Run Python code on the scene: confined and checked, or trusted after a person has allowed it.

    Safe code works on a copy. Its result becomes the scene only when the code ended in time, nothing was refused, and it left no code
    behind: no registered text, no scripted driver, no linked library, no path to a file. It reaches no file, process or network.
    Its result is seeded where that is demanded, as plans do: it then runs twice, and must do the same. Otherwise it is nondeterministic.
    """

    name = "python.run"
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
        return check_code(args.code, trusted=args.mode == "trusted")

    def capabilities_for(self, args: RunPythonArgs) -> tuple[str, ...]:
        return ("python_safe",) if args.mode == "safe" else ("python_trusted",)

    def isolation_for(self, args: RunPythonArgs) -> Isolation:
        return Isolation.DISPOSABLE if args.mode == "safe" else Isolation.REPLACED

    def seconds_for(self, args: RunPythonArgs) -> float:
        return args.timeout_ms / 1000

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
