#!/usr/bin/env python3
"""The demo: PETSc's tutorials ex50 and ex45, untouched, by PETSc's multigrid with its default smoother and with -pc_type line, by -pc_type boxmg alone,
and a real matrix with four PCs.

Prints tables, draws the convergence curves. Every program is PETSc's own or knows nothing of Weft; the options shown are the whole difference. The tutorials
are those of evaluate/models.json, and their solvers the study evaluate/studies/demo.json, which run as every case of ./weft evaluate does.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
sys.path.append(str(SOURCE))
from evaluate import cases, machine  # noqa: E402
from evaluate.run import run_one  # noqa: E402

BACKENDS = {"host": "host", "cuda": "device", "hip": "hip", "kokkos": "kokkos"}  # evaluate's word for a type
FAMILY, STUDY = "tutorials", SOURCE / "evaluate" / "studies" / "demo.json"
MATRIX = "HB__sherman1.mtx.gz"
PRECONDITIONERS = ["-pc_type jacobi", "-pc_type sor", "-pc_type ilu", "-pc_type line"]


def fail(sentence):
    sys.exit(f"weft demo: {sentence}")


def table(header, rows):
    widths = [max(len(str(row[k])) for row in [header] + rows) for k in range(len(header))]
    for number, row in enumerate([header] + rows):
        print("  ".join(str(cell).ljust(width) if k == 0 else str(cell).rjust(width) for k, (cell, width) in enumerate(zip(row, widths))))
        if number == 0:
            print("  ".join("-" * width for width in widths))
    print(flush=True)


def tutorials(demo, kind):
    """All tutorials with all solvers; returns the rows of the evaluation."""
    asked = argparse.Namespace(build=demo.build.resolve(), backend=BACKENDS[kind], rtol=1e-8, max_it=2000, repeat=1, time_limit=120, memory_limit=machine.memory_bytes() // 2)
    commands, measured, programs = cases.Commands(asked, ""), [], {}
    for model in cases.models():
        if model.family == FAMILY:
            programs.setdefault(model.program, []).append(model)
    for program, models in programs.items():
        print(re.sub(r" -da_grid_\w+ \d+", "", f"{program} {models[0].options}") + (f"   [{kind}]" if len(demo.types) > 1 else ""))
        lines = []
        for model in models:
            rows = [run_one(commands.case(model, solver), asked) for solver in demo.solvers]
            if broken := next((row for row in rows if row["outcome"] in ("error", "crash", "memory")), None):
                fail(f"{model.name} with {broken['configuration']}: {broken['reason']}")
            measured += [{**row, "program": program, "types": kind, "grid": model.name.split()[-1]} for row in rows]
            lines.append([measured[-1]["grid"]] + [f"{row['iterations']} in {row['total_seconds']:.3f} s" if row["outcome"] == "solved" else f"{row['outcome']}: {row['reason']}" for row in rows])
        table(["iterations, seconds"] + [solver.name for solver in demo.solvers], lines)
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
    rows = [row for row in measured if row["program"] == "ex50" and row["types"] == demo.types[0]]
    grids = list(dict.fromkeys(row["grid"] for row in rows))
    figure, axes = pyplot.subplots(1, len(grids), figsize=(4 * len(grids), 3.6), sharey=True, squeeze=False)
    for axis, grid in zip(axes[0], grids):
        for row in (row for row in rows if row["grid"] == grid):
            norms = row.get("norms", [])
            axis.semilogy([norm / norms[0] for norm in norms], marker=".", label=f"{row['configuration']} ({row['iterations']})")
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
    """What the demo claims: every solver reaches the residual; over the grids of ex50 iterations with lines stay within two, and those of boxmg do not grow by more."""
    failures = [f"{row['problem']} with {row['configuration']}: {row['reason']}" for row in measured if row["outcome"] != "solved"]
    for kind, solver, type_ in dict.fromkeys((row["types"], row["configuration"], row["type"]) for row in measured if row["type"] in cases.WEFT):
        counts = [row["iterations"] for row in measured if (row["program"], row["types"], row["configuration"]) == ("ex50", kind, solver)]
        least = min(counts) if type_ == "line" else counts[0]
        if max(counts) > least + 2:
            failures.append(f"ex50 with {solver}: iterations from {least} to {max(counts)}")
    # Another kind of vector changes no iteration, but for rounding.
    for problem, solver in dict.fromkeys((row["problem"], row["configuration"]) for row in measured if row["type"] in cases.WEFT):
        counts = [row["iterations"] for row in measured if (row["problem"], row["configuration"]) == (problem, solver)]
        if max(counts) > min(counts) + 1:
            failures.append(f"{problem} with {solver}: iterations from {min(counts)} to {max(counts)} with other vectors")
    return failures


def main():
    parser = argparse.ArgumentParser(prog="weft demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="build folder: bin/, lib/; results are written to demo/")
    parser.add_argument("--types", default="host", help="vector and matrix types, comma separated: host, cuda, hip, kokkos")
    demo = parser.parse_args()
    demo.programs, demo.library = demo.build.resolve() / "bin", demo.build.resolve() / "lib" / "libweft.so"
    demo.out = (demo.build / "demo").resolve()
    demo.out.mkdir(parents=True, exist_ok=True)
    demo.types = demo.types.split(",")
    for kind in demo.types:
        if kind not in BACKENDS:
            fail(f"unknown type '{kind}': there are {', '.join(BACKENDS)}")
    if not (demo.programs / "ex50").exists():
        fail("PETSc's tutorials were not built: install them (Debian: libpetsc3.18-dev-examples), or set WEFT_TUTORIALS to PETSc's src/ksp/ksp/tutorials")
    os.environ.pop("PETSC_OPTIONS", None)

    print("PETSc's multigrid with its default smoother (Chebyshev and SOR) and with line relaxation, and Weft's; each program is PETSc's own, loaded with\n-dll_append libweft.so -ksp_rtol 1e-8 -ksp_norm_type unpreconditioned:")
    demo.solvers = cases.configurations(STUDY)
    for solver in demo.solvers:
        print(f"  {solver.name}: {solver.options}")
    print("Seconds are of set-up and solve together.\n")
    measured = [row for kind in demo.types for row in tutorials(demo, kind)]
    real_matrix(demo)
    picture(demo, measured)
    (demo.out / "demo.json").write_text(json.dumps(measured, indent=1))
    failures = check(measured)
    for failure in failures:
        print(f"weft demo: {failure}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
