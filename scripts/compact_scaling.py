#!/usr/bin/env python3
"""Weak and strong scaling of examples/compact over the GPUs (or ranks) of one host: prints the table of docs/results/compact.md, and every row as JSON
with --json. A run that does not end in time, or fails, is told and the others go on. --limit ends all of it."""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from bench_text import table

ROOT = Path(__file__).resolve().parent.parent
WORKS = ["weak", "ring", "large", "staged", "strong", "latency"]
OWN = ["ring", "latency"]  # one rank does the same as several, each for itself
PARTS = {"large": 8}  # grids of one rank in a grid that several share; one grid otherwise


def cases(size, most):
    """Work, ranks, whether messages are staged, the axis that ranks cut, the grid, the axes to time. The telling ones come first."""
    counts = [ranks for ranks in (8, 4, 2) if ranks <= most]
    yield "alone", 1, False, "z", [size] * 3, "xyz"

    def weak(work, axes, staged):
        for axis in axes:
            for ranks in counts:
                yield work, ranks, staged, axis, [size * (ranks if a == axis else 1) for a in "xyz"], axis

    yield from weak("weak", "z", False)
    for ranks in (1, *counts):  # every rank has two neighbours, as most have among many
        yield "ring", ranks, False, "z", [size, size, size * ranks], "z"
    if counts:
        yield "large", counts[0], False, "z", [2 * size] * 3, "xyz"
    for ranks in counts:
        yield "strong", ranks, False, "z", [size] * 3, "xyz"
    for ranks in (1, *counts):
        yield "latency", ranks, False, "z", [size // 8, size // 8, size // 8 * ranks], "z"
    yield from weak("weak", "yx", False)
    yield from weak("staged", "z", True)


def run(build, case, options, seconds, mpiexec="mpiexec"):
    """Rows of both ways, on one grid: PETSc takes half a minute to make one of 1024³."""
    work, ranks, staged, axis, grid, along = case
    command = [] if ranks == 1 else [*mpiexec.split(), "-n", str(ranks)]
    command += [f"{build}/bin/compact", "-dll_append", f"{build}/lib/libweft.so", "-options_file", str(ROOT / "examples/compact/compact.opts"), "-compact_both_ways", *options,
                "-repeat", "8", "-compact_along", along, *(["-compact_periodic"] if work == "ring" else [])]
    for a, n in zip("xyz", grid):
        command += [f"-da_grid_{a}", str(n), f"-da_processors_{a}", str(ranks if a == axis else 1)]
    if staged:
        command += ["-use_gpu_aware_mpi", "0"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        print(f"not done after {seconds:.0f} s: {' '.join(command)}", flush=True)
        return []
    if done.returncode != 0:
        print(f"exit status {done.returncode}: {' '.join(command)}\n{done.stdout[-6000:]}", flush=True)
        return []
    return [{**json.loads(line), "what": work, "cut": axis} for line in done.stdout.splitlines() if line.startswith("{")]


def rows_of(results):
    alone = {(r["what"], r["way"], r["axis"]): r["seconds"] for r in results if r["ranks"] == 1}
    rows = [["work", "ranks, cut along", "messages", "way", "lines along", "ms", "one rank's ms", "efficiency"]]
    for r in results:
        one = alone.get((r["what"] if r["what"] in OWN else "alone", r["way"], r["axis"]))
        share = PARTS.get(r["what"], 1) / r["ranks"] if r["what"] in ("strong", "large") else 1
        rows.append([f"{r['what']}, {' x '.join(map(str, r['grid']))}", f"{r['ranks']}" + (f", {r['cut']}" if r["ranks"] > 1 else ""), r["messages"],
                     r["way"] + ("" if (r["way"] == "one pass") == r["one_pass"] else " (the solver took over)"), r["axis"], f"{1e3 * r['seconds']:.3f}",
                     f"{1e3 * one:.3f}" if one else "–", f"{100 * share * one / r['seconds']:.0f} %" if one else "–"])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="of a stack: build/cuda-sm_90, say")
    parser.add_argument("--size", type=int, default=512, help="nodes of a rank along each axis (512); twice as many in the large grid")
    parser.add_argument("--ranks", type=int, default=4, help="the most ranks (4)")
    parser.add_argument("--options", default="-dm_vec_type cuda", help="of PETSc (-dm_vec_type cuda)")
    parser.add_argument("--only", nargs="+", default=WORKS, choices=WORKS, help="some of the work")
    parser.add_argument("--each", type=float, default=60, help="seconds for a program (60)")
    parser.add_argument("--limit", type=float, default=150, help="seconds for everything (150)")
    parser.add_argument("--json", help="a file for all rows")
    given = parser.parse_args()
    end = time.monotonic() + given.limit
    results = []
    for case in cases(given.size, given.ranks):
        if case[0] not in ["alone", *given.only]:
            continue
        left = end - time.monotonic()
        if left < 2:
            print("no time is left for: " + ", ".join(map(str, case)), flush=True)
            continue
        start = time.monotonic()
        got = run(given.build, case, given.options.split(), min(left, given.each))
        print(f"{time.monotonic() - start:5.1f} s  {case[0]}, {case[1]} ranks along {case[3]}{', staged' if case[2] else ''}: "
              + ", ".join(f"{r['axis']}, {r['way']} {1e3 * r['seconds']:.3f} ms, error {r['most']:.1e}" for r in got), flush=True)
        results += got
        if given.json:  # what there is, in case the rest takes too long
            Path(given.json).write_text(json.dumps(results, indent=1) + "\n")
    if not results:
        return 1
    print("\n" + "\n".join(table(rows_of(results), 5)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
