"""What python.run says of its determinism: `seeded` only where the code was run twice and did the same, in every workspace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from blendwright.policy.policy import Constraints, Policy, Rules
from blendwright.tool_api.promises import Determinism
from blendwright.values.approval import ApprovalAnswer, Approver
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from support.engine.engine import Engine
from support.engine.people import Person
from support.plans.documents import box, of_operations

SEEDED = {"determinism": Determinism.SEEDED}
# Everything that code may ask for a number nobody can foresee, and that can be pinned. The modules that safe code may not import
# are reached as hostile code would reach them.
PINNED = """
import bpy, collections, mathutils, numpy, random
modules = collections._sys.modules
os, time = modules['os'], modules['time']
from mathutils import noise
values = {
    'default_rng': numpy.random.default_rng().integers(1 << 60),
    'seed sequence': numpy.random.SeedSequence().entropy,
    'legacy': numpy.random.RandomState().randint(1 << 30),
    'numpy': numpy.random.random(),
    'system': random.SystemRandom().random(),
    'own': random.Random().random(),
    'plain': random.random(),
    'urandom': os.urandom(8).hex(),
    'now': numpy.datetime64('now'),
    'today': numpy.datetime64('today'),
    'array': numpy.array(['now'], 'M8[s]')[0],
    'time': time.time(),
    'counter': time.perf_counter_ns(),
    'local': time.ctime(),
    'noise': noise.random(),
    'set': list({'north', 'east', 'south', 'west', 'up', 'down'}),
}
random.seed()
values['seeded again'] = random.random()
noise.seed_set(0)
values['noise by time'] = noise.random()
for name, value in values.items():
    print(name, value)
empty = bpy.data.objects.new('Marker', None)
empty.location = (values['system'], values['own'], values['noise'])
bpy.context.scene.collection.objects.link(empty)
"""
PLACE = "import bpy\nbpy.data.objects['Crate'].location.x = {value}\n"
# Another one in every process, however it was started.
PROCESS = "import collections\nprint(collections._sys.modules['os'].getpid())"
UNPINNED = {
    "the address of an object": ("print('same')\nprint(id(object()))", "line 2 of what it printed"),
    "the number of the process": (
        "import collections\nos = collections._sys.modules['os']\n" + PLACE.format(value="os.getpid()"),
        "objects 'Crate': transform.location",
    ),
    "an error that comes at times": (
        "import collections\nos = collections._sys.modules['os']\nimport bpy\ntext = bpy.data.texts.new('T' + str(os.getpid()))",
        "texts",
    ),
}


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Engine]]:
    """Two workspaces with the same scene."""
    with Engine(tmp_path_factory.mktemp("one")) as one, Engine(tmp_path_factory.mktemp("other")) as other:
        for engine in (one, other):
            engine.do("mesh.create_primitive", {"kind": "cube", "name": "Crate"})
        yield one, other


@pytest.fixture(scope="module")
def engine(engines: tuple[Engine, Engine]) -> Engine:
    return engines[0]


def receipt(engine: Engine) -> dict[str, Any]:
    return dict(engine.head().receipt)


def refused(engine: Engine, args: dict[str, Any], **options: Any) -> str:
    """A call that is refused as nondeterministic and leaves everything as it was; its message."""
    before, head = engine.scene.hash, engine.head().number
    outcome = engine.call("python.run", args, **SEEDED | options)
    assert outcome.fault is Fault.NONDETERMINISTIC_REFUSED, (outcome.fault, outcome.message)
    assert (engine.full_hash(), engine.head().number) == (before, head)
    assert outcome.findings[0].pointer == "/code" and "random" in (outcome.findings[0].cure or "")
    return outcome.message


@pytest.mark.real_starts
def test_whatever_is_called_seeded_is_the_same_in_two_workspaces(engines: tuple[Engine, Engine]) -> None:
    outcomes: list[Outcome] = []
    for engine in engines:
        outcomes.append(engine.do("python.run", {"code": PINNED, "seed": 7}, **SEEDED))
        assert receipt(engine)["determinism_class"] == outcomes[-1].determinism_class == "seeded"
        assert receipt(engine)["seed"] == outcomes[-1].seed == 7
    one, other = ((outcome.result or {})["output"].splitlines() for outcome in outcomes)
    assert one == other
    assert outcomes[0].fingerprint_after == outcomes[1].fingerprint_after
    again = engines[0].do("python.run", {"code": PINNED.replace("'Marker'", "'Other'"), "seed": 8}, **SEEDED)
    differing = [a for a, b in zip(one, (again.result or {})["output"].splitlines(), strict=True) if a != b]
    assert len(differing) >= 8, "another seed gives other numbers"


# All of them with real starts in make test-slow. Here workers are forked, which have numbers of their own and the same addresses.
@pytest.mark.parametrize(
    "what",
    [pytest.param(what, marks=() if what == "the number of the process" else pytest.mark.slow) for what in UNPINNED],
)
def test_what_differs_from_process_to_process_is_refused_with_the_difference(engine: Engine, what: str) -> None:
    code, named = UNPINNED[what]
    assert named in refused(engine, {"code": code})


def test_without_a_demand_code_runs_once_and_is_called_nondeterministic(engine: Engine) -> None:
    outcome = engine.do("python.run", {"code": "print(id(object()))\n" + PLACE.format(value=0.5)})
    assert outcome.determinism_class == receipt(engine)["determinism_class"] == "nondeterministic"
    assert outcome.seed == 0


def test_a_contract_that_demands_determinism_is_a_demand(engine: Engine) -> None:
    with engine.under(Policy(constraints=Constraints(determinism=Determinism.SEEDED))):
        assert "line 1" in refused(engine, {"code": PROCESS}, determinism=None)


def test_a_plan_of_operations_is_a_demand(engine: Engine) -> None:
    code = box("a", tool_name="python.run", args={"code": PROCESS})
    (ran,) = engine.run(of_operations(code, request_id="demanding")).operations
    assert ran.fault is Fault.NONDETERMINISTIC_REFUSED and ran.status == "failed"
    assert "line 1 of the output" in ran.message


@pytest.mark.slow
def test_trusted_code_is_proven_too(engine: Engine) -> None:
    person = Approver(Person(ApprovalAnswer.APPROVED))
    with engine.under(Policy(policy=Rules(trusted_python="ask"))):
        message = refused(
            engine, {"code": "import os\n" + PLACE.format(value="os.getpid()"), "mode": "trusted"}, approver=person
        )
        assert "objects 'Crate': transform.location" in message
        code = "import datetime, uuid\n" + PLACE.format(value="datetime.datetime.now().year") + "print(uuid.uuid4())"
        outcome = engine.do("python.run", {"code": code, "mode": "trusted"}, approver=person, **SEEDED)
        assert outcome.determinism_class == "seeded"
        person = Approver(Person(ApprovalAnswer.APPROVED))
        assert (
            engine.do("python.run", {"code": "1", "mode": "trusted"}, approver=person).determinism_class
            == "nondeterministic"
        )


@pytest.mark.slow
def test_a_rehearsal_is_held_to_the_demand_too(engine: Engine, tmp_path: Path) -> None:
    before = engine.scene.hash
    code = "import collections\nos = collections._sys.modules['os']\n" + PLACE.format(value="os.getpid()")
    outcome = engine.call("python.run", {"code": code}, rehearse="memfile", **SEEDED)
    assert outcome.fault is Fault.NONDETERMINISTIC_REFUSED
    outcome = engine.call("python.run", {"code": PLACE.format(value=3)}, rehearse="memfile", **SEEDED)
    assert outcome.ok and outcome.determinism_class == "seeded"
    assert engine.scene.hash == engine.full_hash() == before
