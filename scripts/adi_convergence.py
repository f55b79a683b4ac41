"""Iterations of -ksp_type adi: all ends of lines and ratios of couplings, and convection beside what -ksp_view promises.

Writes the tables of docs/project/adi-convergence.md. The program is tests/plugin/programs/adi_probe.c.
"""

import argparse
import itertools
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

RATIOS = ["1", "1e2", "1e4", "1e6"]
PECLET = ["0", "0.5", "0.9", "1", "2", "5", "20"]
NAMES = {"d": "values", "n": "no flux", "p": "closed"}
ON_DEVICE = "-dm_mat_type aijcusparse -dm_vec_type cuda"


def probe(build, options):
    command = [str(build / "bin" / "adi_probe"), "-dll_append", str(build / "lib" / "libweft.so")]
    command += f"-ksp_rtol 1e-8 -ksp_max_it 2000 -ksp_view {options}".split()
    output = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    ).stdout
    found = re.search(r"(\w+) iterations (\d+) residual (\S+)", output)
    if not found:
        sys.exit(output)
    return output, found.group(1), int(found.group(2)), float(found.group(3))


def ends_cell(build, sizes, ends, strength, where="", direct="lu"):
    """Iterations; where the tolerance is below what double precision can do, where they end, and where a direct solver does."""
    flags = [",".join(str(int(e == kind)) for e in ends) for kind in "pn"]
    problem = f"-n {sizes} -ring {flags[0]} -neumann {flags[1]} -strength {strength} -star {where}"
    _, reason, iterations, residual = probe(build, f"{problem} -ksp_type adi -ksp_max_it 40")
    if reason == "CONVERGED_RTOL":
        return str(iterations)
    beside = probe(build, f"{problem} -ksp_type preonly -pc_type {direct}")[3]
    ending = "" if reason == "DIVERGED_BREAKDOWN" else f", {reason}"
    return f"{iterations} at {residual:.0e} ({direct} {beside:.0e}{ending})"


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def cubes(build, sizes, ends, ratios, jobs, where):
    """Three directions of any size, the strong one along z, several at a time; `bcr` beside them."""
    ends = ends or sorted({"".join(sorted(e[:2])) + e[2] for e in map("".join, itertools.product("dnp", repeat=3))})

    def row(which):
        n, e = which
        return ", ".join(ends_cell(build, f"{n},{n},{n}", e, f"1,1,{r}", where, "bcr") for r in ratios)

    with ThreadPoolExecutor(jobs) as pool:
        cells = pool.map(row, [(n, e) for e in ends for n in sizes])
        table(["ends along x, y, z", *(f"{n}³" for n in sizes)], ([", ".join(NAMES[c] for c in e), *(next(cells) for _ in sizes)] for e in ends))


def main(build):
    sizes = ["33,33", "65,65", "129,129", "257,257"]
    table(
        ["ends along x", "along y", *(n.replace(",", " x ") for n in sizes)],
        (
            [NAMES[ends[0]], NAMES[ends[1]], *(", ".join(ends_cell(build, n, ends, f"1,{r}") for r in RATIOS) for n in sizes)]
            for ends in itertools.product("dnp", repeat=2)
        ),
    )
    table(
        ["ends along x, y, z", "1, sqrt R, R"],
        (
            [
                ", ".join(NAMES[e] for e in ends),
                ", ".join(ends_cell(build, "33,33,33", ends, f"1,{float(r) ** 0.5:g},{r}", direct="bcr") for r in RATIOS),
            ]
            for ends in itertools.product("dnp", repeat=3)
        ),
    )
    rows = []
    for n, kind, peclet in itertools.product(["64,64", "32,32,32"], ["", "-upwind"], PECLET):
        output, reason, iterations, _ = probe(build, f"-n {n} -convection {peclet} {kind} -ksp_type adi")
        leaves = re.search(r"leaves (\S+) of", output)
        cycles = re.search(r"(\d+) cycles for eight", output)
        shifts = re.search(r"(\d+) in a cycle", output).group(1)
        gmres = probe(build, f"-n {n} -convection {peclet} {kind} -ksp_type gmres -pc_type adi")
        measured = str(iterations) if reason == "CONVERGED_RTOL" else reason
        promise = [leaves.group(1), cycles.group(1)] if cycles else ["-", "nothing is promised"]
        rows.append([n.replace(",", " x "), "upwind" if kind else "central", peclet, shifts, *promise, measured, str(gmres[2])])
    table(["grid", "differences", "cell Péclet", "shifts", "a cycle leaves", "cycles promised", "taken", "GMRES, `-pc_type adi`"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--cubes", type=int, nargs="+", metavar="N", help="only N x N x N")
    parser.add_argument("--ends", nargs="+", metavar="XYZ", help="with --cubes: such as ddn: values, values, no flux; else all, x and y being alike")
    parser.add_argument("--ratios", nargs="+", default=RATIOS, metavar="R", help="with --cubes")
    parser.add_argument("--less-memory", action="store_true", help="with --cubes: factors are not kept; 257³ takes 7 GB")
    parser.add_argument("--device", action="store_true", help="with --cubes: on a CUDA device")
    parser.add_argument("--jobs", type=int, default=1, help="with --cubes: so many at a time")
    arguments = parser.parse_args()
    where = ([ON_DEVICE] if arguments.device else []) + (["-pc_adi_keep_factors false"] if arguments.less_memory else [])
    if arguments.cubes:
        cubes(arguments.build, arguments.cubes, arguments.ends, arguments.ratios, arguments.jobs, " ".join(where))
    else:
        main(arguments.build)
