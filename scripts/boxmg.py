#!/usr/bin/env python3
"""Multigrid in one option and its rivals on examples/diffusion, set-up and solve: a table of iterations, new values and solves.

    scripts/boxmg.py --build build/debian --sizes 257 1025 --sizes-3d 65 > table.md
    scripts/boxmg.py --build build/debian --robustness > table.md           # boxmg alone, iterations only, many problems and sizes
    scripts/boxmg.py --build build/cuda-sm_90 --types cuda --robustness --jobs 6 --sizes 2049 4097 --sizes-3d 129 257

Each case is a process of its own, as in diffusion.py, whose methods and limits these are. All solve to the same true residual.
"""

import argparse
import itertools
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import diffusion

VARYING_PAIR = "-k 1,1,1e3 -contrast 1e3 -material turning"  # of strong directions in space
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
    "3-D, (1, 1e3, 1e3) in one half, (1e3, 1, 1e3) in the other": (3, VARYING_PAIR, True),
    "3-D, K = 1, jumps by 1e4": (3, "-k 1,1,1 -contrast 1e4", True),
    "3-D, mesh stretched by 1e3": (3, "-k 1,1,1 -stretch 1e3", True),
}

PECLET = "-ksp_gmres_restart 100 -velocity"


def convection(peclet, direction, more=""):
    """Options of the problem at n nodes a side, where K = 1: a cell's Péclet number is |v| h."""
    return lambda n: f"{PECLET} {','.join(f'{part * float(peclet) * (n - 1):.10g}' for part in direction)} {more}"


# name: (dimension, options of the problem or a function of the nodes a side, whether the matrix is symmetric, goal, not done above)
ROBUST = {
    "K = 1": (2, "-k 1,1", True, 7, 10),
    **{f"K = (1, 1e{j})": (2, f"-k 1,1e{j}", True, 7, 10) for j in range(1, 7)},
    **{f"K = (1e{j}, 1)": (2, f"-k 1e{j},1", True, 7, 10) for j in range(1, 7)},
    "mesh stretched by 1e3": (2, "-stretch 1e3", True, 7, 10),
    "mesh stretched by 1e5": (2, "-stretch 1e5", True, 7, 10),
    "(1, 1e3) in one half, (1e3, 1) in the other": (2, "-contrast 1e3 -material turning", True, 7, 10),
    "smooth, contrast 1e4": (2, "-contrast 1e4 -material smooth", True, 7, 10),
    "smooth, contrast 1e6": (2, "-contrast 1e6 -material smooth", True, 7, 10),
    "checkerboard 1e4, 8 x 8": (2, "-contrast 1e4 -material checkerboard", True, 16, 22),
    "checkerboard 1e6, 8 x 8": (2, "-contrast 1e6 -material checkerboard", True, 10, 14),
    "checkerboard 1e6, 7 x 7": (2, "-contrast 1e6 -material checkerboard -squares 7", True, 10, 14),
    "each node at random, 1e4": (2, "-contrast 1e4 -material random", True, 18, 25),
    **{f"convection (1, 0.3), Péclet {pe}": (2, convection(pe, (1, 0.3)), False, 9, 14) for pe in ("1", "100", "1e4")},
    "convection (1, 0), Péclet 1e4": (2, convection("1e4", (1, 0)), False, 9, 14),
    **{f"recirculating, Péclet {pe}": (2, convection(pe, (1, 0), "-flow recirculating"), False, 22, 40) for pe in ("1", "100", "1e4")},
    "Neumann": (2, "-ends neumann", True, 8, 12),
    "Neumann, K = (1, 1e3)": (2, "-ends neumann -k 1,1e3", True, 8, 12),
    "periodic": (2, "-ends periodic", True, 8, 12),
    "periodic, K = (1e3, 1)": (2, "-ends periodic -k 1e3,1", True, 8, 12),
    "circle": (2, "-mask circle", True, 8, 12),
    "nine holes": (2, "-mask holes", True, 8, 12),
    "nine holes, Neumann, K = (1, 1e3)": (2, "-mask holes -ends neumann -k 1,1e3", True, 8, 12),
    "3-D, K = 1": (3, "-k 1,1,1", True, 7, 10),
    **{f"3-D, K = ({', '.join(k)})": (3, f"-k {','.join(k)}", True, 7, 10) for k in itertools.permutations(("1", "1e3", "1e-3"))},
    **{f"3-D, K = ({', '.join(k)})": (3, f"-k {','.join(k)}", True, 7, 10) for k in sorted({*itertools.permutations(("1", "1", "1e3")), *itertools.permutations(("1", "1e3", "1e3"))})},
    "3-D, (1, 1e3, 1e3) in one half, (1e3, 1, 1e3) in the other": (3, VARYING_PAIR, True, 7, 10),
}


def robustness(arguments):
    """A table of iterations; those above the last limit are bold."""
    beyond = []
    for dimension, sizes in ((2, arguments.sizes), (3, arguments.sizes_3d)):
        print(diffusion.table(["problem", "goal", "not above"] + [f"{n}{'²³'[dimension - 2]}" for n in sizes], []), flush=True)
        names = [name for name in ROBUST if name in arguments.cases and ROBUST[name][0] == dimension]
        with ThreadPoolExecutor(arguments.jobs) as pool:
            solved = {(name, n): pool.submit(solve, arguments, "boxmg", name, n) for name in names for n in sizes}
            for name in names:
                *_, goal, most = ROBUST[name]
                row = [name, str(goal), str(most)]
                for n in sizes:
                    result = solved[name, n].result()
                    within = "failure" not in result and result["iterations"] <= most
                    shown = result.get("failure") or str(result["iterations"])
                    row.append(shown if within else f"**{shown}**")
                    if not within:
                        beyond.append(f"{name}, {n}: {shown} ({most})")
                print("| " + " | ".join(row) + " |", flush=True)
        print()
    print("Beyond what was not to be exceeded: " + ("; ".join(beyond) or "none"))


def solve(arguments, method, name, size):
    """A case of either table; what it measured is kept, where it is asked for."""
    dimension, problem, symmetric = (CASES.get(name) or ROBUST[name])[:3]
    problem = f"{problem(size) if callable(problem) else problem} -setups {arguments.setups}"
    result = diffusion.solve(arguments, method, dimension, size, problem, "" if symmetric else "-ksp_type fgmres", symmetric)
    if arguments.json:
        with arguments.json.open("a") as file:
            file.write(json.dumps({"case": name, "size": size, "method": method, **result}) + "\n")
    return result


def cell(result, clock):
    if "failure" in result:
        return result["failure"]
    update, solve = result["update"] * 1e3, result[clock] * 1e3
    return f"{result['iterations']} · {update:.3g} · {solve:.3g} · {update + solve:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="build folder with bin/diffusion and lib/libweft.so")
    parser.add_argument("--types", choices=diffusion.TYPES, default="host", help="where vectors and matrices are")
    parser.add_argument("--robustness", action="store_true", help="iterations of boxmg alone on many more problems, beside their limits")
    parser.add_argument("--sizes", type=int, nargs="*", help="nodes a side in 2-D (257 1025; with --robustness 65 100 129 257 500 1025)")
    parser.add_argument("--sizes-3d", type=int, nargs="*", help="nodes a side in 3-D (65; with --robustness 17 30 65)")
    parser.add_argument("--methods", nargs="+", choices=diffusion.METHODS, default=["boxmg", "boxmg, single", "MG + line", "BoomerAMG", "GAMG"])
    parser.add_argument("--cases", nargs="+", choices=[*CASES, *ROBUST], metavar="CASE", help="problems, by their names in the table (all)")
    parser.add_argument("--repeat", type=int, default=3, help="timed solves; the fastest counts")
    parser.add_argument("--setups", type=int, default=1, help="timed set-ups for new values; the fastest counts")
    parser.add_argument("--jobs", type=int, default=1, help="with --robustness: cases at once, because iterations do not depend on the clock")
    parser.add_argument("--json", type=Path, help="file to which each result is added as a line of JSON, with its command")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one case")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--mpiexec", default=os.environ.get("WEFT_MPIEXEC", "mpiexec"))
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    if not (arguments.build / "bin" / "diffusion").exists():
        parser.error(f"--build {arguments.build} has no bin/diffusion: name the folder of a build (./weft build makes build/debian)")
    if arguments.jobs < 1:
        parser.error("--jobs: at least 1")
    arguments.cases = arguments.cases or list(ROBUST if arguments.robustness else CASES)
    if arguments.sizes is None:
        arguments.sizes = [65, 100, 129, 257, 500, 1025] if arguments.robustness else [257, 1025]
    if arguments.sizes_3d is None:
        arguments.sizes_3d = [17, 30, 65] if arguments.robustness else [65]
    if arguments.robustness:
        arguments.repeat = 1
        robustness(arguments)
        return
    print(diffusion.table(["problem: iterations · new values · solve · both, ms"] + arguments.methods, []), flush=True)
    for name in arguments.cases:
        dimension = (CASES.get(name) or ROBUST[name])[0]
        for size in arguments.sizes if dimension == 2 else arguments.sizes_3d:
            row = [f"{name}, {size}{'²³'[dimension - 2]}"]
            row += [cell(solve(arguments, method, name, size), "solve") for method in arguments.methods]
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
