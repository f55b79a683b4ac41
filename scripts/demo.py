#!/usr/bin/env python3
"""The demo: PETSc's tutorials ex50 and ex45, untouched, by PETSc's multigrid with its default smoother and with -pc_type line, by -pc_type boxmg alone,
and a real matrix with four PCs.

Prints tables, draws the convergence curves. Every program is PETSc's own or knows nothing of Weft; the options shown are the whole difference.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
TYPES = {"host": "", "cuda": "-dm_vec_type cuda -dm_mat_type aijcusparse", "hip": "-dm_vec_type hip -dm_mat_type aijhipsparse", "kokkos": "-dm_vec_type kokkos -dm_mat_type aijkokkos"}
MULTIGRID = "-pc_type mg -pc_mg_levels {levels} -pc_mg_galerkin both"
SOLVERS = {  # name: options
    "default smoother": MULTIGRID,
    "line": f"{MULTIGRID} -mg_levels_pc_type line",
    "zebra line": f"{MULTIGRID} -mg_levels_pc_type line -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1",
    "boxmg": "-pc_type boxmg",
}
PROBLEMS = [("ex50", 4, [(129, 129), (33, 513), (17, 1025)]), ("ex45", 3, [(33, 33, 33), (17, 17, 129), (9, 9, 513)])]
MATRIX = "HB__sherman1.mtx.gz"
PRECONDITIONERS = ["-pc_type jacobi", "-pc_type sor", "-pc_type ilu", "-pc_type line"]


def fail(sentence):
    sys.exit(f"weft demo: {sentence}")


def run(command):
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if process.returncode:
        print(process.stdout)
        fail(f"'{' '.join(command)}' ended with {process.returncode}")
    return process.stdout


def solve(demo, program, sizes, options):
    """Iterations, seconds in KSPSolve (set-up is in PCSetUp) and the residual norms of one run."""
    grid = [word for axis, size in zip("xyz", sizes) for word in (f"-da_grid_{axis}", str(size))]
    watch = ["-ksp_converged_reason", "-ksp_monitor", "-log_view", ":/dev/stdout"]
    output = run([str(demo.programs / program), "-dll_append", str(demo.library)] + grid + options.split() + watch)
    reason = re.search(r"(CONVERGED|DIVERGED)_\w+ iterations (\d+)", output)
    seconds = re.search(r"^KSPSolve +\d+ +[\d.]+ +([\d.e+-]+)", output, re.M)
    if not reason or not seconds:
        print(output)
        fail(f"{program} did not say how it ended")
    norms = [float(norm) for norm in re.findall(r"^ +\d+ KSP Residual norm (\S+)", output, re.M)]
    return int(reason.group(2)), float(seconds.group(1)), norms, reason.group(1) == "CONVERGED"


def table(header, rows):
    widths = [max(len(str(row[k])) for row in [header] + rows) for k in range(len(header))]
    for number, row in enumerate([header] + rows):
        print("  ".join(str(cell).ljust(width) if k == 0 else str(cell).rjust(width) for k, (cell, width) in enumerate(zip(row, widths))))
        if number == 0:
            print("  ".join("-" * width for width in widths))
    print(flush=True)


def multigrid(demo, kind):
    """Both tutorials on all grids; returns what was measured."""
    measured = []
    for program, levels, grids in PROBLEMS:
        print(f"{program}, PETSc's multigrid on {levels} levels" + (f"   [{kind}]" if len(demo.types) > 1 else ""))
        rows = []
        for sizes in grids:
            row = ["x".join(map(str, sizes))]
            for name, options in SOLVERS.items():
                iterations, seconds, norms, converged = solve(demo, program, sizes, f"-ksp_rtol 1e-8 {options.format(levels=levels)} {TYPES[kind]}")
                measured.append(dict(program=program, types=kind, grid=row[0], solver=name, iterations=iterations, seconds=seconds, norms=norms, converged=converged))
                row.append(f"{iterations} in {seconds:.3f} s" if converged else f"no convergence in {iterations}")
            rows.append(row)
        table(["iterations, seconds"] + list(SOLVERS), rows)
    return measured


def real_matrix(demo):
    print(f"weft_mm {MATRIX}: a SuiteSparse matrix (oil reservoir simulation), GMRES, rtol 1e-8")
    command = [str(demo.programs / "weft_mm"), str(SOURCE / "matrices" / MATRIX), "-dll_append", str(demo.library), "-ksp_rtol", "1e-8"]
    command += ["-compare", "; ".join(PRECONDITIONERS), "-json", str(demo.out / "weft_mm.json")]
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    print(process.stdout)
    if process.returncode not in (0, 2):  # 2: some PC of the comparison did not converge, which the table shows
        fail(f"weft_mm ended with {process.returncode}: {process.stderr}")


def picture(demo, measured):
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("no picture: this Python has no matplotlib (Debian: python3-matplotlib)")
        return
    runs = [run for run in measured if run["program"] == "ex50" and run["types"] == demo.types[0]]
    grids = list(dict.fromkeys(run["grid"] for run in runs))
    figure, axes = pyplot.subplots(1, len(grids), figsize=(4 * len(grids), 3.6), sharey=True, squeeze=False)
    for axis, grid in zip(axes[0], grids):
        for run_ in (run for run in runs if run["grid"] == grid):
            axis.semilogy([norm / run_["norms"][0] for norm in run_["norms"]], marker=".", label=f"{run_['solver']} ({run_['iterations']})")
        axis.set_title(f"ex50, {grid}")
        axis.set_xlabel("iteration")
        axis.legend()
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("residual / first residual")
    figure.suptitle("PETSc's multigrid with its default smoother and with lines, and -pc_type boxmg")
    figure.tight_layout()
    path = demo.out / "convergence.png"
    figure.savefig(path, dpi=120)
    print(f"picture: {path}")


def check(measured):
    """What the demo claims: lines and boxmg need the same iterations on every grid, and on every kind of vector."""
    failures = []
    for solver in ("line", "zebra line", "boxmg"):
        for program in ("ex50",):
            counts = [run["iterations"] for run in measured if run["program"] == program and run["solver"] == solver]
            if max(counts) - min(counts) > 2:
                failures.append(f"{program} with {solver}: iterations from {min(counts)} to {max(counts)}")
    if not all(run["converged"] for run in measured):
        failures.append("not every run converged")
    return failures


def main():
    parser = argparse.ArgumentParser(prog="weft demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="build folder: bin/, lib/; results are written to demo/")
    parser.add_argument("--programs", type=Path, help="where the programs are, if not in BUILD/bin")
    parser.add_argument("--library", type=Path, help="libweft.so, if not in BUILD/lib")
    parser.add_argument("--types", default="host", help="vector and matrix types, comma separated: host, cuda, hip, kokkos")
    demo = parser.parse_args()
    demo.programs = (demo.programs or demo.build / "bin").resolve()
    demo.library = (demo.library or demo.build / "lib" / "libweft.so").resolve()
    demo.out = (demo.build / "demo").resolve()
    demo.out.mkdir(parents=True, exist_ok=True)
    demo.types = demo.types.split(",")
    for kind in demo.types:
        if kind not in TYPES:
            fail(f"unknown type '{kind}': there are {', '.join(TYPES)}")
    if not (demo.programs / "ex50").exists():
        fail("PETSc's tutorials were not built: install them (Debian: libpetsc3.18-dev-examples), or set WEFT_TUTORIALS to PETSc's src/ksp/ksp/tutorials")
    os.environ.pop("PETSC_OPTIONS", None)

    print("PETSc's multigrid with its default smoother (Chebyshev and SOR) and with line relaxation, and Weft's; each program is PETSc's own, loaded with\n-dll_append libweft.so -ksp_rtol 1e-8:")
    for name, options in SOLVERS.items():
        print(f"  {name}: {options.format(levels='LEVELS')}")
    print()
    measured = [result for kind in demo.types for result in multigrid(demo, kind)]
    real_matrix(demo)
    picture(demo, measured)
    (demo.out / "demo.json").write_text(json.dumps(measured, indent=1))
    failures = check(measured)
    for failure in failures:
        print(f"weft demo: {failure}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
