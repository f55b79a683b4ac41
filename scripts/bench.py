"""Runs the benchmark programs of a build and prints, for each backend and precision, how far every method is from the floor (the time a
copy takes for the words that must be moved) and from the library that one would call instead. Python's standard library only.

A benchmark is called BACKEND/PRECISION/LINESxROWS/LAYOUT/WORK/METHOD; --filter takes a regular expression for that."""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

Name = collections.namedtuple("Name", "backend precision size layout work method")
Result = collections.namedtuple("Result", "milliseconds spread bytes_a_row")

LIBRARIES = {"lapack": "LAPACK", "cusparse": "cuSPARSE"}


def fail(message):
    sys.exit(f"weft: {message}")


def parse_name(text):
    """What Google Benchmark appends to a name (/manual_time, /repeats:3) is left out."""
    return Name(*text.split("/")[:6])


def library_of(method):
    return LIBRARIES.get(method.split(":")[0])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, metavar="DIR", help="build folder; results go to DIR/results")
    parser.add_argument("--programs", type=pathlib.Path, metavar="DIR", help="where the programs are (default: BUILD/bin)")
    parser.add_argument("--filter", metavar="REGEX", help="only these benchmarks, and the copies that they are measured by")
    parser.add_argument("--quick", action="store_true", help="one short measurement of each instead of the best of five longer ones")
    return parser.parse_args()


def find_programs(options):
    folder = options.programs or options.build / "bin"
    programs = sorted(path for path in folder.glob("*_bench") if os.access(path, os.X_OK))
    if not programs:
        fail(f"there is no benchmark program in {folder}: configure with -DWEFT_BENCHMARKS=ON and build, or run ./weft bench")
    return programs


def environment():
    """Threads that stay where they are, as Kokkos asks for; the libraries run on the same ones."""
    return {"OMP_PROC_BIND": "spread", "OMP_PLACES": "threads", **os.environ}


def list_benchmarks(program, options):
    done = subprocess.run([program, *filters(options), "--benchmark_list_tests=true"], env=environment(), capture_output=True, text=True)
    names = [line for line in done.stdout.splitlines() if line.count("/") >= 5]
    if not names:
        sys.stderr.write(done.stdout + done.stderr)
        fail(f"{program} could not list its benchmarks (exit status {done.returncode})")
    if all(parse_name(name).work == "copy" for name in names):
        fail(f"no benchmark of {program} matches '{options.filter}': the names are BACKEND/PRECISION/LINESxROWS/LAYOUT/WORK/METHOD")
    return names


def filters(options):
    return [f"--benchmark_filter=/copy/|{options.filter}"] if options.filter else []


def run(program, options):
    """Runs one program, printing a line as each benchmark is done; returns what it wrote as JSON."""
    results = options.build / "results"
    results.mkdir(parents=True, exist_ok=True)
    out, log = results / f"{program.name}.json", results / f"{program.name}.log"
    total = len(list_benchmarks(program, options))
    effort = (0.01, 1) if options.quick else (0.05, 5)
    command = [program, *filters(options), "--benchmark_min_time=%g" % effort[0], "--benchmark_repetitions=%d" % effort[1],
               f"--benchmark_out={out}", "--benchmark_out_format=json", "--benchmark_format=console", "--benchmark_color=false"]
    print(f"{program.name}: {total} benchmarks", flush=True)
    seen = set()
    with log.open("w") as errors, subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        for line in process.stdout:
            name = line.split(" ")[0]
            if name.count("/") < 5 or parse_name(name) in seen:
                continue
            seen.add(parse_name(name))
            print(f"[{len(seen):3}/{total}] {'/'.join(parse_name(name))}", flush=True)
    if process.returncode != 0:
        sys.stderr.write(log.read_text()[-4000:])
        fail(f"{program} ended with exit status {process.returncode} before all was measured: the end of its output is above")
    return json.loads(out.read_text())


def collect(report):
    """The repetition of each benchmark that other programs disturbed least, how much slower the worst one was, and what went wrong."""
    times, bytes_a_row, errors = collections.defaultdict(list), {}, {}
    for entry in report["benchmarks"]:
        name = parse_name(entry["name"])
        if entry.get("error_occurred"):
            errors[name] = entry["error_message"]
        elif entry.get("run_type") == "iteration":
            times[name].append(entry["median_ms"])
            bytes_a_row[name] = entry["bytes_a_row"]
    results = {}
    for name, values in times.items():
        spread = max(values) / min(values) - 1 if len(values) > 1 else None
        results[name] = Result(min(values), spread, bytes_a_row[name])
    return results, errors


def library_time(results, name):
    """cuSPARSE keeps no factors: a solve alone is compared with its one-shot work, which is what it would take."""
    for work in (name.work, "one-shot"):
        for other, result in results.items():
            if library_of(other.method) and other[:4] == name[:4] and other.work == work:
                return result.milliseconds
    return None


def number(value):
    return "–" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def percent(value):
    return "–" if value is None else f"{value:.0%}"


def table(results, backend, precision):
    """A markdown table, its columns padded to be read as text too."""
    library = next((library_of(n.method) for n in results if n.backend == backend and library_of(n.method)), "library")
    rows = [["lines x rows", "layout", "work", "method", "ms", "spread", "x copy", f"x {library}"]]
    for name, result in results.items():
        if (name.backend, name.precision) != (backend, precision) or name.work == "copy":
            continue
        copy = results.get(Name(backend, precision, name.size, "flat", "copy", "kokkos"))
        floor = copy.milliseconds * result.bytes_a_row / copy.bytes_a_row if copy else None
        other = library_time(results, name)
        rows.append([name.size.replace("x", " x "), name.layout, name.work, name.method.replace(":", " "), number(result.milliseconds),
                     percent(result.spread),
                     number(result.milliseconds / floor if floor else None), number(other / result.milliseconds if other else None)])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    left = 4  # columns of text; the others are numbers
    lines = ["| " + " | ".join(c.ljust(w) if k < left else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths))) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) if k < left else "-" * (w + 1) + ":" for k, w in enumerate(widths)) + "|")
    return lines


def copies(results, backend, precision):
    """The bandwidth of the copies, which says how much the column "x copy" is worth."""
    bandwidths = []
    for name, result in results.items():
        if (name.backend, name.precision, name.work) == (backend, precision, "copy"):
            lines, rows = map(int, name.size.split("x"))
            rate = lines * rows * result.bytes_a_row / result.milliseconds / 1e6
            bandwidths.append(f"{rate:.0f} GB/s ({lines} x {rows}, spread {percent(result.spread)})")
    return "Copy: " + ", ".join(bandwidths)


def describe(context, name):
    return f"{name} ({context[name]})" if name in context else name


def tables(report, results, quick):
    context = report["context"]
    lines = [f"# {pathlib.Path(context['executable']).name}, {context['date']}" + (" (quick)" if quick else ""), ""]
    lines += ["ms: a run's median within a repetition, of the repetition with the smallest; inputs and factors from memory, not from cache.",
              "spread: how much slower the slowest repetition was. Large where other programs ran: do not trust that row.",
              "x copy: times what a copy takes for the 5 words that a row must move at least (1 is the floor).",
              "x library: how many times faster than the library for the same work; below 1 the library is faster. What it overwrites of its",
              "inputs is brought back outside of its time. cuSPARSE keeps no factors: solves alone are compared with its one-shot work.", ""]
    versions = [f"{library} {context[library]}" for library in LIBRARIES.values() if library in context]
    lines += [f"Libraries: {', '.join(versions)}. Load of the {context['num_cpus']} processors: {context['load_avg'][0]:.1f} before, "
              f"{os.getloadavg()[0]:.1f} after; host times are only worth something where nothing else ran."]
    for backend, precision in dict.fromkeys((name.backend, name.precision) for name in results if name.work != "copy"):
        lines += ["", f"## {describe(context, backend)}, {precision}", "", copies(results, backend, precision), "",
                  *table(results, backend, precision)]
    return lines


def main():
    options = arguments()
    written, failures = [], []
    for program in find_programs(options):
        report = run(program, options)
        results, errors = collect(report)
        written += tables(report, results, options.quick) + [""]
        failures += [f"- {'/'.join(name)}: {message}" for name, message in errors.items()]
    if failures:
        written += ["## Not timed", "", *failures, ""]
    path = options.build / "results" / "bench.md"
    path.write_text("\n".join(written))
    print("\n" + "\n".join(written))
    print(f"written to {path}, the measurements to {path.parent}/*.json")
    if failures:
        fail(f"{len(failures)} benchmarks were not timed: see above")


if __name__ == "__main__":
    main()
