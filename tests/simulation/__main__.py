"""Plays seeds of the simulation again: `PYTHONPATH=tests python -m simulation SEED [SEED …]` or `python -m simulation FROM..TO`."""

from __future__ import annotations

import sys
from collections import Counter
from time import perf_counter

from simulation.life import live


def main(arguments: list[str]) -> int:
    seeds: list[int] = []
    for argument in arguments:
        first, _, last = argument.partition("..")
        seeds += range(int(first), int(last or first) + 1)
    struck, failed, started = Counter[str](), list[int](), perf_counter()
    for seed in seeds:
        try:
            lived = live(seed)
        except AssertionError as error:
            failed.append(seed)
            print(error, flush=True)  # noqa: T201
            continue
        struck.update({name.partition(" ")[0]: times for name, times in lived.struck.items()})
        if len(seeds) == 1:
            print("\n".join(lived.trace))  # noqa: T201
    spent = perf_counter() - started
    print(f"{len(seeds)} seeds in {spent:.1f} s, {len(failed)} failed {failed[:50]}; {dict(struck)}")  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
