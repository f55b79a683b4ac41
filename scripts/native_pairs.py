#!/usr/bin/env python3
"""Times native forms of kernels beside their portable ones on one GPU, and prints a table: a native form stands while it is 1.25 times as fast.

    scripts/native_pairs.py --build build/cuda             # minutes
    scripts/native_pairs.py --build build/cuda --dry-run   # only prints the commands; needs no GPU

Each benchmark program runs as it is and with --portable=NAME, which leaves out one native form alone, by turns; the fastest of --rounds counts. x floor:
times what moving the words of the problem takes at the rate of a copy in the same run. Where no native file is named both runs do the same: these ratios
say how well times repeat. The whole solve is timed, so that a form that is one part of it is faster than its ratio says."""

import argparse
import collections
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from bench import environment
from bench_results import Results, lines_and_rows
from bench_text import number, table

LEAST_RATIO = 1.25
NOTHING = "–"

#: What is measured: a page of docs/kernels, the native file that does the work, and what that is.
Key = collections.namedtuple("Key", "page file work")
#: Milliseconds, and those of moving its words (None where nobody counts them).
Time = collections.namedtuple("Time", "milliseconds floor")
#: read(output, json) gives {Key: Time} of a run of `program` with these arguments; json is a path in place of FILE. form: what --portable= leaves out.
Case = collections.namedtuple("Case", "name program arguments form read")


def key_of_lines(name):
    """Shapes as src/line/methods/*/*_launch.hpp choose them."""
    rows, contiguous = lines_and_rows(name)[1], name.layout == "contiguous"
    page, file = name.method, NOTHING
    if name.method == "block-wide":
        page, file = "block_tridiagonal", "block_wide_cuda"
    elif name.method == "wide" and contiguous:
        file = "wide_long" if rows > 9 * 480 else "wide_direct" if rows <= 2048 and name.coefficients == "general" else "wide_cuda"
    elif name.method == "wide":
        file = "wide_strided_long" if 16 * 288 < rows <= 112 * 256 else "wide_strided"
        if rows > 112 * 256 and name.coefficients != "general":
            file = NOTHING
    elif contiguous:
        file = f"{name.method}_cuda"
    return Key(page, file, f"{name.size.replace('x', ' x ')}, {name.layout}, {name.coefficients}, {name.work}")


def read_lines(_, path):
    results = Results.read(path)
    for name, why in results.failures.items():
        print(f"native_pairs: {'/'.join(name)}: {why}", file=sys.stderr)
    return {key_of_lines(name): Time(result.milliseconds, results.floor(name)) for name, result in results.timed().items()}


SWEEP = re.compile(r"^ *(\d+) x +(\d+) x +(\d+), lines along (.): copy .* \| sweep +([\d.]+) us, of what it must move +([\d.]+) x copy", re.MULTILINE)


def read_sweeps(omega):
    """Files as src/line/relax/relaxation_plan.hpp chooses them."""
    def read(output, _):
        found = {}
        for *words, axis, time, of_copy in SWEEP.findall(output):
            n = [int(word) for word in words]
            rows, space = n["xyz".index(axis)], n[2] > 1
            if axis == "x":
                file = "contiguous_relaxation"
            elif omega == 1:
                file = "coloured_relaxation" if rows >= 769 or (space and rows > 64) else NOTHING
            else:
                file = "cluster_relaxation" if rows >= 1153 else NOTHING
            work = f"{' x '.join(map(str, n if space else n[:2]))}, zebra along {axis}" + (f", omega {omega}" if omega != 1 else "")
            # To the printed digits: small quotients are of caches.
            found[Key("smooth", file, work)] = Time(float(time) / 1e3, float(time) / 1e3 / float(of_copy) if float(of_copy) > 0 else None)
        return found
    return read


def read_adi(_, path):
    return {Key("adi", "half_sweep_cuda", f"{row['width']} x {row['width']}, an iteration"): Time(1e3 * row["iteration"], 1e3 * row["floor"])
            for row in json.loads(path.read_text())["rows"] if row["iteration"]}


def read_poisson(file):
    """What is copied is a grid, two words a point."""
    def read(output, _):
        found = {}
        for line in output.splitlines():
            cells = [cell.strip() for cell in line.strip("| ").split("|")]
            if len(cells) >= 5 and re.fullmatch(r"\d+ x [\d x]+", cells[0]):
                time, of_copy = float(cells[3]), float(cells[4])
                found[Key("poisson", file, f"{cells[0]}, {cells[1]}, {cells[2]}")] = Time(time, time / of_copy if of_copy > 0 else None)
        return found
    return read


CYCLE = re.compile(r"^ *(\d+) x +(\d+) x +(\d+), K = \(([^)]*)\): .* \| cycle +([\d.]+) us", re.MULTILINE)


def read_cycles(output, _):
    return {Key("boxmg", "small_levels_cuda", f"{' x '.join(n)}, K = ({k}), a cycle"): Time(float(time) / 1e3, None) for *n, k, time in CYCLE.findall(output)}


def read_crout(_, path):
    return {Key("crout", "short_rows", f"{row['matrix']}, exact factors"): Time(1e3 * row["factor"], None)
            for row in json.loads(path.read_text())["rows"] if row["factor"]}


def cases(quick):
    """quick: small ones, to see that all of it works."""
    lines = ["--benchmark_repetitions=1" if quick else "--benchmark_repetitions=3", "--benchmark_out=FILE", "--benchmark_out_format=json", "--benchmark_color=false"]
    sweeps = "33x33x1/x,33x33x1/y" if quick else ("256x65536x1/x,65536x256x1/y,4096x4096x1/x,4096x4096x1/y,2049x2049x1/x,2049x2049x1/y,"
                                                  "129x129x129/x,129x129x129/y,129x129x129/z")
    damped = "33x33x1/y" if quick else "2049x2049x1/y,4096x4096x1/y"
    crout = "poisson7-8" if quick else "poisson7-64,poisson7-128,poisson27-64,poisson27-128"
    fast = ["--quick"] if quick else []
    grids = ["--sizes=30,31x31x31"] if quick else []  # all of the page
    chirps = "--sizes=20" if quick else "--sizes=600,3000"
    return [
        Case("lines", "tridiagonal_bench", ["--suite=native", *lines, *fast], "lines", read_lines),
        Case("relaxation", "smooth_times", ["2" if quick else "20", f"--grids={sweeps}"], "relaxation", read_sweeps(1)),
        Case("damped", "smooth_times", ["2" if quick else "20", "--omega=0.9", f"--grids={damped}"], "relaxation", read_sweeps(0.9)),
        Case("adi", "adi_bench", ["--parts=sizes", "--json=FILE", *fast], "sweeps", read_adi),
        Case("transforms", "poisson_bench", ["--methods=auto", *grids], "transforms", read_poisson("sine_cuda")),
        Case("chirps", "poisson_bench", ["--methods=auto", chirps], "transforms", read_poisson("sine_cuda")),
        Case("products", "poisson_bench", ["--methods=auto", "--stretch=100", "--sizes=300" if quick else "--sizes=1023,2047,255x255x255"], "products", read_poisson("products_cuda")),
        Case("modes", "poisson_bench", ["--methods=auto", *grids], "modes", read_poisson("mode_cuda")),
        Case("fractions", "poisson_bench", ["--methods=partial", *grids], "fractions", read_poisson("fraction_cuda")),
        Case("levels", "boxmg_times", ["2", "--grids=9x9x1"] if quick else ["20"], "levels", read_cycles),
        Case("crout", "crout_bench", ["--methods=^syncfree$", f"--matrices={crout}", "--json=FILE", *fast], "short_rows", read_crout),
    ]


def command_of(case, build, portable, backend):
    return [str(build / "bin" / case.program), *case.arguments, *([f"--portable={case.form}"] if portable else []),
            *([f"--backend={backend}"] if backend and not case.program.endswith("_times") else [])]


def run(case, build, portable, backend):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "times.json"
        command = [word.replace("FILE", str(path)) for word in command_of(case, build, portable, backend)]
        done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"native_pairs: {shlex.join(command)} ended with exit status {done.returncode}:\n{done.stdout[-2000:]}")
        return case.read(done.stdout, path)


def fastest(runs):
    """Of each key; the least floor too, of the fastest copy."""
    times = {}
    for found in runs:
        for key, time in found.items():
            before = times.get(key, time)
            floors = [floor for floor in (before.floor, time.floor) if floor]
            times[key] = Time(min(before.milliseconds, time.milliseconds), min(floors, default=None))
    return times


def report(native, portable):
    """Lines of the table of pairs, and of the one of files."""
    rows, ratios = [["page", "native file", "what", "native ms", "portable ms", "ratio", "native x floor", "portable x floor"]], {}
    for key, time in native.items():
        other = portable.get(key)
        ratio = other and other.milliseconds / time.milliseconds
        floors = [floor for floor in (time.floor, other and other.floor) if floor]
        over = [measured.milliseconds / min(floors) if measured and floors else None for measured in (time, other)]
        rows.append([key.page, key.file, key.work, number(time.milliseconds), number(other and other.milliseconds), number(ratio), *map(number, over)])
        if ratio and key.file != NOTHING:
            ratios.setdefault(key.file, []).append(ratio)
    files = [["native file", "least ratio", "greatest ratio", f"pairs of {LEAST_RATIO} and more"]]
    files += [[file, number(min(all_)), number(max(all_)), f"{sum(r >= LEAST_RATIO for r in all_)} of {len(all_)}"] for file, all_ in ratios.items()]
    return [*table(rows, 3), "", *table(files)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, metavar="DIR", help="a build with -DWEFT_BENCHMARKS=ON and -DWEFT_LARGEST_BLOCK=4 or more")
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="runs of each form, by turns (default: 2)")
    parser.add_argument("--only", metavar="REGEX", default="", help=f"of the cases {', '.join(case.name for case in cases(False))}")
    parser.add_argument("--backend", choices=["host", "device"], help="default: the device, where the build has one")
    parser.add_argument("--quick", action="store_true", help="small cases, to see that all of it works")
    parser.add_argument("--dry-run", action="store_true", help="print the commands alone")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="write the tables there too")
    options = parser.parse_args()
    wanted = [case for case in cases(options.quick) if re.search(options.only, case.name)]
    runs = {False: [], True: []}
    for _ in range(1 if options.dry_run else options.rounds):
        for case in wanted:
            for portable in (False, True):
                print(f"# {shlex.join(command_of(case, options.build, portable, options.backend))}", flush=True)
                if not options.dry_run:
                    runs[portable].append(run(case, options.build, portable, options.backend))
    if options.dry_run:
        return
    text = "\n".join(report(fastest(runs[False]), fastest(runs[True])))
    print(f"\n{text}")
    if options.out:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
