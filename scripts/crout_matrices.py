#!/usr/bin/env python3
"""What Weft's Crout factors do for every matrix of a folder, and for PETSc's whole solves: one command runs crout_bench, crout_solves, dense_bench
and diffusion of a build with a GPU and writes their results and tables.

    python3 scripts/crout_matrices.py FOLDER_OF_MTX_FILES --build BUILD --weft BUILD/lib/libweft.so --out RESULTS
    python3 scripts/crout_matrices.py --out RESULTS --tables          # tables alone, of what an earlier run left in RESULTS
"""

import argparse
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import threading
import time

from bench_crout import RIVALS
from bench_results import paper
from bench_tables import table

KRYLOV = ["-ksp_type", "gmres", "-ksp_gmres_restart", "60", "-ksp_rtol", "1e-8", "-ksp_max_it", "600", "-ksp_pc_side", "right"]
DEVICE = "-mat_type aijcusparse -vec_type cuda"
SMALL = 10000  # rows below which a core of the host is the rival
EXACT, CUSPARSE, CROUT, HOST = "-mat_type aij -pc_type ilu", f"{DEVICE} -pc_type ilu", f"{DEVICE} -pc_type crout", "-mat_type aij -pc_type crout"
BOUND = f"{DEVICE} -mat_bind_below {SMALL} -pc_type crout"  # PETSc keeps small matrices of a program for devices on the host
LIMIT = "0.1"  # seconds of one measurement of crout_bench
GRIDS = {"2049 x 2049, eps 1e-3": ["-da_grid_x", "2049", "-da_grid_y", "2049", "-eps", "1e-3"],
         "129 x 129 x 129, (1, 1000, 0.001)": ["-dim", "3", "-k", "1,1e3,1e-3", *(word for axis in "xyz" for word in (f"-da_grid_{axis}", "129"))],
         "129 x 129 x 129": ["-dim", "3", "-k", "1,1,1", *(word for axis in "xyz" for word in (f"-da_grid_{axis}", "129"))]}
DENSE = ["moved", "crout", "getrf", "getrf_unpivoted", "error", "sequential_error"]
WHOLE = ["-repeat", "1", "-ksp_rtol", "1e-8", "-ksp_type", "cg", "-dm_vec_type", "cuda", "-dm_mat_type", "aijcusparse", "-pc_type", "ilu"]
SOLVERS = {"ilu": [], "crout": ["-pc_factor_mat_solver_type", "crout"]}


def run(options):
    program, out = options.build / "bin", options.out
    files = sorted(options.matrices.glob("*.mtx*"), key=lambda file: file.stat().st_size)
    started = time.time()

    def call(name, command, seconds):
        try:
            status = subprocess.run([str(word) for word in command], timeout=seconds, stdout=(out / f"{name}.log").open("w"),
                                    stderr=subprocess.STDOUT).returncode
        except subprocess.TimeoutExpired:
            status = f"stopped after {seconds} s"
        print(f"{name}: {status}, {time.time() - started:.0f} s since the start", flush=True)

    # What runs on a core of the host goes on beside what runs on the device.
    solves = [program / "crout_solves", "-dll_append", options.weft, "-files", ",".join(map(str, files)), *KRYLOV]
    on_host = [*solves, "-sets", f" {EXACT}; {HOST}", "-json", out / "solves-host.json"]
    host = threading.Thread(target=call, args=("solves-host", on_host, 2 * options.limit))
    host.start()
    call("kernels", [program / "crout_bench", "--quick", f"--limit={LIMIT}", "--methods=^auto$|syncfree|cusparse|kokkos-kernels",
                     f"--matrices={','.join(map(str, files))}", f"--json={out / 'kernels.json'}"], options.limit)
    call("solves", [*solves, "-sets", f" {CUSPARSE}; {CROUT}; {BOUND}", "-json", out / "solves.json"], options.limit)
    rows = []
    for grid, words in GRIDS.items():
        for solver, more in SOLVERS.items():
            command = [program / "diffusion", "-dll_append", options.weft, *WHOLE, *more, *words]
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
            found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            rows += [{"grid_name": grid, "solver": solver, **row} for row in found] or [{"grid_name": grid, "solver": solver, "reason": "failed"}]
            (out / "diffusion.json").write_text(json.dumps(rows, indent=1))
    of_paper = {row["matrix"] for row in paper("crout.csv")[0]}
    mine = [str(file) for file in files if file.name.split(".mtx")[0].split("__")[-1] in of_paper]
    random = [f"random-{row['rows']}" for row in paper("crout.csv")[0] if row["matrix"].startswith("Cejka")]
    call("dense", [program / "dense_bench", "--quick", f"--matrices={','.join(mine + random)}", f"--json={out / 'dense.json'}"], options.limit)
    host.join()
    print(f"all: {time.time() - started:.0f} s")


def load(folder, name):
    file = folder / f"{name}.json"
    data = json.loads(file.read_text()) if file.exists() else []
    return data["rows"] if isinstance(data, dict) else data


def geometric(values):
    return f"{math.exp(statistics.fmean(map(math.log, values))):.2f} x ({len(values)})" if values else "-"


def ms(seconds):
    return "-" if not seconds else f"{1e3 * seconds:.3g}"


def outcome(row):
    if row is None:
        return "not run"
    return str(row["iterations"]) if row["solved"] else re.sub("DIVERGED_|ERROR: |FACTOR_", "", row["reason"])[:40].lower().replace("|", "/")


def tables(folder):
    kernels, solves = load(folder, "kernels"), load(folder, "solves-host") + load(folder, "solves")
    timed = {(row["matrix"], row["method"]): row for row in kernels}
    solved = {(row["matrix"], row["set"].strip()): row for row in solves}
    names = sorted({row["matrix"] for row in kernels + solves})
    size = {row["matrix"]: (row["rows"], row["entries"]) for row in kernels + solves}
    lines = ["## Every matrix", "",
             "Iterations of GMRES(60) to 1e-8 (600 at most, from the right, through PETSc) and why it ended where it did not converge; milliseconds of "
             "crout_bench, cuSPARSE's beside.", ""]
    rows = [["matrix", "rows", "entries", "exact ILU(0)", "cuSPARSE", "crout", "first set-up", "cuSPARSE", "new values", "cuSPARSE", "apply", "cuSPARSE",
             "exact apply", "what it did"]]
    for name in names:
        ours, rival, exact = (timed.get((name, method), {}) for method in ("auto", "cusparse", "syncfree"))
        rows.append([name, *map(str, size[name]), *(outcome(solved.get((name, way))) for way in (EXACT, CUSPARSE, CROUT)),
                     *(ms(row.get(what)) for what in ("set_up", "refactor", "apply") for row in (ours, rival)), ms(exact.get("apply")), ours.get("note", "")])
    lines += [*table(rows, 1), "", *summary(names, size, timed, solved), *small(names, size, solved), *diffusion(load(folder, "diffusion")),
              *thesis(load(folder, "dense"))]
    return lines


def summary(names, size, timed, solved):
    both, lost, gained = [], [], []
    for name in names:
        exact = [row for row in (solved.get((name, EXACT)), solved.get((name, CUSPARSE))) if row and row["solved"]]
        ours = solved.get((name, CROUT))
        if exact and ours and ours["solved"]:
            both.append((ours["iterations"] / max(1, min(row["iterations"] for row in exact)), name))
        elif exact:
            lost.append(name)
        elif ours and ours["solved"]:
            gained.append(name)
    ratios = sorted(ratio for ratio, _ in both)
    within = sum(ratio <= 1.5 for ratio in ratios)
    total = len(both) + len(lost)
    median = statistics.median(ratios) if ratios else math.nan
    larger = ", ".join(f"{name} {ratio:.2f}" for ratio, name in sorted(both, reverse=True) if ratio > 1.5)
    lines = ["## What it comes to", "",
             f"Exact ILU(0) (PETSc's on the host or cuSPARSE's) converges on {total} of {len(names)} matrices. `-pc_type crout` on the device takes a "
             f"median of {median:.2f} x its iterations, at most 1.5 x on {within} of {total} ({100 * within / max(total, 1):.0f} %); it does not converge "
             f"on {len(lost)} of them: {', '.join(lost) or 'none'}. It solves {len(gained)} that exact ILU(0) does not: {', '.join(gained) or 'none'}. "
             f"More than 1.5 x: {larger or 'none'}.", ""]
    for rival, of_rival in RIVALS.items():
        if not any((name, rival) in timed for name in names):
            continue
        lines += [*table(over_ours(names, size, timed, rival, of_rival), 1), ""]
        failed = [f"{name}: {timed[name, rival]['note']}" for name in names if (name, rival) in timed and not timed[name, rival]["set_up"]]
        lines += [f"Without times of {of_rival}, {len(failed)}: {'; '.join(failed) or 'none'}.", ""]
    return lines


def over_ours(names, size, timed, rival, of_rival):
    rows = [[f"times of {of_rival} over ours, geometric means", "first set-up", "new values", "apply"]]
    for title, method, keep in (("auto", "auto", lambda name: True), ("auto, 10,000 rows and more", "auto", lambda name: size[name][0] >= SMALL),
                                ("exact elimination and syncfree", "syncfree", lambda name: True)):
        row = [title]
        for what in ("set_up", "refactor", "apply"):
            pairs = [(timed.get((name, rival), {}).get(what), timed.get((name, method), {}).get(what)) for name in names if keep(name)]
            row.append(geometric([theirs / own for theirs, own in pairs if theirs and own]))
        rows.append(row)
    return rows


def small(names, size, solved):
    rows = [[f"rows < {SMALL}: set-up and solve over PETSc's ilu on one core", "matrices", "median", "largest", "within 2 x"]]
    for title, way in (("crout on the device", CROUT), ("cuSPARSE's ilu on the device", CUSPARSE),
                       (f"crout, the device's options and -mat_bind_below {SMALL}", BOUND), ("crout on the host", HOST)):
        ratios = []
        for name in names:
            ours, base = solved.get((name, way)), solved.get((name, EXACT))
            if size[name][0] < SMALL and ours and base and ours["solved"] and base["solved"]:
                ratios.append((ours["set_up"] + ours["solve"]) / (base["set_up"] + base["solve"]))
        if ratios:
            rows.append([title, str(len(ratios)), f"{statistics.median(ratios):.2f}", f"{max(ratios):.1f}", str(sum(ratio <= 2 for ratio in ratios))])
    return ["## Small matrices", "", *table(rows, 1), ""]


def diffusion(rows):
    of = {(row["grid_name"], row["solver"]): row for row in rows}
    out = [["diffusion, CG to 1e-8, -pc_type ilu", "cuSPARSE's: new values", "solve", "iterations", "crout: new values", "solve", "iterations", "times faster"]]
    for grid in dict.fromkeys(row["grid_name"] for row in rows):
        one, two = of.get((grid, "ilu"), {}), of.get((grid, "crout"), {})
        whole = [row["update"] + row["solve"] if row.get("converged") else None for row in (one, two)]
        out.append([grid, *(word for row in (one, two) for word in (ms(row.get("update")), ms(row.get("solve")), str(row.get("iterations", row.get("reason"))))),
                    f"{whole[0] / whole[1]:.2f}" if all(whole) else "-"])
    return ["## Whole solves by PETSc", "", "Milliseconds. New values: assembly excluded, set-up of the preconditioner for changed values of the same pattern.", "", *table(out, 1), ""]


def thesis(rows):
    figures, source = paper("crout.csv")
    ours = {row["matrix"].split("__")[-1]: row for row in rows}
    out = [["matrix", "rows", "sequential, s", "thesis, s", "ours, with transfers", "on the device", "getrf", "without pivoting", "max abs(A - LU)",
            "of sequential Crout"]]
    total = theirs = slower = behind = 0
    for row in figures:
        name = f"random-{row['rows']}" if row["matrix"].startswith("Cejka") else row["matrix"]
        found = ours.get(name)
        if found and found["moved"]:
            total, theirs = total + found["moved"], theirs + float(row["icm32"])
            slower += found["moved"] > float(row["icm32"])
            behind += found["crout"] is not None and found["getrf"] is not None and found["crout"] > found["getrf"]
        numbers = [f"{found[what]:.3g}" if found[what] is not None else "-" for what in DENSE] if found else ["not at hand"] + ["-"] * 5
        out.append([row["matrix"], row["rows"], row["cm"], row["icm32"], *numbers])
    there = sum(1 for row in out[1:] if row[4] != "not at hand")
    return ["## The thesis's matrices", "", source, "",
            f"Seconds, its own for blocks of 32 on an A100. {there} of {len(figures)} are at hand: {total:.3g} s here against {theirs:.4g} s there. "
            f"On {slower} of them the thesis's A100 took less time. cuSOLVER's getrf, which exchanges rows, is faster on {behind}: the method is here for what it shows of sweeps, not to "
            "solve dense systems by. The factors of this table exchange no rows; those of -pc_type lu and -pc_type crout do.", "", *table(out, 1), ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="?", type=pathlib.Path, help="folder of Matrix Market files")
    parser.add_argument("--build", type=pathlib.Path, help="build folder")
    parser.add_argument("--weft", type=pathlib.Path, help="libweft.so")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for results")
    parser.add_argument("--limit", type=int, default=600, help="seconds that a program may take (default: 600)")
    parser.add_argument("--tables", action="store_true", help="only make tables of what is there")
    options = parser.parse_args()
    if not options.tables:
        if not (options.matrices and options.build and options.weft):
            sys.exit("crout_matrices: name the folder of matrices, --build and --weft")
        options.out.mkdir(parents=True, exist_ok=True)
        run(options)
    text = "\n".join(tables(options.out))
    (options.out / "crout-matrices.md").write_text(text + "\n")
    print(f"written to {options.out}: crout-matrices.md")


if __name__ == "__main__":
    main()
