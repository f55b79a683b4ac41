"""Compares preconditioners on matrices and model problems: every type of Weft's, PETSc's own, and hypre and other libraries where PETSc has them. docs/evaluate.md
says more.

    ./weft evaluate                                           the matrices of this repository and model problems
    ./weft evaluate --matrices my/matrices                    a folder of .mtx, .mtx.gz or .tar.gz
    ./weft evaluate --matrices list.txt --types line,ilu      Group/Name lines or a manifest, some types
"""

import argparse
import dataclasses
import math
import os
import pathlib
import shlex
import signal
import sys
import tempfile
import time

from . import Failure, InputError, cases, iterations, machine, page, plots, recommend, summary, table
from .outcome import OUTCOMES
from .run import duration, run_cases
from .store import Store

SOURCE = pathlib.Path(__file__).resolve().parent.parent
QUICK_MATRICES = ("HB/gr_30_30", "HB/nos1", "HB/sherman1", "HB/orsirr_1", "Bai/pde900", "HB/west0067", "Bai/qc324", "Bai/mhd1280b", "HB/young1c")
NAMED_ONLY = {"large", "huge", "tutorials"}  # families of model problems that run where --models names them
NOT_THERE = ("Unable to find requested", "Could not locate a solver type", "Could not locate solver type", "Unknown type", "unknown type", "Only for Hermitian matrices")  # the last of CHOLMOD, whom nobody tells of it


def seconds(text):
    units = {"s": 1, "m": 60, "h": 3600}
    try:
        value = float(text[:-1]) * units[text[-1]] if text[-1:] in units else float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is no time: 60, 90s, 5m or 1h")
    return value


def size(text):
    units = {"K": 10, "M": 20, "G": 30, "T": 40}
    digits = text.upper().removesuffix("B").removesuffix("I")
    try:
        value = float(digits[:-1]) * 2 ** units[digits[-1]] if digits[-1:] in units else float(digits)
    except ValueError:
        value = math.nan
    if not 2**20 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is no amount of memory of at least 1M: 500M, 4G")
    return int(value)


def positive(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


def parse(words):
    parser = argparse.ArgumentParser(prog="./weft evaluate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matrices", metavar="WHAT", help="a folder, a manifest (.csv, .json), a text file of Group/Name lines, or one matrix; by default those of matrices/")
    parser.add_argument("--models", metavar="FAMILIES", help="model problems: none, all, or some of their families, with commas (default: all but large, huge and tutorials; none beside --matrices)")
    parser.add_argument("--types", metavar="T,T,...", default="", help="only configurations of these types: line, ilu, hypre ...")
    parser.add_argument("--configurations", metavar="FILE", help="your own configurations, JSON (default: evaluate/configurations.json)")
    parser.add_argument("--grids", metavar="FILE", help="the grids of your matrices, JSON (evaluate/grids.json has those of the collection's)")
    parser.add_argument("--quick", action="store_true", help="few problems, few configurations, each solved twice")
    parser.add_argument("--rtol", type=float, default=1e-8, help="true relative residual (default: %(default)g)")
    parser.add_argument("--max-it", type=positive, default=2000, metavar="N", help="most iterations (default: %(default)s)")
    parser.add_argument("--max-rows", type=positive, metavar="N", help="leave out larger matrices")
    parser.add_argument("--time-limit", type=seconds, metavar="T", help="for each case, its reading included: 60, 90s, 5m (default: 60 s, 20 s with --quick)")
    parser.add_argument("--memory-limit", type=size, metavar="M", help="for each case: 500M, 4G (default: half of the machine's)")
    parser.add_argument("--repeat", type=int, default=None, metavar="N", help="times that a quick solve is done again; the least time counts (default: 3, 1 with --quick)")
    parser.add_argument("--jobs", dest="parallel", type=positive, default=1, metavar="N", help="cases at once (default: 1; more disturb each other's times)")
    parser.add_argument("--backend", choices=tuple(cases.BACKENDS), help="where vectors and matrices live; device is CUDA's (default: device for a build with CUDA, hip for one with HIP, else host)")
    parser.add_argument("--output", type=pathlib.Path, metavar="FOLDER", help="where the results go (default: evaluation in the build folder)")
    parser.add_argument("--resume", action=argparse.BooleanOptionalAction, help="go on from the results that the folder holds (the default: same case, same library, same result)")
    parser.add_argument("--report", action="store_true", help="solve nothing: tables, pictures and the page of what the folder holds of this")
    parser.add_argument("--no-pictures", action="store_true", help="tables and the page alone")
    parser.add_argument("--check-page", action="store_true", help="load the page in a headless Chromium, sort and filter it, and leave screenshots beside it")
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--check-input", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    typed = list(sys.argv[1:] if words is None else words)
    place = typed.index("--build") if "--build" in typed else len(typed)
    arguments.command = "./weft evaluate " + shlex.join(typed[:place] + typed[place + 2:])
    if arguments.report and arguments.resume is False:
        parser.error("--report is about results that are there, and --no-resume throws them away: take one of the two")
    if not 0 < arguments.rtol < 1:
        parser.error("--rtol is between 0 and 1")
    arguments.time_limit = arguments.time_limit or (20 if arguments.quick else 60)
    arguments.memory_limit = arguments.memory_limit or machine.memory_bytes() // 2
    arguments.repeat = arguments.repeat if arguments.repeat is not None else 1 if arguments.quick else 3
    arguments.build = arguments.build.resolve()
    arguments.scalars = machine.scalars(arguments.build)
    arguments.backend = arguments.backend or next((backend for stack, backend in (("cuda", "device"), ("hip", "hip")) if stack in arguments.build.name), "host")
    here = pathlib.Path(os.environ.get("WEFT_FROM") or os.getcwd())  # where the user stands: ./weft itself works in the repository
    arguments.output = here / arguments.output if arguments.output else arguments.build / "evaluation"
    for name in ("matrices", "configurations", "grids"):
        if getattr(arguments, name):
            setattr(arguments, name, here / getattr(arguments, name))
    return arguments


def pick_models(arguments):
    """Those whose families --models names."""
    every = cases.models()
    known = sorted({word for model in every for word in model.family.split()})
    wanted = arguments.models if arguments.models is not None else "none" if arguments.matrices else ""
    if wanted in ("none", "all"):
        return every if wanted == "all" else []
    families = [word for word in wanted.split(",") if word]
    if unknown := [word for word in families if word not in known]:
        raise InputError(f"--models: there is no family '{unknown[0]}'; there are {', '.join(known)}, all and none")
    chosen = [model for model in every if set(model.family.split()) & set(families or set(known) - NAMED_ONLY)]
    if not arguments.check_input:
        machine.programs(arguments.build)
    if lacking := next((model.program for model in chosen if not (arguments.build / "bin" / model.program).is_file() and not arguments.check_input), None):
        raise InputError(f"--models: this build has no {lacking}: ./weft evaluate makes PETSc's tutorials where PETSc brings them (Debian: libpetsc3.18-dev-examples)")
    return [model for model in chosen if model.quick] if arguments.quick and not families else chosen


def pick_matrices(arguments, unpack_to):
    if arguments.matrices:
        return cases.matrices(arguments.matrices, unpack_to, arguments.grids, arguments.scalars)
    found = cases.matrices(SOURCE / "matrices", unpack_to, arguments.grids)
    if arguments.scalars == "complex":
        found += cases.matrices(SOURCE / "matrices" / "complex", unpack_to, arguments.grids, arguments.scalars)
    return [problem for problem in found if problem.name in QUICK_MATRICES] if arguments.quick else found


def plan(arguments, unpack_to):
    """Problems and configurations, checked: whatever is wrong with the input is said here, before anything runs."""
    chosen = cases.configurations(arguments.configurations) if arguments.configurations else cases.configurations()
    order = recommend.order_of(chosen)
    chosen = cases.pick(chosen, arguments.types)
    if arguments.quick and not arguments.configurations:
        quick = {configuration.type for configuration in chosen if configuration.quick}
        wanted = quick if not arguments.types else {configuration.type for configuration in chosen}
        chosen = [configuration for configuration in chosen if configuration.type in wanted and (configuration.quick or configuration.type not in quick)]
    problems = pick_matrices(arguments, unpack_to) + pick_models(arguments)
    if not problems:
        raise InputError("nothing to solve: no matrix, and --models none")
    # Of a study of model problems the matrices of this repository, which are there unless others are named, have nothing to be solved with.
    return [problem for problem in problems if any(problem.kinds & set(configuration.kinds) for configuration in chosen)], chosen, order


def solve(what, wanted, store, arguments):
    """Runs the cases that have no result; those that have one then."""
    if not arguments.report:
        run_cases(what, wanted, store, arguments)
    return [case for case in wanted if case.key in store.rows]


def describe(problems, commands, store, arguments):
    """Reads each matrix in a process of its own and notes what it is like. The problems that can be solved, and a row for each that cannot."""
    matrices = [problem for problem in problems if problem.kind == "matrix"]
    readings = {problem.name: commands.describe(problem) for problem in matrices}
    read = {case.problem.name for case in solve("reading matrices", list(readings.values()), store, arguments)}
    usable, unread = [], []
    for problem in problems:
        if problem.kind == "matrix" and problem.name not in read:
            continue
        row = store.rows[readings[problem.name].key] if problem.name in readings else None
        if row and row["outcome"] != "solved":
            unread.append({**row, "problem": problem.name})
            continue
        problem.facts |= row["facts"] if row else {}
        if arguments.max_rows and problem.facts["rows"] > arguments.max_rows:
            continue
        usable.append(problem)
    return usable, unread


def offered(configurations, commands, store, arguments, folder):
    """The configurations that this PETSc has: what comes from other libraries, and what the user wrote, is asked for on a tiny problem."""
    matrix = folder / "probe.mtx"
    entries = [f"{i} {i} 2" for i in range(1, 13)] + [f"{i + 1} {i} -1" for i in range(1, 12)]
    matrix.write_text("\n".join(["%%MatrixMarket matrix coordinate real symmetric", f"12 12 {len(entries)}", *entries]) + "\n", encoding="utf-8")
    facts = {"symmetric": True, "definite": "positive"}
    tiny = {"matrix": cases.Problem("(probe)", "matrix", file=str(matrix), facts=facts), "grid": cases.Problem("(probe)", "grid", options="-da_grid_x 9 -da_grid_y 9", facts=facts)}
    tiny["gridded"] = dataclasses.replace(tiny["matrix"], grid="-grid 12")
    # Where the library does not load every case would be an error, and none would say more than the first.
    first = commands.case(tiny["matrix"], cases.Configuration("none", "-pc_type none"))
    if store.rows.get(first.key, {}).get("outcome") != "solved":
        store.rows.pop(first.key, None)  # what was missing then may be there now
    if solve("trying the library", [first], store, arguments) and store.rows[first.key]["outcome"] in ("error", "crash"):
        raise Failure(f"the tiniest problem cannot be solved: {store.rows[first.key]['reason']}")
    doubtful = [configuration for configuration in configurations
                if arguments.configurations or configuration.type in plots.EXTERNAL or (arguments.scalars == "complex" and configuration.type in cases.WEFT)]
    probes = {configuration.name: commands.case(tiny[configuration.kinds[0]], configuration) for configuration in doubtful}
    missing = []
    for case in solve("asking for libraries", list(probes.values()), store, arguments):
        configuration, row = case.configuration, store.rows[case.key]
        if row["outcome"] == "error" and any(words in row["reason"] for words in NOT_THERE):
            missing.append(configuration)
            say(f"left out: {configuration.name}: {row['reason']}")
        elif row["unused_options"]:
            say(f"note: nothing used {', '.join(row['unused_options'])} of '{configuration.name}'; is it spelled right?")
    return [configuration for configuration in configurations if configuration not in missing], missing


def say(text):
    print(f"evaluate: {text}", file=sys.stderr, flush=True)


def report(folder, problems, rows, configurations, order, library, run, pictures=True):
    """Every file of the output."""
    recommendations = recommend.for_problems(problems, rows, order, library)
    rules = recommend.rules(problems, rows, order, library)
    full = table.complete(rows, recommendations)
    table.write_json(folder / "results.json", {**run, "rules": rules, "results": full})
    table.write_json(folder / "recommendations.json", {"recommendations": recommendations, "rules": rules})
    table.write_csv(folder / "results.csv", full)
    summary.write(folder, run, full, recommendations, rules, configurations)
    iterations.write(folder, full, configurations)
    page.write(folder, run, full, recommendations, rules, plots.draw(problems, rows, configurations, folder) if pictures else [])
    return recommendations


def last_lines(rows, recommendations, folder):
    counts = {outcome: sum(row["outcome"] == outcome for row in rows) for outcome in OUTCOMES}
    say(f"{len(rows)} cases: " + ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count))
    width = max((len(entry["problem"]) for entry in recommendations), default=0)
    for entry in recommendations[:40]:
        print(f"{entry['problem']:{width}}  {entry['options'] or 'nothing solved it'}" + (f"   # as fast: {', '.join(entry['ties'])}" if entry["ties"] else ""))
    if len(recommendations) > 40:
        print(f"... and {len(recommendations) - 40} more in recommendations.json")
    print(f"The page: {folder / 'index.html'}")


def nothing_found(arguments, problems, store, missing):
    """Why there is no result to report, and what to do."""
    if arguments.report:
        return InputError(f"{arguments.output} holds {len(store.rows)} results, and none of this: the library, the processor, OMP_NUM_THREADS ({os.environ.get('OMP_NUM_THREADS', 'unset')} now), "
                          "--backend, --time-limit, --memory-limit, --rtol, --max-it, --repeat and --quick must be those they were made with. Nothing was written; without --report the cases are solved")
    if arguments.max_rows and problems and all(problem.facts.get("rows", 0) > arguments.max_rows for problem in problems):
        return InputError(f"nothing to solve: each problem has more rows than --max-rows {arguments.max_rows}. Nothing was written")
    lacking = f": this PETSc lacks {', '.join(configuration.name for configuration in missing)}" if missing else ""
    return InputError(f"nothing to solve: no configuration fits a problem{lacking}. Nothing was written")


def evaluate(arguments):
    with tempfile.TemporaryDirectory(prefix="weft-evaluate-") as scratch:
        problems, configurations, order = plan(arguments, arguments.output / "unpacked")
        if arguments.check_input:
            return
        arguments.output.mkdir(parents=True, exist_ok=True)
        commands = cases.Commands(arguments, machine.fingerprint(arguments.build, arguments.backend))
        store = Store(arguments.output / "results.jsonl", keep=arguments.resume is not False)
        if (arguments.resume or arguments.report) and not store.rows:
            raise InputError(f"{arguments.output} holds no results to go on from")
        started = time.monotonic()
        try:
            usable, unread = describe(problems, commands, store, arguments)
            configurations, missing = offered(configurations, commands, store, arguments, pathlib.Path(scratch))
            todo = [commands.case(problem, configuration) for problem in usable for configuration in configurations if configuration.fits(problem)]
            todo = solve("solving", todo, store, arguments)
        finally:
            store.close()
    rows = unread + [{**store.rows[case.key], "problem": case.problem.name, "configuration": case.configuration.name, "type": case.configuration.type} for case in todo]
    if not rows:  # what was written before stays
        raise nothing_found(arguments, problems, store, missing)
    facts = machine.facts(arguments, arguments.command)
    facts["PETSc"] = next((row["petsc"] for row in store.rows.values() if row.get("petsc")), "unknown") + (", complex scalars" if arguments.scalars == "complex" else "")
    facts["Not in this PETSc"] = ", ".join(configuration.name for configuration in missing) or "nothing that was asked for"
    facts["Limits"] = f"{duration(arguments.time_limit)} and {arguments.memory_limit / 2**20:.0f} MiB a case, {arguments.max_it} iterations, {arguments.parallel} at once"
    facts["Times"] = f"the least of up to {arguments.repeat + 1}; where vectors live: {arguments.backend}"
    facts["When"] = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    named = [problem for problem in problems if problem in usable or any(row["problem"] == problem.name for row in unread)]
    lead = page.lead_of(len(named), len(todo), sum(row["wall_seconds"] for row in rows), facts.get("Device") or machine.processor())
    run = {"lead": lead, "rtol": arguments.rtol, "backend": arguments.backend, "facts": facts, "seconds": round(time.monotonic() - started, 1)}
    recommendations = report(arguments.output, named, rows, configurations, order, arguments.build / "lib" / "libweft.so", run, not arguments.no_pictures)
    last_lines(rows, recommendations, arguments.output)


def main(words=None):
    arguments = parse(words)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGINT may be ignored, as behind nohup; this one is not
    try:
        evaluate(arguments)
        if arguments.check_page and not arguments.check_input:
            from . import check_page
            return check_page.main(arguments.output)
    except InputError as error:
        say(str(error))
        return 2
    except Failure as failure:
        say(str(failure))
        return 1
    except KeyboardInterrupt:
        say(f"stopped. What is done is kept in {arguments.output}: the same command goes on from there")
        return 130
    except OSError as error:
        say(f"{error}. What is done is kept in {arguments.output}: the same command goes on from there")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
