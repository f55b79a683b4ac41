#!/usr/bin/env python3
"""Line relaxation and its rivals on examples/diffusion, each to the same true residual: a table and two plots.

A case is a process of its own with a time limit. One that fails, does not converge or takes too long is a row that says so.
"""

import argparse
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
OPTIONS = SOURCE / "examples" / "diffusion"
TOLERANCE = 1e-8
TYPES = {"host": "", "cuda": "-dm_vec_type cuda -dm_mat_type aijcusparse -assembly coo", "kokkos": "-dm_vec_type kokkos -dm_mat_type aijkokkos -assembly coo"}
COMMON = f"-ksp_rtol {TOLERANCE} -ksp_norm_type unpreconditioned -ksp_max_it 1000"
MULTIGRID = f"{COMMON} -ksp_type cg -pc_type mg -pc_mg_galerkin both"
METHODS = {  # name: (options in 2-D, in 3-D), beside the grid's
    "MG + line": (f"-options_file {OPTIONS}/multigrid-line.opts", f"-options_file {OPTIONS}/multigrid-line-3d.opts"),
    "boxmg": (f"{COMMON} -ksp_type cg -pc_type boxmg",) * 2,
    "boxmg, single": (f"{COMMON} -ksp_type cg -pc_type boxmg -pc_boxmg_precision single",) * 2,
    "boxmg, Richardson": (f"{COMMON} -ksp_type richardson -pc_type boxmg",) * 2,
    "boxmg, Richardson, single": (f"{COMMON} -ksp_type richardson -pc_type boxmg -pc_boxmg_precision single",) * 2,
    "line alone": (f"-options_file {OPTIONS}/krylov-line.opts",) * 2,
    "MG + SOR (default)": (MULTIGRID,) * 2,
    "MG + Jacobi": (f"{MULTIGRID} -mg_levels_pc_type jacobi",) * 2,
    "GAMG": (f"{COMMON} -ksp_type cg -pc_type gamg",) * 2,
    "ILU(0)": (f"{COMMON} -ksp_type bcgs -pc_type bjacobi -sub_pc_type ilu",) * 2,
    "BoomerAMG": (f"{COMMON} -ksp_type cg -pc_type hypre",) * 2,
}
ON_HOST = "-mg_coarse_ksp_type preonly -mg_coarse_pc_type redundant"  # a small factorization costs a host little, and a device a lot
COARSEST = {2: 33, 3: 17}  # nodes a side of the coarsest grid of PCMG
OTHER_PROBLEMS = {  # name: (dimension, options of the problem, options of the line methods, whether the matrix is symmetric)
    "isotropic": (2, "-eps 1", "", True),
    "eps 1e-3": (2, "-eps 1e-3", "", True),
    "eps 1, K jumps by 1e4": (2, "-eps 1 -contrast 1e4", "", True),
    "eps 1e-3, K jumps by 1e4": (2, "-eps 1e-3 -contrast 1e4", "", True),
    "mesh stretched by 1e3": (2, "-stretch 1e3", "", True),
    "convection along lines, v = (0, 1e3)": (2, "-velocity 0,1e3", "-ksp_type fgmres", False),
    "convection across, v = (1e3, 3e2)": (2, "-velocity 1e3,3e2", "-ksp_type fgmres", False),
    "eps 1e-3, at 15 degrees": (2, "-eps 1e-3 -angle 15", "", True),
    "eps 1e-3, at 45 degrees": (2, "-eps 1e-3 -angle 45", "", True),
    "eps 1e-3, at 45 degrees, alternating lines": (2, "-eps 1e-3 -angle 45", "-mg_levels_pc_line_direction xy -pc_line_direction xy -pc_line_sweep symmetric", True),
    "3-D, K = (1, 1e3, 1e-3)": (3, "-k 1,1e3,1e-3", "", True),
    "3-D, isotropic": (3, "-k 1,1,1", "", True),
}


def grid(dimension, size, method):
    """Options for SIZE nodes a side; a multigrid method comes by its levels by refinement."""
    axes = "xyz"[:dimension]
    coarse, refinements = size, 0
    while "MG +" in method and coarse > COARSEST[dimension] and coarse % 2 == 1:
        coarse, refinements = (coarse + 1) // 2, refinements + 1
    words = [f"-da_grid_{axis} {coarse}" for axis in axes] + [f"-dim {dimension}"]
    return " ".join(words + ([f"-da_refine {refinements}"] if refinements else []))


def solve(arguments, method, dimension, size, problem, more="", symmetric=True):
    """One process; a dictionary with what it measured, or with why it did not."""
    program, library = arguments.build / "bin" / "diffusion", arguments.build / "lib" / "libweft.so"
    options = METHODS[method][dimension - 2]
    if not symmetric:
        options = options.replace("-ksp_type cg", "-ksp_type fgmres")
    command = [str(program)] + (["-dll_append", str(library)] if "line" in method or "boxmg" in method else [])
    command += f"{grid(dimension, size, method)} {problem} {options} {TYPES[arguments.types]} -repeat {arguments.repeat}".split()
    if "line" in method:
        command += f"{more} {ON_HOST if arguments.types == 'host' and 'MG' in method else ''}".split()
    if arguments.ranks > 1:
        command = [arguments.mpiexec, "-n", str(arguments.ranks)] + command
    result = measure(command, arguments.limit)
    if "failure" not in result and not 0 <= result["residual"] <= 1.01 * TOLERANCE:
        result["failure"] = f"residual {result['residual']:.0e}"
    return result


def measure(command, limit):
    """What a process of examples/diffusion measured, or why it did not."""
    with tempfile.TemporaryDirectory(prefix="weft") as folder:
        environment = dict(os.environ, TMPDIR=folder, OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive", OMPI_MCA_rmaps_base_oversubscribe="1")
        try:
            process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit, env=environment)
        except subprocess.TimeoutExpired:
            return {"failure": f"> {limit:g} s"}
    found = re.search(r"^\{.*\}$", process.stdout, re.M)
    if process.returncode or not found:
        error = re.search(r"PETSC ERROR: (?!-)(\S.*)", process.stdout)
        return {"failure": "not in this PETSc" if "Unable to find requested PC type" in process.stdout else "error", "error": error.group(1) if error else process.stdout[-400:]}
    result = json.loads(found.group(0))
    result["command"] = " ".join(command)
    if not result["converged"]:
        result["failure"] = result["reason"].replace("DIVERGED_", "").lower()
    return result


def cell(result):
    if "failure" in result:
        return result["failure"]
    return f"{result['iterations']} · {result['solve'] * 1e3:.3g} · {result['solve_cpu'] * 1e3:.3g}"


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * 1 + "--:|" * (len(header) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def plots(arguments, measured, methods):
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("no plots: this Python has no matplotlib (Debian: python3-matplotlib)")
        return
    good = [run for run in measured if "failure" not in run["result"]]
    size = arguments.sizes[-1]
    figure, axis = pyplot.subplots(figsize=(6.4, 4.2))
    for method in methods:
        runs = [run for run in good if run["method"] == method and run["size"] == size]
        if runs:
            axis.loglog([run["eps"] for run in runs], [run["result"]["iterations"] for run in runs], marker=".", label=method)
    axis.invert_xaxis()
    axis.set(xlabel="eps (K = diag(1, 1/eps))", ylabel="iterations", title=f"{size} x {size}, true residual {TOLERANCE:g}")
    axis.legend(fontsize=8)
    axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(arguments.out / "lines-iterations.png", dpi=110)
    eps = min(arguments.eps, key=lambda value: abs(math.log10(value) + 3))
    key = "solve_cpu" if arguments.types == "host" else "solve"
    figure, axis = pyplot.subplots(figsize=(6.4, 4.2))
    for method in methods:
        runs = [run for run in good if run["method"] == method and run["eps"] == eps]
        if runs:
            axis.loglog([run["size"] ** 2 for run in runs], [max(run["result"][key], 1e-5) for run in runs], marker=".", label=method)
    axis.set(xlabel="unknowns", ylabel="processor seconds of a solve" if key == "solve_cpu" else "seconds of a solve", title=f"eps {eps:g}, true residual {TOLERANCE:g}")
    axis.legend(fontsize=8)
    axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(arguments.out / "lines-time.png", dpi=110)


def processor():
    try:
        return re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text()).group(1)
    except (OSError, AttributeError):
        return platform.machine()


def write(arguments, measured, others):
    """The page and its figures, so far."""
    any_run = next((run["result"] for run in measured + others if "petsc" in run["result"]), {"petsc": "?"})
    ranks = f"{arguments.ranks} rank{'s' if arguments.ranks > 1 else ''}"
    text = ["# Line relaxation and its rivals", "", "    python3 scripts/lines.py " + " ".join(sys.argv[1:]), ""]
    text += [f"PETSc {any_run['petsc']}, {ranks}, types {arguments.types}, {processor()}, {os.cpu_count()} cores. Each method solves to ||b - Ax|| <= {TOLERANCE:g} ||b||,"]
    text += ["computed from the solution after the solve; the right-hand side is random. A cell holds iterations · milliseconds of a solve by the wall clock"]
    text += [f"(fastest of {arguments.repeat}, after one for warm-up) · milliseconds of processor time. Where a method failed, the cell says how:"]
    text += [f"`its` is no convergence in 1000 iterations, `> {arguments.limit:g} s` the limit for the whole process."]

    def rows(runs, label, key):
        groups = {}
        for run in runs:
            groups.setdefault(key(run), []).append(run)
        return [[label(group[0])] + [cell(run["result"]) for run in group] for group in groups.values()]

    text += ["", "## K = diag(1, 1/eps)", ""]
    text += [table(["grid, eps"] + arguments.methods, rows(measured, lambda run: f"{run['size']}², {run['eps']:g}", lambda run: (run["size"], run["eps"])))]
    text += ["", "![iterations against eps](lines-iterations.png) ![time against size](lines-time.png)"]
    if others:
        label = lambda run: f"{run['problem']}, {run['size']}{'²³'[OTHER_PROBLEMS[run['problem']][0] - 2]}"
        text += ["", "## Other problems", "", table(["problem"] + arguments.methods, rows(others, label, lambda run: run["problem"]))]
    (arguments.out / "lines.md").write_text("\n".join(text) + "\n")
    (arguments.out / "lines.json").write_text(json.dumps(dict(measured=measured, others=others), indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=SOURCE / "build" / "dev", help="build folder with bin/diffusion and lib/libweft.so")
    parser.add_argument("--types", choices=TYPES, default="host", help="where vectors and matrices are")
    parser.add_argument("--sizes", type=int, nargs="+", default=[65, 129, 257, 513], help="nodes a side of the square grids")
    parser.add_argument("--eps", type=float, nargs="+", default=[1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--problems-size", type=int, nargs=2, default=[129, 33], help="nodes a side for the other problems in 2-D and 3-D; 0 leaves them out")
    parser.add_argument("--repeat", type=int, default=3, help="timed solves; the fastest counts")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one case")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--mpiexec", default=os.environ.get("WEFT_MPIEXEC", "mpiexec"))
    parser.add_argument("--out", type=Path, help="folder for lines.md, lines.json and the plots (default: BUILD/results)")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    arguments.out = arguments.out or arguments.build / "results"
    arguments.out.mkdir(parents=True, exist_ok=True)
    if not (arguments.build / "bin" / "diffusion").exists():
        sys.exit(f"lines: {arguments.build}/bin/diffusion is not there: build it first")

    measured, others = [], []
    for name, (dimension, problem, more, symmetric) in OTHER_PROBLEMS.items():
        size = arguments.problems_size[dimension - 2]
        for method in arguments.methods if size else []:
            result = solve(arguments, method, dimension, size, problem, more, symmetric)
            others.append(dict(problem=name, size=size, method=method, result=result))
            print(f"{name} {size} {method}: {cell(result)}", flush=True)
    for size in arguments.sizes:
        for eps in arguments.eps:
            for method in arguments.methods:
                result = solve(arguments, method, 2, size, f"-eps {eps:g}")
                measured.append(dict(size=size, eps=eps, method=method, result=result))
                print(f"{size} eps {eps:g} {method}: {cell(result)}", flush=True)
        write(arguments, measured, others)
    plots(arguments, measured, arguments.methods)
    print(f"written: {arguments.out}/lines.md")


if __name__ == "__main__":
    main()
