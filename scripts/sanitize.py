#!/usr/bin/env python3
"""The kernel tests under compute-sanitizer: each part of them under each tool, in a sample that takes minutes, and which kernels ran.

    scripts/sanitize.py --bin build/cuda-sm_90/bin

Runs where the GPU is; needs compute-sanitizer, and a C++ compiler for the library that notes which kernels are launched. Results are
a table and a list of kernels that no part launched. Fails if a tool found anything, a test failed or the time did not suffice."""

import argparse
import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
# How much coarser the samples are under each tool: racecheck makes kernels some hundred times slower.
TOOLS = {"memcheck": 1, "racecheck": 60, "initcheck": 3, "synccheck": 3}


@dataclasses.dataclass
class Part:
    """Some tests of a program, of whose many comparisons (WEFT_TEST_SAMPLE in tests/kernels/backends.hpp) every `sample`-th is made. Under the
    slow tools a part is several processes, `shards`, each with some of the tests."""

    name: str
    program: str
    tests: str
    sample: int = 1
    shards: int = 1
    shard: int = 0

    def split(self, tool):
        if TOOLS.get(tool, 1) == 1 or self.shards == 1:
            return [dataclasses.replace(self, shards=1)]
        return [dataclasses.replace(self, name=f"{self.name}, {k + 1} of {self.shards}", shard=k) for k in range(self.shards)]


# Typed tests name their backend. What runs on the host alone has nothing for these tools; what else is left out takes minutes under them and
# launches kernels that others launch too.
NOT = "-*/Serial.*:*/OpenMP.*:*Refuses*:DenseCrout/0.*:DenseCrout/1.*"
PARTS = [
    Part("wide", "kernel_tests", "Wide.*" + NOT, 5),
    Part("toeplitz", "kernel_tests", "Toeplitz.*" + NOT, 17, shards=4),
    Part("pivoted", "kernel_tests", "Pivoted.*" + NOT + ":*NativeElimination*:*LongLaplacian*:*MillionRows*", 11),
    Part("blocks", "kernel_tests", "BlockTridiagonal.*:BlockLineSolver.*" + NOT + ":*ReportsTheFirstBadPivot*", 37),
    Part("smooth", "smooth_tests", "*" + NOT, 61, shards=2),
    Part("transforms", "poisson_tests", "FastTransform.*:ModeLines.*" + NOT),
    Part("adi", "adi_tests", "*" + NOT + ":*Thesis*:*Promise*:*LongLines*", 3),
    Part("adi, long lines", "adi_tests", "*AdiLongLines*", shards=11),
    Part(
        "tridiagonal",
        "kernel_tests",
        "TridiagonalMethods.*:Csr*:*LineSolver.*:Spike.*:Thomas*.*:Tpr.*" + NOT
        + ":Block*:*BadPivotInEvery*:*BadPivotAtEvery*:*AtEveryDepth*",
        61,
        shards=5,
    ),
    Part("compact", "compact_tests", "*" + NOT),
    Part("triangular", "trisolve_tests", "*" + NOT, shards=31),
    Part("crout", "crout_tests", "*" + NOT + ":*IsAsGoodAsIlut*", shards=4),
    Part("forest", "forest_tests", "*" + NOT + ":*GreedyPass*:*PivotsOfItsLines*:*ColoursSeparate*", 11, shards=2),
    Part("distributed", "distributed_tests", "*" + NOT, 97, shards=17),
    Part("poisson", "poisson_tests", "Poisson.*:Separate.*" + NOT + ":*ErrorGrowth*:*SolvesSingularProblems*", 53, shards=5),
]


@dataclasses.dataclass
class Outcome:
    part: Part
    tool: str
    seconds: float
    tests: int  # that passed
    verdict: str  # what the tool says of errors, or why it says nothing
    clean: bool
    has: set
    ran: set


def command(part, tool, options):
    program = [str(options.bin / part.program), f"--gtest_filter={part.tests}", "--gtest_color=no"]
    if tool == "none":
        return ["env", f"LD_PRELOAD={options.preload}", *program]
    return ["compute-sanitizer", "--tool", tool, "--print-limit", "30", f"--preload-library={options.preload}", *program]


def run(part, tool, options):
    limit = min(options.limit, options.end - time.monotonic())
    if limit < 1:
        return Outcome(part, tool, 0, 0, "not begun", False, set(), set())
    name = re.sub(r"\W+", "-", part.name)
    log, launches = options.out / f"{name}.{tool}.log", options.out / f"{name}.{tool}.launches"
    sample = part.sample * TOOLS.get(tool, 1) * options.coarser
    environment = dict(os.environ, WEFT_TEST_SAMPLE=str(sample), WEFT_LAUNCHES=str(launches), OMP_WAIT_POLICY="passive",
                       GTEST_TOTAL_SHARDS=str(part.shards), GTEST_SHARD_INDEX=str(part.shard))
    start, ended = time.monotonic(), True
    with open(log, "w") as output:
        process = subprocess.Popen(
            command(part, tool, options), stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            ended = False
            os.killpg(process.pid, 9)
            process.wait()
    seconds, text = time.monotonic() - start, log.read_text(errors="replace")
    summary = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (.*)", text)
    failed = re.findall(r"\[  FAILED  \] (\S+)", text)
    verdict = summary[-1] if summary else ("nothing" if tool == "none" else "no summary")
    if not ended:
        verdict = f"stopped after {limit:.0f} s"
    elif failed:
        verdict += f"; failed: {' '.join(sorted(set(failed)))}"
    elif process.returncode != 0:
        verdict += f"; exit {process.returncode}"
    names = collections.defaultdict(set)
    if launches.exists():
        for line in launches.read_text().splitlines():
            what, name = line.split(" ", 1)
            names[what].add(name)
    clean = ended and not failed and process.returncode == 0 and (tool == "none" or verdict.startswith("0 "))
    return Outcome(part, tool, seconds, len(re.findall(r"\[       OK \]", text)), verdict, clean, names["has"], names["ran"])


def kernels_of(names):
    """Kernels of ours by their names in the binary: Kokkos has several ways to hand a functor over, of which one is launched."""
    names = sorted(names)
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout.splitlines()
    kernels = collections.defaultdict(set)
    for mangled, name in zip(names, text):
        if "weft" in name and not re.search(r"View(Copy|Fill|ValueFunctor)", name):  # Kokkos's own, of our types
            form = re.sub(r"^void |cuda_parallel_launch_\w+|Kokkos::(Impl::|Experimental::)?|, \(?\d+u?\)?, \(?\d+u?\)?>\(", "", name)
            kernels[form].add(mangled)
    return kernels


def short(kernel):
    """A kernel without its types: the native ones by name, functors by the function or the type that they are from."""
    functor = re.search(r"weft::[\w:]+(?=[<(,>])", kernel)
    return functor.group(0).replace("weft::", "") if functor else kernel[:80]


def report(outcomes, options):
    lines = ["| part | tool | kernels launched, of the program's | tests | says | s |", "|---|---|---|---|---|---|"]
    ran, has = {tool: set() for tool in options.tools}, set()
    for o in outcomes:
        has |= o.has
        ran[o.tool] |= o.ran
        launched, all_of_it = len(kernels_of(o.ran)), len(kernels_of(o.has))
        lines.append(f"| {o.part.name} | {o.tool} | {launched} of {all_of_it} | {o.tests} | {o.verdict} | {o.seconds:.0f} |")
    forms = kernels_of(has)
    names = collections.Counter(map(short, forms))
    lines += ["", f"These programs have {len(names)} kernels in {len(forms)} forms (types, template arguments). Launched:"]
    for tool in options.tools:
        missing = {form for form, mangled in forms.items() if not mangled & ran[tool]}
        absent = collections.Counter(map(short, missing))
        none = sorted(name for name, count in absent.items() if count == names[name])
        lines += ["", f"- {tool}: {len(names) - len(none)} kernels, {len(forms) - len(missing)} forms. Not: {', '.join(none) or 'none'}"]
        (options.out / f"missing.{tool}.txt").write_text("\n".join(sorted(missing)) + "\n")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="where the test programs are")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("sanitize"), help="logs and table")
    parser.add_argument("--tools", nargs="+", default=list(TOOLS), choices=[*TOOLS, "none"], help="none: the tests alone, for what they launch")
    names = [part.name for part in PARTS]
    parser.add_argument("--parts", nargs="+", default=names, choices=names)
    parser.add_argument("--limit", type=float, default=300, help="seconds that a part may take under a tool")
    parser.add_argument("--total", type=float, default=3600, help="seconds for everything")
    parser.add_argument("--coarser", type=int, default=1, help="a sample of the samples: every n-th comparison of theirs")
    parser.add_argument("--jobs", type=int, default=3, help="at a time")
    options = parser.parse_args()
    options.end = time.monotonic() + options.total
    options.out.mkdir(parents=True, exist_ok=True)
    options.preload = (options.out / "liblaunches.so").resolve()
    source = TOP / "tests/device/launches.cpp"
    compiler = os.environ.get("CXX", "c++")
    subprocess.run([compiler, "-std=c++20", "-O1", "-shared", "-fPIC", source, "-o", options.preload, "-ldl"], check=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        parts = [(tool, part) for tool in options.tools for whole in PARTS if whole.name in options.parts for part in whole.split(tool)]
        jobs = [pool.submit(run, part, tool, options) for tool, part in parts]
        outcomes = [job.result() for job in jobs]
    table = report(outcomes, options)
    (options.out / "table.md").write_text(table)
    print(table)
    sys.exit(0 if all(o.clean for o in outcomes) else 1)


if __name__ == "__main__":
    main()
