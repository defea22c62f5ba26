"""python -m gui.headless: the headless Blender 4.3 that works beside trixie's window, in an environment of its own beside the roots.

No series of ours has a wheel for it: 4.3 is supported as a window only, because a distribution has it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from blendwright.bridge.environments.interpreters import find_interpreter
from gui.root import ROOTS

PYTHON = (3, 11)
PLACE = ROOTS / "headless-4.3"
MARK = PLACE / "ready"
REQUIREMENTS = Path(__file__).with_name("headless-4.3.txt")


def main() -> int:
    wanted = REQUIREMENTS.read_text()
    if MARK.is_file() and MARK.read_text() == wanted:
        return 0
    interpreter = find_interpreter(PYTHON)
    if interpreter is None:
        sys.stderr.write("there is no Python 3.11 here, so windows of Blender 4.3 are not attached in tests\n")
        return 0
    shutil.rmtree(PLACE, ignore_errors=True)
    subprocess.run([interpreter.path, "-m", "venv", PLACE], check=True)
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps"]
    subprocess.run([PLACE / "bin" / "python", *install, "-r", REQUIREMENTS], check=True)
    MARK.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
