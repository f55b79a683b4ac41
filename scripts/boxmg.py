#!/usr/bin/env python3
"""Multigrid in one option and its rivals on examples/diffusion, set-up and solve: a table of iterations, new values and solves.

    scripts/boxmg.py --build build/debian --sizes 257 1025 --sizes-3d 65 > table.md

Each case is a process of its own, as in lines.py, whose methods and limits these are. All solve to the same true residual.
"""

import argparse
import os
from pathlib import Path

import lines

CASES = {  # name: (dimension, options of the problem, whether the matrix is symmetric)
    "K = 1": (2, "-k 1,1", True),
    "K = (1, 1e3)": (2, "-k 1,1e3", True),
    "K = (1e3, 1)": (2, "-k 1e3,1", True),
    "K = (1, 1e6)": (2, "-k 1,1e6", True),
    "K jumps by 1e4": (2, "-k 1,1 -contrast 1e4", True),
    "K = (1, 1e3), jumps by 1e4": (2, "-k 1,1e3 -contrast 1e4", True),
    "mesh stretched by 1e3": (2, "-k 1,1 -stretch 1e3", True),
    "mesh stretched by 1e5": (2, "-k 1,1 -stretch 1e5", True),
    "convection, v = (1e3, 3e2), upwind": (2, "-k 1,1 -velocity 1e3,3e2", False),
    "convection, v = (1e6, 3e5), upwind": (2, "-k 1,1 -velocity 1e6,3e5", False),
    "K = (1, 1e3), at 15 degrees": (2, "-k 1,1e3 -angle 15", True),
    "3-D, K = 1": (3, "-k 1,1,1", True),
    "3-D, K = (1, 1e3, 1e-3)": (3, "-k 1,1e3,1e-3", True),
    "3-D, K = (1, 1, 1e3)": (3, "-k 1,1,1e3", True),
    "3-D, K = (1, 1e3, 1e3)": (3, "-k 1,1e3,1e3", True),
    "3-D, K = 1, jumps by 1e4": (3, "-k 1,1,1 -contrast 1e4", True),
    "3-D, mesh stretched by 1e3": (3, "-k 1,1,1 -stretch 1e3", True),
}


def cell(result, clock):
    if "failure" in result:
        return result["failure"]
    update, solve = result["update"] * 1e3, result[clock] * 1e3
    return f"{result['iterations']} · {update:.3g} · {solve:.3g} · {update + solve:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="build folder with bin/diffusion and lib/libweft.so")
    parser.add_argument("--types", choices=lines.TYPES, default="host", help="where vectors and matrices are")
    parser.add_argument("--sizes", type=int, nargs="*", default=[257, 1025], help="nodes a side in 2-D")
    parser.add_argument("--sizes-3d", type=int, nargs="*", default=[65], help="nodes a side in 3-D")
    parser.add_argument("--methods", nargs="+", choices=lines.METHODS, default=["boxmg", "boxmg, single", "MG + line", "BoomerAMG", "GAMG"])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--repeat", type=int, default=3, help="timed solves; the fastest counts")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one case")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--mpiexec", default=os.environ.get("WEFT_MPIEXEC", "mpiexec"))
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    print(lines.table(["problem: iterations · new values · solve · both, ms"] + arguments.methods, []), flush=True)
    for name in arguments.cases:
        dimension, problem, symmetric = CASES[name]
        for size in arguments.sizes if dimension == 2 else arguments.sizes_3d:
            row = [f"{name}, {size}{'²³'[dimension - 2]}"]
            for method in arguments.methods:
                result = lines.solve(arguments, method, dimension, size, problem, "" if symmetric else "-ksp_type fgmres", symmetric)
                row.append(cell(result, "solve"))
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
