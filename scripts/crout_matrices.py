#!/usr/bin/env python3
"""Kernels of Weft's Crout factors on every matrix of a folder: one command runs crout_bench and dense_bench of a build with a GPU and writes their results
and tables. Whole solves by PETSc are a study of ./weft evaluate (evaluate/studies/crout-matrices.json).

    python3 scripts/crout_matrices.py FOLDER_OF_MTX_FILES --build BUILD --out RESULTS
    python3 scripts/crout_matrices.py --out RESULTS --tables          # tables alone, of what an earlier run left in RESULTS
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

from bench_crout import RIVALS
from bench_results import paper
from bench_tables import table

SMALL = 10000  # rows
LIMIT = "0.1"  # seconds of one measurement of crout_bench
DENSE = ["moved", "crout", "getrf", "getrf_unpivoted", "error", "sequential_error"]


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

    call("kernels", [program / "crout_bench", "--quick", f"--limit={LIMIT}", "--methods=^auto$|syncfree|cusparse|kokkos-kernels",
                     f"--matrices={','.join(map(str, files))}", f"--json={out / 'kernels.json'}"], options.limit)
    of_paper = {row["matrix"] for row in paper("crout.csv")[0]}
    mine = [str(file) for file in files if file.name.split(".mtx")[0].split("__")[-1] in of_paper]
    random = [f"random-{row['rows']}" for row in paper("crout.csv")[0] if row["matrix"].startswith("Cejka")]
    call("dense", [program / "dense_bench", "--quick", f"--matrices={','.join(mine + random)}", f"--json={out / 'dense.json'}"], options.limit)
    print(f"all: {time.time() - started:.0f} s")


def load(folder, name):
    file = folder / f"{name}.json"
    data = json.loads(file.read_text()) if file.exists() else []
    return data["rows"] if isinstance(data, dict) else data


def geometric(values):
    return f"{math.exp(statistics.fmean(map(math.log, values))):.2f} x ({len(values)})" if values else "-"


def ms(seconds):
    return "-" if not seconds else f"{1e3 * seconds:.3g}"


def tables(folder):
    kernels = load(folder, "kernels")
    timed = {(row["matrix"], row["method"]): row for row in kernels}
    names = sorted({row["matrix"] for row in kernels})
    size = {row["matrix"]: (row["rows"], row["entries"]) for row in kernels}
    lines = ["## Every matrix", "", "Milliseconds of crout_bench, cuSPARSE's beside.", ""]
    rows = [["matrix", "rows", "entries", "first set-up", "cuSPARSE", "new values", "cuSPARSE", "apply", "cuSPARSE", "exact apply", "what it did"]]
    for name in names:
        ours, rival, exact = (timed.get((name, method), {}) for method in ("auto", "cusparse", "syncfree"))
        rows.append([name, *map(str, size[name]), *(ms(row.get(what)) for what in ("set_up", "refactor", "apply") for row in (ours, rival)), ms(exact.get("apply")), ours.get("note", "")])
    return [*lines, *table(rows, 1), "", *summary(names, size, timed), *thesis(load(folder, "dense"))]


def summary(names, size, timed):
    lines = ["## What it comes to", ""]
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
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for results")
    parser.add_argument("--limit", type=int, default=600, help="seconds that a program may take (default: 600)")
    parser.add_argument("--tables", action="store_true", help="only make tables of what is there")
    options = parser.parse_args()
    if not options.tables:
        if not (options.matrices and options.build):
            sys.exit("crout_matrices: name the folder of matrices and --build")
        options.out.mkdir(parents=True, exist_ok=True)
        run(options)
    text = "\n".join(tables(options.out))
    (options.out / "crout-matrices.md").write_text(text + "\n")
    print(f"written to {options.out}: crout-matrices.md")


if __name__ == "__main__":
    main()
