#!/usr/bin/env python3
"""Random cases on 1 to 5 ranks, each in a worker that may crash or hang; what fails is shrunk to a script that shows it.

Needs what tests/programs.py needs (WEFT_BUILD) and a Python with petsc4py for the PETSc that Weft was built with."""

import argparse
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "faults")]
import memory_tools  # noqa: E402
import operators  # noqa: E402
import programs  # noqa: E402
import solvers  # noqa: E402

BATCH = 100
RANKS = (1, 1, 2, 1, 1, 3, 1, 1, 4, 1, 1, 5)  # the ranks of the batches, in turn: several ranks on few cores are slow
PER_CASE = 15  # seconds after which a case hangs


def end_session(leader):
    """Ends a process and all that it has started: mpiexec's ranks are groups of their own."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.getsid(int(entry.name)) == leader:
                os.kill(int(entry.name), signal.SIGKILL)
        except ProcessLookupError:
            pass


def reports(said, first):
    """{seed: what a tool that watches memory said of its case}. Workers say there too which case is next."""
    found, seed = {}, first
    for line in said.splitlines():
        if line.startswith("case "):
            seed = int(line.split()[1])
        elif re.match(r"==\d+==|\s+#\d+ |AddressSanitizer|.*runtime error:", line):
            found.setdefault(seed, []).append(line)
    return {seed: "\n".join(lines)[:3000] for seed, lines in found.items()}


def worker(arguments, ranks, lists, library, before=(), timeout=PER_CASE, petsc=None):
    """Output lines; how it ended: "done", "hang" (nothing was said for `timeout` seconds) or "crash"; and, where `before`, a tool that watches memory,
    has found something, all that was said to standard error. petsc: variables that name the petsc4py of complex scalars."""
    command = [programs.MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
    command += [*before, sys.executable, str(HERE / "worker.py"), "--lists", json.dumps(lists), *arguments]
    lines = []
    with tempfile.TemporaryDirectory(prefix="weft") as folder:
        environment = dict(programs.ENVIRONMENT, TMPDIR=folder, PETSC_OPTIONS=f"-dll_append {library}", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", **(petsc or {}))
        said = open(Path(folder) / "said", "w+", errors="replace") if before else subprocess.DEVNULL
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, env=environment, start_new_session=True)
        text = b""
        while True:
            if not select.select([process.stdout], [], [], timeout)[0]:
                end_session(process.pid)
                process.wait()
                return lines, "hang", ""
            read = os.read(process.stdout.fileno(), 1 << 16)
            *whole, text = (text + read).split(b"\n")
            lines += [line.decode(errors="replace") for line in whole]
            if not read:
                bad = process.wait() != 0
                if bad and before:
                    said.seek(0)
                return lines, "done" if "done" in lines else "crash", said.read() if bad and before else ""


def batch(first, count, ranks, lists, library, **how):
    """The failures of the cases first .. first + count - 1, and how many of these were run."""
    failures, at, last, more = [], first, first + count, []
    if how.get("before"):
        more = ["--facts", json.dumps({seed: operators.Operator(solvers.case(seed, lists)["operator"]).facts for seed in range(first, last)})]
    while at < last:
        lines, end, said = worker(["--seeds", str(at), str(last), *more], ranks, lists, library, **how)
        failures += [json.loads(line[5:]) for line in lines if line.startswith("FAIL ")]
        found = reports(said, at)
        if said and end == "done" and not found:
            found = {at: f"ended with an error\n{said[-2000:]}"}
        failures += [dict(solvers.case(seed, lists), ranks=ranks, what=f"memory: {what}") for seed, what in found.items()]
        if end == "done":
            break
        seeds = [int(line.split()[1]) for line in lines if line.startswith("case ")]
        seed = seeds[-1] if seeds else at
        case = solvers.case(seed, lists)
        if end == "hang":  # machines may be busy: what hangs does so by itself too, and for longer
            lines, end, _ = worker(["--case", json.dumps(case), *more], ranks, lists, library, **dict(how, timeout=6 * how.get("timeout", PER_CASE)))
            failures += [json.loads(line[5:]) for line in lines if line.startswith("FAIL ")]
        if end != "done" and seed not in found:
            failures.append(dict(case, ranks=ranks, what=f"{end}: the process " + ("did not end" if end == "hang" else "died")))
        at = seed + 1
    return failures, count


def kind_of(failure):
    """What tells failures apart: the words without the numbers."""
    return failure["solver"]["kind"], re.sub(r"[-+]?\d[\d.e+-]*", "#", failure["what"])


def same_failure(case, failure, lists, library, petsc):
    lines, end, _ = worker(["--case", json.dumps(case)], failure["ranks"], lists, library, timeout=3 * PER_CASE, petsc=petsc)
    found = [json.loads(line[5:])["what"] for line in lines if line.startswith("FAIL ")]
    now = found[0] if found else end
    return now.split(":")[0] == failure["what"].split(":")[0]


def smaller(case):
    """Cases with one thing less."""
    for name in list(case["solver"]["options"]):
        if name != "pc_type":
            yield dict(case, solver=dict(case["solver"], options={k: v for k, v in case["solver"]["options"].items() if k != name}))
    operator = case["operator"]
    plain = {"unknowns": 1, "shift": 0.0, "eliminated": "no", "mask": False, "missing": False, "coefficients": "constant", "stencil": "star", "scale": 1.0}
    for name, value in plain.items():
        if name in operator and operator[name] != value:
            yield dict(case, operator=dict(operator, **{name: value}))
    for name, value in (("convection", 0.0), ("stiff", 1.0), ("periodic", False), ("ends", "dirichlet")):
        for k, now in enumerate(operator.get(name, [])):
            if now != value:
                yield dict(case, operator=dict(operator, **{name: [value if d == k else v for d, v in enumerate(operator[name])]}))
    for k, n in enumerate(operator.get("nodes", [])):
        for less in {n // 2, n - 1} - {0, n}:
            yield dict(case, operator=dict(operator, nodes=[less if d == k else v for d, v in enumerate(operator["nodes"])]))
    if operator["kind"] != "grid":
        for less in {operator["n"] // 2, operator["n"] - 1} - {0, operator["n"]}:
            yield dict(case, operator=dict(operator, n=less))


def shrink(failure, lists, library, petsc=None, seconds=60):
    case = {k: failure[k] for k in ("seed", "operator", "solver")}
    end, again = time.monotonic() + seconds, True
    while again and time.monotonic() < end:
        again = False
        for less in smaller(case):
            if time.monotonic() > end:
                break
            if same_failure(less, failure, lists, library, petsc):
                case, again = less, True
                break
    return case


def script(case, failure, lists):
    """A shell script that runs one case."""
    mpi = f"mpiexec -n {failure['ranks']} " if failure["ranks"] > 1 else ""
    return f"""#!/bin/sh
# {failure['what']}
# WEFT_BUILD: the build folder
export PYTHONPATH={HERE.parent.name}/{HERE.name}:{HERE.parent.name} PETSC_OPTIONS="-dll_append $WEFT_BUILD/lib/libweft.so" OMP_NUM_THREADS=1
{mpi}python3 {HERE.parent.name}/{HERE.name}/worker.py --lists '{{}}' --case '{json.dumps(case)}'
"""


def run(cases, first, library, seconds=None, ranks=RANKS, jobs=2, **how):
    """All failures, the number of cases that were run, and the options of the library."""
    lists, end = programs.option_lists(), time.monotonic() + (seconds or 1e9)
    if how.get("petsc"):
        lists["scalars"] = "complex"
    batches, at = [], first
    while at < first + cases:
        on = ranks[len(batches) % len(ranks)]
        count = min(BATCH if on == 1 else BATCH // 4, first + cases - at)
        batches.append((at, count, on))
        at += count

    def one(which):
        return batch(*which, lists, library, **how) if time.monotonic() < end else ([], 0)

    with ThreadPoolExecutor(jobs) as pool:
        done = list(pool.map(one, batches))
    return [f for failures, _ in done for f in failures], sum(n for _, n in done), lists


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seconds", type=float, help="begin no batch after that")
    parser.add_argument("--ranks", help="such as 1,2,3")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--scripts", help="a folder for scripts that show what failed")
    parser.add_argument("--complex", action="store_true", help="WEFT_BUILD is for complex scalars, and PETSC_DIR names the PETSc of such a petsc4py")
    tools = parser.add_mutually_exclusive_group()
    tools.add_argument("--valgrind", action="store_true", help="under valgrind's memcheck")
    tools.add_argument("--address", type=Path, metavar="BUILD", help="with the library of a build by -DWEFT_SANITIZE=address,undefined; programs are those of WEFT_BUILD")
    arguments = parser.parse_args()
    begun = time.monotonic()
    library, how = programs.LIBRARY, {}
    if arguments.valgrind:
        how = {"before": memory_tools.memcheck(), "timeout": 20 * PER_CASE}
    elif arguments.address:
        library = arguments.address.resolve() / "lib" / "libweft.so"
        how = {"before": ["env", *(f"{name}={value}" for name, value in memory_tools.address_for_plain_programs().items())], "timeout": 4 * PER_CASE}
    if arguments.complex:
        how["petsc"] = {"PETSC_DIR": os.environ["PETSC_DIR"], "PETSC_ARCH": os.environ.get("PETSC_ARCH", "")}
    ranks = tuple(int(r) for r in arguments.ranks.split(",")) if arguments.ranks else RANKS
    failures, count, lists = run(arguments.cases, arguments.first, library, arguments.seconds, ranks, arguments.jobs, **how)
    kinds = {}
    for failure in failures:
        kinds.setdefault(kind_of(failure), []).append(failure)
    for kind, same in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"{len(same):6d}  {kind[0]:7s} {same[0]['what']}  (seed {same[0]['seed']}, {same[0]['ranks']} ranks)")
        if arguments.scripts:
            folder = Path(arguments.scripts)
            folder.mkdir(parents=True, exist_ok=True)
            case = shrink(same[0], lists, programs.LIBRARY, how.get("petsc"))
            name = folder / (re.sub(r"\W+", "_", " ".join(kind))[:60].strip("_") + ".sh")
            name.write_text(script(case, same[0], lists))
    print(f"{count} cases, {len(failures)} failures, {time.monotonic() - begun:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
