#!/usr/bin/env python3
"""Runs the benchmark programs of a build, suite by suite, and writes what it measures as JSON, markdown tables and pictures to BUILD/results.

Suites: main (the performance table), methods (every method on its sizes), adi, tpr, toeplitz, cyclic (the tables of the papers that
methods come from, their figures beside), poisson (direct solvers: the tables of the paper on Buneman's method, how errors grow, the order of the
discretization), adi-solves (whole solves of the ADI thesis, by adi_bench), crout (factors of general sparse matrices, by crout_bench), compact
(compact finite differences, by the example of that name). A benchmark is called
BACKEND/PRECISION/LINESxROWS/LAYOUT/COEFFICIENTS/WORK/METHOD, of poisson BACKEND/PRECISION/NxQ/ENDS/SOLUTION/WORK/METHOD; --filter takes a
regular expression for that, in adi-solves for the names of its parts, in crout for those of matrices."""

import argparse
import os
import pathlib
import subprocess
import sys

import bench_adi_solves
import bench_compact
import bench_crout
import bench_plots
import bench_tables
from bench_results import Results, is_library, parse_name

PROGRAMS = {"poisson": "poisson_bench", "adi-solves": "adi_bench", "crout": "crout_bench", "compact": "compact"}  # of other suites: tridiagonal_bench
SUITES = ["main", "methods", "adi", "tpr", "toeplitz", "cyclic", "poisson", "adi-solves", "crout", "compact"]
BY_THEMSELVES = {"adi-solves": bench_adi_solves, "crout": bench_crout, "compact": bench_compact}  # programs that print other rows


def fail(message):
    sys.exit(f"weft: {message}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, metavar="DIR", help="build folder; results go to DIR/results")
    parser.add_argument("--program", type=pathlib.Path, metavar="FILE", help="the program (default: that of the suite in BUILD/bin)")
    parser.add_argument("--suite", choices=[*SUITES, "all"], default="main", help="what is measured (default: main)")
    parser.add_argument("--backend", choices=["host", "device"], help="default: the device, where the build has one")
    parser.add_argument("--filter", metavar="REGEX", help="only these benchmarks, and the copies that they are measured by")
    parser.add_argument("--repetitions", type=int, metavar="N", help="the best one counts (default: 3, or 1 with --quick)")
    parser.add_argument("--ranks", type=int, nargs="+", metavar="N", help="of suite compact: numbers of ranks (default: 1)")
    parser.add_argument("--quick", action="store_true", help="short measurements; with many repetitions for a busy machine")
    return parser.parse_args()


def environment():
    """Threads that stay where they are, as Kokkos asks for; the libraries run on the same ones."""
    return {"OMP_PROC_BIND": "spread", "OMP_PLACES": "threads", "OPENBLAS_NUM_THREADS": "1", **os.environ}


def command_of(program, suite, options):
    command = [program, f"--suite={suite}"]
    command += [f"--backend={options.backend}"] if options.backend else []
    command += [f"--filter={options.filter}"] if options.filter else []
    return command + (["--quick"] if options.quick else [])


def list_benchmarks(command):
    done = subprocess.run([*command, "--benchmark_list_tests=true"], env=environment(), capture_output=True, text=True)
    names = {parse_name(line) for line in done.stdout.splitlines() if line.count("/") >= 6}
    if done.returncode != 0 or not names:
        sys.stderr.write(done.stdout + done.stderr)
        fail(f"{command[0]} could not list its benchmarks (exit status {done.returncode})")
    if all(name.work == "copy" for name in names):
        fail("no benchmark matches the filter: the names are BACKEND/PRECISION/LINESxROWS/LAYOUT/COEFFICIENTS/WORK/METHOD")
    return names


def run(program, suite, options, folder):
    """Runs one suite, printing a line as each benchmark is done; returns what it measured."""
    out, log = folder / f"{suite}.json", folder / f"{suite}.log"
    command = command_of(program, suite, options)
    total = len(list_benchmarks(command))
    command += [f"--benchmark_repetitions={options.repetitions or (1 if options.quick else 3)}", f"--benchmark_out={out}",
                "--benchmark_out_format=json", "--benchmark_format=console", "--benchmark_color=false"]
    print(f"suite {suite}: {total} benchmarks", flush=True)
    seen = set()
    with log.open("w") as errors, subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        for line in process.stdout:
            name = line.split(" ")[0]
            if name.count("/") < 6 or parse_name(name) in seen:
                continue
            seen.add(parse_name(name))
            print(f"[{len(seen):3}/{total}] {'/'.join(parse_name(name))}", flush=True)
    if process.returncode != 0:
        sys.stderr.write(log.read_text()[-4000:])
        fail(f"{program} ended with exit status {process.returncode} before all was measured: the end of its output is above")
    return Results.read(out)


def main():
    options = arguments()
    if options.program and options.suite == "all":
        fail("--program names one program, and --suite all needs several")
    folder = options.build / "results"
    folder.mkdir(parents=True, exist_ok=True)
    suites = SUITES if options.suite == "all" else [options.suite]
    programs = {suite: options.program or options.build / "bin" / PROGRAMS.get(suite, "tridiagonal_bench") for suite in suites}
    for program in programs.values():
        if not os.access(program, os.X_OK):
            fail(f"there is no benchmark program {program}: configure with -DWEFT_BENCHMARKS=ON and build, or run ./weft bench")
    failures = 0
    for suite, program in programs.items():
        if suite in BY_THEMSELVES:
            if why := BY_THEMSELVES[suite].run(program, options, folder, environment()):
                fail(why)
            continue
        results = run(program, suite, options, folder)
        text = "\n".join(bench_tables.report(suite, results, options.quick))
        (folder / f"{suite}.md").write_text(text)
        print("\n" + text)
        pictures = bench_plots.draw(suite, results, folder)
        print(f"written to {folder}: {', '.join([suite + '.md', suite + '.json', *pictures])}"
              + ("" if pictures else "; no pictures, as there is no matplotlib"))
        failures += sum(not is_library(name.method) for name in results.failures)
    if failures:
        fail(f"{failures} benchmarks were not timed: see above")


if __name__ == "__main__":
    main()
