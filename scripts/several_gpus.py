#!/usr/bin/env python3
"""Several GPUs (or ranks) of one host: multigrid, direct solves with a matrix and without, lines that cross all ranks, without a matrix, and compact
finite differences on 1, 2, 4, 8 of them, in one command; prints one table, and every row as JSON with --json. A run that fails or does not end in time is
told, and the others go on; --limit ends all of it. compact_scaling.py has more of compact differences.

    scripts/several_gpus.py --build build/cuda-sm_90 --ranks 1 2 4 --types cuda
    scripts/several_gpus.py --build build/debian --ranks 1 2 4 8 16 --scale 16        # each length divided by 16, on ranks of a host
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import compact_scaling
from bench_text import table

MULTIGRID = "-pc_type boxmg -ksp_type cg -ksp_rtol 1e-8 -ksp_norm_type unpreconditioned"
DIRECT = "-pc_type bcr -ksp_type preonly"
LINES = ("128x128x4096", "256x256x4096")  # nodes, of lines without a matrix along the last direction
SPREAD = ("4095", "8191", "16383", "511x511x511", "1023x1023x1023")  # nodes inside, of direct solves without a matrix
COMPACT = {512: ("alone", "weak", "strong", "large"), 256: ("alone", "strong")}  # nodes a side, and what is done with them


def boxes(along, ranks):
    return {axis: ranks if axis == along else 1 for axis in "xyz"}


def cases(ranks, scale):
    """Name, options, nodes along each direction, the direction that is cut; each grid but those of `strong` has so many nodes a rank."""
    n = lambda nodes: (nodes - 1) // scale + 1  # noqa: E731
    weak = lambda nodes: (nodes - 1) // scale * ranks + 1  # noqa: E731
    yield "boxmg, 2049² a rank, no line crosses", f"{MULTIGRID} -k 1e3,1", (n(2049), weak(2049)), "y", True
    yield "boxmg, 2049² a rank, all lines cross", f"{MULTIGRID} -k 1,1e3", (n(2049), weak(2049)), "y", True
    yield "boxmg, 4097² a rank, no line crosses", f"{MULTIGRID} -k 1e3,1", (n(4097), weak(4097)), "y", True
    yield "boxmg, 4097² a rank, all lines cross", f"{MULTIGRID} -k 1,1e3", (n(4097), weak(4097)), "y", True
    # The whole is a cube: with this K nodes are coupled along z as they are on one rank.
    yield "boxmg, 257³ a rank", f"{MULTIGRID} -k 1,1,{1 / ranks**2:g}", (n(257), n(257), weak(257)), "z", True
    yield "bcr, 4095²", f"{DIRECT} -k 1,1", (n(4097), n(4097)), "y", False
    yield "bcr, 8191²", f"{DIRECT} -k 1,1", (n(8193), n(8193)), "y", False
    yield "bcr, 511³", f"{DIRECT} -k 1,1,1", (n(513), n(513), n(513)), "z", False
    yield "bcr, 8191² a rank", f"{DIRECT} -k 1,1", (n(8193), weak(8193)), "y", True


def launch(arguments, ranks):
    return [] if ranks == 1 else [*arguments.mpiexec.split(), "-n", str(ranks)]


def run(arguments, case, ranks, seconds):
    name, options, nodes, along, weak = case
    command = launch(arguments, ranks)
    command += [f"{arguments.build}/bin/diffusion", "-dll_append", f"{arguments.build}/lib/libweft.so", "-repeat", str(arguments.repeat), "-dim", str(len(nodes)), *options.split()]
    if arguments.types != "host":
        command += f"-dm_vec_type {arguments.types} -dm_mat_type aijcusparse -assembly coo".split()
    for axis, count in zip("xyz", nodes):
        command += [f"-da_grid_{axis}", str(count), f"-da_processors_{axis}", str(boxes(along, ranks)[axis])]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        print(f"not done after {seconds:.0f} s: {' '.join(command)}", flush=True)
        return None
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not rows:
        print(f"exit status {done.returncode}: {' '.join(command)}\n{done.stdout[-3000:]}", flush=True)
        return None
    return {"case": name, "ranks": ranks, "weak": weak, "nodes": nodes, **rows[-1]}


def without_matrix(arguments, program, sizes, time_of, ranks, seconds):
    """One process solves those of the cases that are wanted. `sizes`: of each case, by name; `time_of`: the column of its table that counts."""
    wanted = {name: size for name, size in sizes.items() if name.startswith(arguments.only)}
    if not wanted:
        return []
    command = [*launch(arguments, ranks), f"{arguments.build}/bin/{program}", f"--sizes={','.join(wanted.values())}", f"--repeat={arguments.repeat}"]
    command += [f"--backend={'host' if arguments.types == 'host' else 'device'}"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds)
        output, failure = done.stdout, f"exit status {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired as late:
        output, failure = (late.stdout or b"").decode(), f"not done after {seconds:.0f} s"
    if failure:  # what was solved before is kept
        print(f"{failure}: {' '.join(command)}\n{output[-3000:]}", flush=True)
    head, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in output.splitlines() if line.startswith("| ")] or [[]]
    solved = [(name, dict(zip(head, row))) for name, row in zip(wanted, rows)]  # a row for each size, in their order; without times where one rank is faster
    return [{"case": name, "ranks": ranks, "weak": False, "iterations": 1, "solve": float(row[time_of]) / 1e3, "residual": float(row["error"])}
            for name, row in solved if row.get(time_of)]


def lines(arguments, ranks, seconds):
    """Lines that cross all ranks, factored and solved at once."""
    sizes = {}
    for size in LINES:
        *across, rows = size.split("x")
        sizes[f"lines, {size.replace('x', ' x ')}"] = "x".join([*across, str(int(rows) // arguments.scale)])
    return without_matrix(arguments, "ranks_bench", sizes, "one-shot, ms", ranks, seconds)


def spread(arguments, ranks, seconds):
    """Direct solves."""
    scaled = [[(int(n) + 1) // arguments.scale - 1 for n in size.split("x")] for size in SPREAD]
    sizes = {f"bcr, {' x '.join(map(str, n * 2 if len(n) == 1 else n))}, no matrix": "x".join(map(str, n)) for n in scaled}
    return without_matrix(arguments, "spread_bench", sizes, "least, ms", ranks, seconds)


def compact(arguments, seconds):
    """Compact finite differences in one pass; `one` is the time of one rank for the same work, or for its part of it."""
    options = [] if arguments.types == "host" else ["-dm_vec_type", arguments.types]
    for nodes, works in COMPACT.items():
        alone = {}
        for work, ranks, staged, cut, grid, along in compact_scaling.cases(max(1, nodes // arguments.scale), max(arguments.ranks)):
            names = {axis: f"compact, {work}, {' x '.join(map(str, grid))}, along {axis}" for axis in along}
            along = "".join(axis for axis, name in names.items() if name.startswith(arguments.only))
            if work not in works or ranks not in {1, *arguments.ranks} or seconds() < 5 or not along:
                continue
            for row in compact_scaling.run(arguments.build, (work, ranks, staged, cut, grid, along), options, min(arguments.each, seconds()), arguments.mpiexec):
                if row["way"] == "one pass":
                    one = alone.setdefault(row["axis"], row["seconds"]) if work == "alone" else alone.get(row["axis"])
                    yield {"case": names[row["axis"]], "ranks": ranks, "weak": work in ("alone", "weak"), "iterations": 1, "solve": row["seconds"],
                           "one": one and one * compact_scaling.PARTS.get(work, 1), "residual": row["most"]}


def text_of(results):
    """Efficiency is of an iteration: one rank's time over that of several, of which each has the same grid, or its part of one."""
    alone = {r["case"]: r["solve"] / max(1, r["iterations"]) for r in results if r["ranks"] == 1}
    rows = [["case", "ranks", "iterations", "new values, ms", "solve, ms", "x as fast", "efficiency", "residual or error"]]
    for r in results:
        once = r["solve"] / max(1, r["iterations"])
        one = r.get("one", alone.get(r["case"]))
        gain = one / once * (r["ranks"] if r["weak"] else 1) if one else None
        rows.append([r["case"], str(r["ranks"]), str(r["iterations"]), f"{1e3 * r['update']:.3g}" if "update" in r else "–", f"{1e3 * r['solve']:.3g}",
                     f"{gain:.2f}" if gain else "–", f"{100 * gain / r['ranks']:.0f} %" if gain else "–", f"{r['residual']:.1e}"])
    return "\n".join(table(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, help="of a stack: build/cuda-sm_90, say")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--types", default="host", help="of vectors: cuda, or host")
    parser.add_argument("--scale", type=int, default=1, help="divides lengths")
    parser.add_argument("--only", default="", help="cases whose names begin so")
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--limit", type=float, default=540, help="seconds for all")
    parser.add_argument("--each", type=float, default=60, help="seconds for one")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    end, results = time.monotonic() + arguments.limit, []

    def keep(*rows):
        results.extend(rows)
        if arguments.json:
            arguments.json.write_text(json.dumps(results, indent=1))

    def left():
        return end - time.monotonic()

    for case in range(sum(1 for _ in cases(1, arguments.scale))):
        for ranks in arguments.ranks:
            chosen = list(cases(ranks, arguments.scale))[case]
            if left() < 5 or not chosen[0].startswith(arguments.only):
                continue
            result = run(arguments, chosen, ranks, min(arguments.each, left()))
            keep(*([result] if result else []))
    for solves in (lines, spread):
        for ranks in arguments.ranks:
            if left() >= 5:
                keep(*solves(arguments, ranks, min(arguments.each, left())))
    for row in compact(arguments, left):
        keep(row)
    print(text_of(results))
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main())
