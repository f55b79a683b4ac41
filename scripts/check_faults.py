#!/usr/bin/env python3
"""./weft check-faults: everything that looks for faults, with a table of results at the end. --only names some of the steps."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import one_machine

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests" / "faults"))
from memory_tools import ADDRESS, SUPPRESSIONS, memcheck  # noqa: E402
from solver_types import BLOCKS, TYPES  # noqa: E402

KERNEL_TESTS = ["kernel_tests", "forest_tests", "smooth_tests", "compact_tests", "adi_tests", "boxmg_tests", "poisson_tests", "crout_tests", "trisolve_tests", "distributed_tests"]
RANKS = {"distributed_tests": 3}
# What a slow instrument can run of the kernel tests: small sizes. The pattern names GoogleTest's tests.
# Not those of accuracy: valgrind computes long double, in which some tables are made, as double.
SMALL = "-*Large*:*Long*:*Many*:*Million*:*Random*:*Matrices*:*Accura*"
TUTORIALS = {
    "ex45": "-da_grid_x 9 -da_grid_y 11 -da_grid_z 13",
    "ex50": "-da_grid_x 33 -da_grid_y 21",
    "ex29": "-da_grid_x 17 -da_grid_y 21",
}


class Missing(Exception):
    """A step cannot run here."""


class Steps:
    def __init__(self, arguments, command):
        self.command, self.lock = command, Lock()
        self.build, self.jobs, self.inputs = Path(arguments.build).resolve(), arguments.jobs, arguments.inputs
        self.version, self.rows, self.notes = arguments.petsc, [], []
        self.environment = one_machine.environment(without=("PETSC_OPTIONS",), OMP_NUM_THREADS="1")
        self.mpiexec = os.environ.get("WEFT_MPIEXEC") or "mpiexec"

    # ------------------------------------------------------------------------------------------------------------- what all use

    def run(self, command, timeout=900, **environment):
        """Output and exit code; None for one that took too long."""
        with tempfile.TemporaryDirectory(prefix="weft") as folder:
            try:
                done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=timeout,
                                      env=dict(self.environment, TMPDIR=folder, **environment))
            except subprocess.TimeoutExpired as late:
                return (late.stdout or b"").decode(errors="replace"), None
        return done.stdout, done.returncode

    def petsc(self, program, options, ranks=1, before=(), build=None, **environment):
        build = build or self.build
        command = ([self.mpiexec, "-n", ranks] if ranks > 1 else []) + [*before, build / "bin" / program, "-dll_append", build / "lib" / "libweft.so"]
        return self.run(command + options.split(), **environment)

    def add(self, step, what, cases, failures, seconds):
        """A row of the table; failures are [(case, output)]."""
        result = "clean" if not failures else f"**{len(failures)} of {cases} failed**"
        with self.lock:
            self.rows.append((step, what, cases, result, seconds))
            print(f"{step:<10} {what:<60} {cases:>8} {result} ({seconds:.0f} s)", flush=True)
            for case, output in failures:
                print(f"---- {case}\n{output[-3000:]}\n----", flush=True)
            (self.build / "faults.md").write_text(self.text())  # what has run is kept, whatever comes

    def program(self, name, folder, before=()):
        """The command of a test program, on as many ranks as it is meant for."""
        return [*([self.mpiexec, "-n", RANKS[name]] if name in RANKS else []), *before, folder / "bin" / name]

    def kernel_tests(self, folder, before=(), arguments=(), **environment):
        """Failures of the kernels' tests. Each program in as many parts as there are jobs, and as many at once."""
        def part(chosen):
            name, index = chosen
            output, code = self.run([*self.program(name, folder, before), *arguments], timeout=7200, GTEST_TOTAL_SHARDS=str(self.jobs), GTEST_SHARD_INDEX=str(index), **environment)
            return [] if code == 0 else [(f"{name}, part {index + 1} of {self.jobs}", output)]

        return self.side_by_side(part, [(name, index) for name in KERNEL_TESTS for index in range(self.jobs)])

    def side_by_side(self, check, cases):
        """The failures of check(case), as many cases at once as there are jobs."""
        with ThreadPoolExecutor(self.jobs) as together:
            return sum(together.map(check, cases), [])

    def compile(self, name, options, source=SOURCE, part=()):
        """A build beside the main one. `part`: words for cmake --build where not all of it is needed."""
        folder = self.build.with_name(f"{self.build.name}-{name}")
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "build.log", "w") as log:
            for command in (["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DWEFT_TESTS=ON", f"-DPython3_EXECUTABLE={sys.executable}", *options],
                            ["cmake", "--build", folder, "--parallel", str(self.jobs), *part]):
                if subprocess.run([str(word) for word in command], stdout=log, stderr=subprocess.STDOUT).returncode:
                    raise Missing(f"the build in {folder} failed: see {folder}/build.log")
        return folder

    # -------------------------------------------------------------------------------------------------------------------- steps

    def tests(self):
        """What programs and their surroundings do wrong."""
        start = time.monotonic()
        output, code = self.run(["ctest", "--test-dir", self.build, "--output-on-failure", "-R", "^faults$"], timeout=3600)
        names = subprocess.run([sys.executable, "-m", "pytest", "-q", "--collect-only", SOURCE / "tests" / "faults"], stdout=subprocess.PIPE, text=True, cwd=SOURCE,
                               env=dict(self.environment, WEFT_BUILD=str(self.build), WEFT_SOURCE=str(SOURCE), WEFT_PETSC_VERSION=self.version, PYTHONPATH=str(SOURCE / "tests"))).stdout
        self.add("tests", "tests/faults", names.count("::"), [] if code == 0 else [("ctest", output)], time.monotonic() - start)

    def memory(self):
        """Nothing of PETSc's memory is left, and nothing overwrites it; no operation makes a NaN or an infinity on the way."""
        for what, options in (("-malloc_debug -malloc_dump", "-malloc_debug -malloc_dump"), ("-fp_trap", "-fp_trap")):
            start, failures, cases = time.monotonic(), [], 0
            for tutorial, grid in TUTORIALS.items():
                for name, chosen in TYPES.items():
                    if tutorial == "ex50" and name == "factors":
                        continue  # the matrix is singular: there are no complete factors
                    for ranks in (1, 2):
                        solver = BLOCKS if name == "factors" and ranks > 1 else chosen
                        output, code = self.petsc(tutorial, f"{grid} {solver} -ksp_max_it 20 {options}", ranks)
                        cases += 1
                        if code != 0 or "bytes" in output or "PETSC ERROR" in output:
                            failures.append((f"{tutorial} {solver} on {ranks} ranks", output))
            self.add("memory", f"{what}: types on {', '.join(TUTORIALS)}, 1 and 2 ranks", cases, failures, time.monotonic() - start)

    def ranks(self):
        """The same on 1 to 8 ranks. Applications to rounding; where a type is another one on other ranks, its solutions to the tolerance."""
        start, failures, cases = time.monotonic(), [], 0
        self.notes.append("| type | what is compared with one rank | " + " | ".join(str(n) for n in range(2, 9)) + " |")
        self.notes.append("|---|---|" + "--:|" * 7)
        whats = {
            "line": ("pc_probe", "-probe norm -n 19,23,17 -pc_type line -pc_line_direction xyz -pc_line_ordering zebra", r"^norm (\S+)", "an application", 1e-12),
            "adi": ("pc_probe", "-probe norm -n 19,23,17 -pc_type adi", r"^norm (\S+)", "an application", 1e-12),
            "bcr": ("pc_probe", "-probe norm -constant -n 19,23,17 -pc_type bcr", r"^norm (\S+)", "an application", 1e-12),
            "boxmg": ("pc_probe", "-probe norm -n 19,23,17 -pc_type boxmg", r"^norm (\S+)", "an application", 1e-12),
            "crout": ("fault_probe", "-n 32 -pc_type crout", r"solution (\S+)", "the solution, to 1e-10 in the residual (a block a rank)", 1e-9),
            "ksp adi": ("fault_probe", "-n 32 -ksp_type adi", r"solution (\S+)", "the solution, to 1e-10 in the residual", 1e-9),
            "factors": ("fault_probe", f"-n 32 {BLOCKS}", r"solution (\S+)", "the solution, to 1e-10 in the residual (a block a rank)", 1e-9),
        }
        for name, (program, options, pattern, what, tolerance) in whats.items():
            values = []
            for count in range(1, 9):
                output, code = self.petsc(program, options, count)
                found = re.search(pattern, output, re.MULTILINE)
                values.append(float(found.group(1)) if found and code == 0 else float("nan"))
                difference = abs(values[-1] / values[0] - 1)
                cases += count > 1
                if not difference <= tolerance:
                    failures.append((f"{program} {options} on {count} ranks", output))
            self.notes.append(f"| {name} | {what} | " + " | ".join(f"{abs(value / values[0] - 1):.0e}" for value in values[1:]) + " |")
        self.add("ranks", "the same on 2 to 8 ranks as on one", cases, failures, time.monotonic() - start)

    def valgrind(self):
        """memcheck on runs of every type."""
        start, tool = time.monotonic(), memcheck()
        cases = [(BLOCKS if name == "factors" and ranks > 1 else chosen, fault, ranks) for name, chosen in TYPES.items() for fault, ranks in (("pattern", 1), ("pattern", 2), ("nan_matrix", 1))]

        def check(case):
            solver, fault, ranks = case
            output, code = self.petsc("fault_probe", f"-n 8 -fault {fault} {solver}", ranks, before=tool, timeout=1800)
            return [] if code == 0 else [(f"fault_probe -fault {fault} {solver} on {ranks} ranks", output)]

        failures = self.side_by_side(check, cases)
        self.add("valgrind", "memcheck: every type, patterns that change and NaN", len(cases), failures, time.monotonic() - start)

    def differential(self):
        """Random operators and options: fifty thousand cases; a thousand of them with memory that nobody has written, under memcheck, and with AddressSanitizer."""
        driver = [sys.executable, SOURCE / "tests" / "differential" / "driver.py"]
        for what, more, environment in (
            ("random cases on 1 to 5 ranks", lambda: ["--cases", "50000", "--scripts", self.build / "differential"], {}),
            ("the same with MALLOC_PERTURB_, a thousand", lambda: ["--cases", "1000"], {"MALLOC_PERTURB_": "165"}),
            ("the same under memcheck, a thousand on 1 to 3 ranks", lambda: ["--cases", "1000", "--ranks", "1,1,2,1,1,3", "--valgrind"], {}),
            ("the same with AddressSanitizer and UBSan, a thousand", lambda: ["--cases", "1000", "--address", self.sanitizer_build("address", "address,undefined", [], ["--target", "weft"])], {}),
        ):
            more, start = more(), time.monotonic()
            output, code = self.run([*driver, "--jobs", self.jobs, *more], timeout=40000, WEFT_BUILD=str(self.build), WEFT_SOURCE=str(SOURCE), WEFT_PETSC_VERSION=self.version, **environment)
            counts = re.search(r"(\d+) cases, (\d+) failures", output)
            self.add("differential", what, int(counts.group(1)) if counts else 0, [] if code == 0 else [("driver.py", output)], time.monotonic() - start)

    def kernels(self):
        """memcheck on kernel tests of small sizes, and of comparisons by the thousand on some."""
        start = time.monotonic()
        failures = self.kernel_tests(self.build, memcheck(), [f"--gtest_filter={SMALL}"], WEFT_TEST_SAMPLE="40")
        self.add("kernels", f"memcheck: kernel tests, --gtest_filter='{SMALL}'", len(KERNEL_TESTS), failures, time.monotonic() - start)

    def fuzz(self):
        """Files of any content, guided by what they reach: libFuzzer with AddressSanitizer and UBSan, and by way of atheris for the reader in Python."""
        folder = self.build.with_name(f"{self.build.name}-fuzz")
        tools, of = folder / "python" / "bin", SOURCE / "tests" / "fuzz"
        readers, missing = ["manifest", "matrix", "complex", "lines"], []
        if shutil.which("clang++"):
            self.compile("fuzz", ["-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_C_COMPILER=clang"], of / "guided")
        else:
            readers, missing = ["manifest"], ["the readers in C++ need clang++ with its run-time libraries (Debian: clang, libclang-rt-14-dev)"]
        for command in ([sys.executable, "-m", "venv", folder / "python"], [tools / "pip", "install", "-q", "atheris"]):
            output, code = self.run(command)
            if code:
                readers.remove("manifest")
                missing.append(f"the reader in Python needs atheris, which could not be installed: {output[-500:]}")
                break

        def reader(name):
            start = time.monotonic()
            program = [tools / "python", of / "fuzz_manifest.py"] if name == "manifest" else [folder / "bin" / f"fuzz_{name}", "-rss_limit_mb=2000"]
            words = "matrix" if name == "complex" else name
            with tempfile.TemporaryDirectory() as found:
                output, code = self.run([*program, found, of / "corpus" / name, f"-runs={self.inputs}", "-max_len=600", f"-dict={of / words}.dict", "-timeout=20", f"-artifact_prefix={folder}/"], timeout=7200,
                                        LSAN_OPTIONS=f"suppressions={SUPPRESSIONS / 'leaks.supp'}:print_suppressions=0")
            self.add("fuzz", f"{name} files, inputs", self.inputs, [] if code == 0 else [(f"fuzz_{name}: the input is in {folder}", output)], time.monotonic() - start)
            return []

        self.side_by_side(reader, readers)
        if missing:
            raise Missing("; ".join(missing))

    def sanitizer_build(self, name, sanitizers, options, part=()):
        # Blocks of every size are the same code: three of them tell as much as eight, and compile in half the time.
        return self.compile(name, [f"-DWEFT_SANITIZE={sanitizers}", "-DWEFT_LARGEST_BLOCK=3", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1", *options], part=part)

    def sanitized(self, name, sanitizers, options, environment, sample, known_at_start=False):
        """Of the comparisons that kernels' tests make by the thousand one in `sample`. known_at_start: the sanitizer knows only those functions by
        name, and what is said of them, that are there when it starts, which a library for -dll_append is not."""
        folder = self.sanitizer_build(name, sanitizers, options)
        start = time.monotonic()
        failures = self.kernel_tests(folder, WEFT_TEST_SAMPLE=str(sample), **environment)
        self.add(name, f"-fsanitize={sanitizers}: kernel tests", len(KERNEL_TESTS), failures, time.monotonic() - start)
        start, failures, cases = time.monotonic(), [], 0
        for kind, chosen in TYPES.items():
            for fault in ("pattern", "nan_matrix", "nan_rhs"):
                for ranks in (1, 3) if kind != "factors" else (1,):
                    before = ["env", f"LD_PRELOAD={folder / 'lib' / 'libweft.so'}"] if known_at_start else []
                    output, code = self.petsc("fault_probe", f"-fault {fault} {chosen}", ranks, before, build=folder, **environment)
                    cases += 1
                    if code != 0:
                        failures.append((f"fault_probe -fault {fault} {chosen} on {ranks} ranks", output))
        self.add(name, f"-fsanitize={sanitizers}: every type", cases, failures, time.monotonic() - start)

    def address(self):
        """AddressSanitizer and UBSan on all of Weft, on two threads."""
        self.sanitized("address", "address,undefined", [], dict(ADDRESS, OMP_NUM_THREADS="2"), 10)

    def thread(self):
        """ThreadSanitizer. It understands no OpenMP of gcc's: Kokkos runs on std::threads here, built with it too."""
        prefix = self.build.with_name(f"{self.build.name}-kokkos-threads")
        sources = list((Path(os.environ.get("WEFT_CACHE", Path.home() / ".cache" / "weft")) / "sources").glob("pycompadre-*/kokkos"))
        if not sources:
            raise Missing("Kokkos' source is not there: ./weft check --stack petsc-3.26 brings it")
        if not (prefix / "lib").exists():
            with open(f"{prefix}.log", "w") as log:
                for command in (["cmake", "-S", sources[0], "-B", f"{prefix}-build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-fsanitize=thread -O1 -g1",
                                 "-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_POSITION_INDEPENDENT_CODE=ON", "-DCMAKE_CXX_VISIBILITY_PRESET=hidden", "-DCMAKE_CXX_STANDARD=20",
                                 "-DKokkos_ENABLE_SERIAL=ON", "-DKokkos_ENABLE_THREADS=ON", f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_INSTALL_LIBDIR=lib"],
                                ["cmake", "--build", f"{prefix}-build", "--parallel", str(self.jobs), "--target", "install"]):
                    if subprocess.run([str(word) for word in command], stdout=log, stderr=subprocess.STDOUT).returncode:
                        raise Missing(f"Kokkos did not build: see {prefix}.log")
        environment = dict(TSAN_OPTIONS=f"suppressions={SUPPRESSIONS / 'threads.supp'}:halt_on_error=0:exitcode=66", KOKKOS_NUM_THREADS="3")
        self.sanitized("thread", "thread", [f"-DKokkos_ROOT={prefix}"], environment, 400, known_at_start=True)

    def coverage(self):
        """Lines of src and plugins that the tests of a host run: code without optimization, so of comparisons by the thousand some."""
        folder = self.compile("coverage", ["-DWEFT_COVERAGE=ON", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g1", "-DCMAKE_C_FLAGS_DEBUG=-O0 -g1"])
        start = time.monotonic()
        output, code = self.run(["ctest", "--test-dir", folder, "-E", "^(setup|bench)$", "--parallel", str(self.jobs), "--timeout", "7200"], timeout=20000, WEFT_TEST_SAMPLE="10")
        self.add("coverage", "the tests, counted", len(re.findall(r"Test +#", output)), [] if code == 0 else [("ctest", output)], time.monotonic() - start)
        self.table_of_coverage(folder)

    def table_of_coverage(self, folder):
        start = time.monotonic()
        output, code = self.run(["gcovr", "--root", SOURCE, "--filter", f"{SOURCE}/src/", "--filter", f"{SOURCE}/plugins/", "--csv", "--gcov-ignore-parse-errors", folder], timeout=7200)
        lines = [line.split(",") for line in output.splitlines() if line.startswith(("src/", "plugins/"))]
        if code or not lines:
            return self.add("coverage", "gcovr", 1, [("gcovr", output)], time.monotonic() - start)
        counts = {"all": [0, 0]}
        below = []
        for name, total, covered, *_ in lines:
            part = "/".join(name.split("/")[:2]) if name.count("/") > 1 else name.split("/")[0]
            for key in (part, "all"):
                counts.setdefault(key, [0, 0])
                counts[key][0] += int(covered)
                counts[key][1] += int(total)
            if int(total) >= 10 and int(covered) < 0.9 * int(total):
                below.append((name, int(covered), int(total)))
        self.notes += ["| part | lines run | of | share |", "|---|--:|--:|--:|"]
        self.notes += [f"| {name} | {run} | {of} | {100 * run / of:.1f} % |" for name, (run, of) in sorted(counts.items()) if of]
        self.notes += ["", "Files below 90 %:", ""] + [f"- {name}: {run} of {of}" for name, run, of in below]
        run, of = counts["all"]
        self.add("coverage", f"lines of src and plugins that run: {100 * run / of:.1f} % of", of, [] if run >= 0.9 * of else [("coverage", "below 90 %")], time.monotonic() - start)

    def device(self):
        """compute-sanitizer on the kernels of a device."""
        if not shutil.which("compute-sanitizer"):
            raise Missing("compute-sanitizer, of the CUDA toolkit, is not on the PATH")
        for tool in ("memcheck", "synccheck", "initcheck", "racecheck"):
            start = time.monotonic()
            output, code = self.run([sys.executable, SOURCE / "scripts" / "sanitize.py", "--bin", self.build / "bin", "--tools", tool, "--out", self.build / "sanitizer"], timeout=20000)
            self.add("device", f"compute-sanitizer, {tool}: parts", len(re.findall(rf"\| {tool} \|", output)), [] if code == 0 else [(tool, output)], time.monotonic() - start)

    # ------------------------------------------------------------------------------------------------------------------ results

    def text(self):
        rows = ["| step | what | cases | result | s |", "|---|---|--:|---|--:|"]
        rows += [f"| {step} | {what} | {cases} | {result} | {seconds:.0f} |" for step, what, cases, result, seconds in self.rows]
        return "\n".join([f"`{self.command}`{f', PETSc {self.version}' if self.version else ''}:", "", *rows, "", *self.notes, ""])


NAMES = ["tests", "memory", "ranks", "differential", "fuzz", "valgrind", "kernels", "address", "thread", "coverage", "device"]
HOST = NAMES[:-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="what ./weft build made")
    parser.add_argument("--petsc", default="", help="PETSc's version, for the table")
    parser.add_argument("--only", default=",".join(HOST), help="some of " + ",".join(NAMES) + "; by default all but device, which needs a CUDA build and a GPU")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--inputs", type=int, default=1000000, help="to each fuzzed reader")
    arguments = parser.parse_args()
    chosen = arguments.only.split(",")
    wrong = [name for name in chosen if name not in NAMES]
    if wrong:
        parser.error(f"no step {', '.join(wrong)}: --only takes some of {','.join(NAMES)}")
    steps = Steps(arguments, "./weft check-faults" + ("" if chosen == HOST else f" --only {arguments.only}"))
    for name in chosen:
        try:
            getattr(steps, name)()
        except Missing as reason:
            steps.rows.append((name, "did not run", 0, f"**{reason}**", 0))
            print(f"{name:<10} did not run: {reason}", flush=True)
    text = steps.text()
    (steps.build / "faults.md").write_text(text)
    print(f"\n{text}\nThe table: {steps.build}/faults.md")
    return 1 if any(result != "clean" for *_, result, _ in steps.rows) else 0


if __name__ == "__main__":
    sys.exit(main())
