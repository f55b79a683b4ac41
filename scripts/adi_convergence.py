"""Iterations of -ksp_type adi: all ends of lines and ratios of couplings, and convection beside what -ksp_view promises.

Writes the tables of docs/results/adi-convergence.md. The program is tests/plugin/programs/adi_probe.c.
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


def ends_cell(build, sizes, ends, strength):
    flags = [",".join(str(int(e == kind)) for e in ends) for kind in "pn"]
    problem = f"-n {sizes} -ring {flags[0]} -neumann {flags[1]} -strength {strength}"
    _, reason, iterations, _ = probe(build, f"{problem} -ksp_type adi -ksp_max_it 40")
    if reason == "CONVERGED_RTOL":
        return str(iterations)
    direct = probe(build, f"{problem} -ksp_type preonly -pc_type lu")[3]  # what double precision can do
    _, _, _, residual = probe(build, f"{problem} -ksp_type adi -ksp_max_it 15")
    return f"at {residual:.0e} (LU {direct:.0e})"


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print()


def cubes(build, sizes, jobs, where):
    """Three directions of any size, several at a time, without LU beside them."""

    def cell(n, ends):
        flags = [",".join(str(int(e == kind)) for e in ends) for kind in "pn"]
        found = []
        for ratio in RATIOS:
            problem = f"-n {n},{n},{n} -ring {flags[0]} -neumann {flags[1]} -strength 1,1,{ratio} -ksp_type adi {where}"
            _, reason, iterations, _ = probe(build, f"{problem} -ksp_max_it 40")
            found.append(str(iterations) if reason == "CONVERGED_RTOL" else f"at {probe(build, f'{problem} -ksp_max_it 15')[3]:.0e}")
        return ", ".join(found)

    every = list(itertools.combinations_with_replacement("dnp", 3))
    with ThreadPoolExecutor(jobs) as pool:
        columns = [list(pool.map(lambda ends, n=n: cell(n, ends), every)) for n in sizes]
    table(["ends along x, y, z", *(f"{n}³" for n in sizes)], ([", ".join(NAMES[e] for e in ends), *row] for ends, *row in zip(every, *columns)))


def main(build):
    sizes = ["33,33", "65,65", "257,257"]
    table(
        ["ends along x", "along y", *(n.replace(",", " x ") for n in sizes)],
        (
            [NAMES[ends[0]], NAMES[ends[1]], *(", ".join(ends_cell(build, n, ends, f"1,{r}") for r in RATIOS) for n in sizes)]
            for ends in itertools.product("dnp", repeat=2)
        ),
    )
    table(
        ["ends along x, y, z", "1, 1, R", "1, sqrt R, R"],
        (
            [
                ", ".join(NAMES[e] for e in ends),
                *(", ".join(ends_cell(build, "33,33,33", ends, form.format(r, float(r) ** 0.5)) for r in RATIOS) for form in ("1,1,{0}", "1,{1},{0}")),
            ]
            for ends in itertools.combinations_with_replacement("dnp", 3)
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
    parser.add_argument("--device", action="store_true", help="with --cubes: on a CUDA device")
    parser.add_argument("--jobs", type=int, default=1, help="with --cubes: so many at a time")
    arguments = parser.parse_args()
    if arguments.cubes:
        cubes(arguments.build, arguments.cubes, arguments.jobs, ON_DEVICE if arguments.device else "")
    else:
        main(arguments.build)
