"""What a person is told of mistakes that a program makes many times, and of a second run of it."""

from __future__ import annotations

from support.processes.shell import Shell

MISTAKE = """
def box(name):
    mesh.create_primitive(kind="cube", name=name, bevl=0.1)

box("A")
box("B")
for n in range(6):
    box("C_%d" % n)
"""
TABLE = """
length = param("length", 2.0)
mesh.create_primitive(kind="cube", name="Top", size=length)
"""


def test_a_mistake_in_a_function_is_told_once_wherever_it_is_called_from(shell: Shell) -> None:
    (shell.place / "boxes.star").write_text(MISTAKE)
    for command in ("validate", "run"):
        ran = shell(command, "boxes.star", code=2)
        told = ran.out + ran.err
        assert told.count("unknown field 'bevl'") == 1 and "(8 times)" in told
        assert told.count("replace_args") == 1 and "8 operations" in told


def test_a_second_run_with_other_parameters_is_told_how_to_replace_the_first(shell: Shell) -> None:
    (shell.place / "table.star").write_text(TABLE)
    shell("run", "table.star", code=0)
    ran = shell("run", "table.star", "--set", "length=3", code=1)
    assert "there is already an object named 'Top'" in ran.out and "--instead" in ran.out
    assert "it is not true that its vertices have the expected positions" in ran.out
    assert shell("run", "table.star", "--set", "length=3", "--instead", code=0)


def test_another_format_is_told_by_the_command_that_writes_it(shell: Shell) -> None:
    (shell.place / "table.star").write_text(TABLE)
    shell("run", "table.star", code=0)
    refused = shell("export", "table.glb", code=2)
    assert """blendwright call file.export --args '{"path": "table.glb"}'""" in refused.err
    shell("call", "file.export", "--args", '{"path": "table.glb"}', code=0)
    assert (shell.place / "table.glb").exists()
