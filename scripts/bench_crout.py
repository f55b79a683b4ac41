#!/usr/bin/env python3
"""The suite crout of bench.py: runs crout_bench on stencils of several sizes and on the repository's Matrix Market files, and sets Weft's factors
beside cuSPARSE's and Kokkos Kernels' ILU(0). By itself: tables of what crout_bench --json=FILE wrote."""

import json
import math
import os
import pathlib
import re
import subprocess
import sys

from bench_tables import number, table

STENCILS = {
    "device": ["poisson7-16", "poisson7-64", "poisson7-128", "poisson7-192", "poisson27-64", "poisson27-128", "anisotropic-128", "convection-128", "random7-128"],
    "host": ["poisson7-16", "poisson7-64", "poisson27-32", "anisotropic-64", "convection-64", "random7-64"],
}
QUICK = ["poisson7-16", "poisson27-16", "convection-16"]
#: Goals, and what is not done above: seconds of the first set-up, of new values, of an apply.
GOALS = {"poisson7-128": ((2.5e-3, 4e-3), (0.6e-3, 1e-3), (0.25e-3, 0.4e-3)), "poisson7-192": ((8e-3, 12e-3), (2e-3, 3e-3), (0.7e-3, 1e-3))}
WORK = [("set_up", "first set-up"), ("refactor", "new values"), ("apply", "one apply")]
RIVALS = {"cusparse": "cuSPARSE", "kokkos-kernels": "Kokkos Kernels"}


def run(program, options, folder, environment):
    """Runs the program; returns why it failed, or None."""
    files = sorted(pathlib.Path(__file__).resolve().parent.parent.glob("matrices/*.mtx.gz"))
    names = QUICK if options.quick else STENCILS[options.backend or "device"]
    wanted = [name for name in [*names, *map(str, files)] if re.search(options.filter or "", name)]
    if not wanted:
        return f"no matrix matches the filter: {', '.join(names)}, and the files of matrices/"
    file = folder / "crout.json"
    file.unlink(missing_ok=True)
    command = [program, f"--matrices={','.join(wanted)}", f"--json={file}", *([f"--backend={options.backend}"] if options.backend else []),
               *(["--quick"] if options.quick else [])]
    print(f"suite crout: {len(wanted)} matrices", flush=True)
    status = subprocess.run(command, env=environment).returncode
    if status != 0 or not file.exists():
        return f"{program} ended with exit status {status} before all was measured"
    text = "\n".join(report(json.loads(file.read_text()), " ".join(f"{value:.1f}" for value in os.getloadavg())))
    (folder / "crout.md").write_text(text + "\n")
    print("\n" + text)
    print(f"written to {folder}: crout.md, crout.json")
    return None


def report(results, load=None):
    rows = results["rows"]
    matrices = list(dict.fromkeys(row["matrix"] for row in rows))
    of = {(row["matrix"], row["method"]): row for row in rows}
    methods = [method for method in dict.fromkeys(row["method"] for row in rows) if method not in RIVALS]
    lines = ["# Crout factors of general sparse matrices", "",
             f"{results['backend']}{f'; load {load}' if load else ''}. Milliseconds, the least of a few runs. First set-up: pattern, lists, factors, "
             "triangular solves, from a matrix where it is used. New values: factors and all that follows, from no earlier ones; warm: from the "
             "factors before, values changed by a thousandth. BiCGStab: steps to 1e-8 (halves count; - where 1000 do not do).", ""]
    lines += goals(of)
    for matrix in matrices:
        some = [row for row in rows if row["matrix"] == matrix]
        lines += [f"## {matrix}: {some[0]['rows']} rows, {some[0]['entries']} entries", "",
                  *table([["method", "precision", "what it did", "first set-up", "new values", "warm", "one apply", "lower", "upper", "BiCGStab"],
                          *([row["method"], row["precision"], row["note"] or "exact ILU(0)",
                             *(milliseconds(row[what]) for what in ("set_up", "refactor", "warm", "apply", "forward", "backward")),
                             number(row["steps"]) if (row["steps"] or -1) > 0 else "-"] for row in some)], 3), ""]
    for rival, name in present(of):
        lines += [f"## Times of {name} over ours", "", "Geometric means over matrices where both were timed.", "",
                  *table([["method", "matrices", *(title for _, title in WORK)], *(ratios(matrices, of, method, rival) for method in methods)]), ""]
    return lines


def present(of):
    """The rivals that were run, and how they are called."""
    return [(rival, name) for rival, name in RIVALS.items() if any(method == rival for _, method in of)]


def goals(of):
    rows, rivals = [], present(of)
    for matrix, bounds in GOALS.items():
        for method in ("auto", "auto fp32"):
            if (matrix, method) not in of:
                continue
            for (what, title), (goal, most) in zip(WORK, bounds):
                time = of[matrix, method][what]
                theirs = (of.get((matrix, rival), {}).get(what) for rival, _ in rivals)
                verdict = "-" if not time else "met" if time <= goal else "done" if time <= most else "not done"
                rows.append([matrix, method, title, verdict, *map(milliseconds, (time, goal, most, *theirs))])
    head = ["matrix", "method", "work", "", "ms", "goal", "at most", *(name for _, name in rivals)]
    return ["## Goals", "", *table([head, *rows], 4), ""] if rows else []


def ratios(matrices, of, method, rival):
    row, count = [], 0
    for what, _ in WORK:
        values = [of[matrix, rival][what] / of[matrix, method][what] for matrix in matrices
                  if of.get((matrix, rival), {}).get(what) and of.get((matrix, method), {}).get(what)]
        row.append(f"{math.exp(sum(map(math.log, values)) / len(values)):.2f} x" if values else "-")
        count = max(count, len(values))
    return [method, str(count), *row]


def milliseconds(seconds):
    return "-" if not seconds else f"{1e3 * seconds:.3g}"


if __name__ == "__main__":
    print("\n".join(report(json.loads(pathlib.Path(sys.argv[1]).read_text()))))
