#!/usr/bin/env python3
"""A gallery of known programs, untouched: tutorials of PETSc, SLEPc and deal.II and demos of dolfinx, with their own solver, with the best that PETSc has
and with Weft, by options only.

    scripts/gallery.py --only cavity                       one program: a row of a table
    scripts/gallery.py --install                           installs what the programs need from Debian 12's packages, as root, then runs them all
    scripts/gallery.py --json bench/results/gallery.json --draw docs/gallery    keeps what was measured, and draws a picture for each program
    scripts/gallery.py --list                              the programs, where their sources come from, and their packages

Each run is a process of its own, with one thread and a limit of time. Of several option sets the fastest that ends with the right answer counts, for PETSc
and for Weft alike. Times are from PETSc's own log, the least of some runs: set-up and solve of all linear systems, or all of EPSSolve. For nonlinear and time-dependent
programs the whole of SNESSolve or TSStep is kept as well. Iterations are those of all linear solves together. An answer is right if it differs from that of the
program's own solver (or, where that one fails, of the first of PETSc's that does not) by less than the program's tolerance.
The script needs python3-numpy, and python3-matplotlib for pictures.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy

import one_machine
from bench_text import table
from gallery_programs import PACKAGES, PROGRAMS

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))
from evaluate.outcome import event_seconds  # noqa: E402

KINDS = {"default": "its own solver", "petsc": "the best of PETSc", "weft": "with Weft"}
LINEAR = {"KSPSolve", "KSPSetUp", "PCSetUp", "PCSetUpOnBlocks"}  # frames of PETSc's log that are linear systems


def stop(sentence):
    sys.exit(f"gallery: {sentence}")


def installed(package):
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Status}", package], capture_output=True, text=True)
    return found.returncode == 0 and "ok installed" in found.stdout


def need_packages(programs, install):
    """Packages that are missing are installed, or named. A program that the build has needs none."""
    names = dict.fromkeys(name for program in programs for name in PACKAGES[program["build"]].split() if not program["built"])
    missing = [name for name in names if not installed(name)]
    if not missing:
        return
    command = ["apt-get", "install", "-y", "--no-install-recommends", *missing]
    if not install:
        stop(f"packages are missing, and --install installs them as root does: {' '.join(command)}")
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    if process.returncode:
        stop(f"'{' '.join(command)}' ended with {process.returncode}:\n{process.stdout[-2000:]}")


def make(program, folder):
    """The command that starts a program, which is compiled where its build has none."""
    if program["built"]:
        return [str(program["built"])]
    if program["build"] == "python":
        return [sys.executable, program["source"]]
    source, place = Path(program["source"]), folder / "programs" / program["name"]
    if not source.exists():
        stop(f"there is no {source}")
    if program["build"] == "deal.II":
        shutil.copytree(source.parent, place, dirs_exist_ok=True)
        commands = [["cmake", "-DCMAKE_BUILD_TYPE=Release", "."], ["make"]]
        binary = place / source.stem
    else:
        place.mkdir(parents=True, exist_ok=True)
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", *({"slepc": ["SLEPc"]}.get(program["build"], [])), "PETSc"], capture_output=True, text=True, check=True)
        binary = place / source.stem
        sources = [str(source), *(str(source.with_name(name)) for name in program.get("with", "").split())]
        commands = [["mpicc", "-O2", "-o", str(binary), *sources, *flags.stdout.split(), "-lm"]]
    for command in commands if not binary.exists() else []:
        process = subprocess.run(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if process.returncode:
            stop(f"'{' '.join(command)}' ended with {process.returncode}:\n{process.stdout[-2000:]}")
    return [str(binary)]


def times(log, program):
    """Seconds in linear systems, and in the whole solver, from PETSc's log. One of nested frames has lines of frames, from the outermost, and the microseconds
    in the innermost alone. A flat one has an event a line with all of its seconds; so it is for deal.II, where GAMG's products stop the nested one of PETSc 3.18."""
    text = log.read_text(errors="replace")
    if program["build"] == "deal.II":
        linear = sum(event_seconds(text).values())
        return linear, linear
    linear = solver = 0
    for line in text.splitlines():
        path, microseconds = line.rsplit(None, 1)
        if re.search(program.get("not_timed", "$^"), path):
            continue
        frames = {frame.strip() for frame in path.split(";")}
        linear += int(microseconds) * bool(frames & program.get("timed", LINEAR))
        solver += int(microseconds) * (program.get("solver") in frames)
    return linear / 1e6, (solver or linear) / 1e6


def answer_of(program, folder, output):
    """What two runs have to agree on: a vector, or numbers that the program prints."""
    if program["answer"].startswith("-"):
        file = folder / "answer"
        words = file.read_bytes() if file.exists() else b""
        return numpy.frombuffer(words[8 : 8 + 8 * int.from_bytes(words[4:8], "big")], ">f8").astype(float)  # after the kind and the length
    return numpy.array([float(value) for value in re.findall(program["answer"], output, re.M)[: program.get("first")]])


def once(gallery, program, kind, options, keep=None):
    """One run: how it ended, iterations, seconds, its answer. The kind "weft" loads the library."""
    if kind == "weft":
        options += f" -dll_append {gallery.library}"
    watch = [f"-{program.get('prefix', '')}ksp_converged_reason", "-snes_converged_reason", "-log_view", ":log" if program["build"] == "deal.II" else ":log:ascii_flamegraph"]
    if program["answer"].startswith("-"):
        watch += [program["answer"], "binary:answer"]
    words = f"{program['size']} {options}".split()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = one_machine.environment(OMP_NUM_THREADS="1", PETSC_OPTIONS="")
        command = list(program["command"])
        if program["build"] == "python":
            environment["PETSC_OPTIONS"] = " ".join(words + watch)
        else:
            command += words + watch
        start = time.time()
        try:
            process = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=gallery.limit)
        except subprocess.TimeoutExpired:
            return {"ended": f"not in {gallery.limit:g} s"}
        run = {"wall": time.time() - start}
        output = process.stdout.decode(errors="replace")
        if gallery.verbose:
            print(output, file=sys.stderr)
        solves = [int(count) for count in re.findall(r"Linear +(?:\w+ )?solve converged due to \w+ iterations (\d+)", output)][: program.get("solves")]
        failed = re.search(r"did not converge due to (\w+)", output) if len(solves) != program.get("solves") else None
        if process.returncode and not failed:
            errors = [line for line in re.findall(r"PETSC ERROR: (.*)", output) if not line.startswith("---")]
            return {**run, "ended": f"stopped: {errors[0] if errors else 'it says nothing'}"}
        if failed or not solves:
            return {**run, "ended": failed[1] if failed else "no solve"}
        run["linear"], run["solver"] = times(folder / "log", program)
        run.update(ended="converged", solves=len(solves), iterations=sum(solves), answer=answer_of(program, folder, output))
        if keep and "field" in program:
            run["field"] = program["field"](folder, run["answer"])
        return run


def differs(answer, right):
    """By how much an answer is another, as a part of the right one."""
    if answer.shape != right.shape or not numpy.isfinite(answer).all():
        return float("inf")
    return float(numpy.linalg.norm(answer - right) / numpy.linalg.norm(right))


def candidates(runs, kind):
    """The runs that a kind is chosen from: PETSc's best may be the program's own solver."""
    return [run for run in runs if run["kind"] in {"petsc": ("petsc", "default")}.get(kind, (kind,))]


def fastest(runs):
    good = {kind: [run for run in candidates(runs, kind) if run["ended"] == "converged"] for kind in KINDS}
    return {kind: min(ended, key=lambda run: run["linear"])["name"] for kind, ended in good.items() if ended}


def measure(gallery, program):
    """All option sets of a program: of each kind the fastest that converges to the right answer, and what became of the others."""
    runs = []
    for kind in KINDS:
        for name, options in program[kind].items():
            run = dict(kind=kind, name=name, options=options, **once(gallery, program, kind, options))
            if gallery.verbose or gallery.progress:
                print(f"{program['name']}: {name}: {run['ended']} {run.get('iterations', '')} {run.get('linear', '')}", file=sys.stderr, flush=True)
            runs.append(run)
    for run in runs:
        if "answer" in run and "compared" in program:
            run["answer"] = program["compared"](run["answer"])
    right = next((run["answer"] for run in runs if run["ended"] == "converged" and run["answer"].size), None)
    for run in runs:
        if run["ended"] == "converged":
            run["difference"] = differs(run["answer"], right) if right is not None else float("inf")
            if not run["difference"] <= program.get("tolerance", 1e-4):
                run["ended"] = "another answer"
    field = None
    for kind in KINDS:
        good = [run for run in runs if run["kind"] == kind and run["ended"] == "converged"]
        for run in sorted(good, key=lambda run: run["linear"])[:2]:  # the two fastest are run again
            for _ in range(gallery.repeat - 1):
                again = once(gallery, program, kind, run["options"], keep=field is None)
                if again["ended"] == "converged":
                    field = again.pop("field", field)
                    run.update({key: min(run[key], again[key]) for key in ("linear", "solver", "wall")})
    for run in runs:
        run.pop("answer", None)
    return {"title": program["title"], "problem": program["size"], "best": fastest(runs), "runs": runs}, field


def of_kind(result, kind):
    """The run that stands for a kind: the fastest, or where none converged, the first."""
    runs = candidates(result["runs"], kind)
    return next((run for run in runs if run["name"] == result["best"].get(kind)), runs[0])


def shown(run):
    if run["ended"] != "converged":
        return f"{run['name']}: {run['ended']}"
    return f"{run['name']}: {run['iterations']} · {run['linear']:.3g} s"


def rows(results):
    return [["program", *KINDS.values()], *([name, *(shown(of_kind(result, kind)) for kind in KINDS)] for name, result in results.items())]


def draw(path, result, field, label):
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("no picture: this Python has no matplotlib (Debian: python3-matplotlib)", file=sys.stderr)
        return

    figure, axes = pyplot.subplots(1, 2 if field is not None else 1, figsize=(9 if field is not None else 6, 2.9), squeeze=False)
    if field is not None:
        axis = axes[0][0]
        if isinstance(field, tuple):
            x, y, cells, values = field
            triangles = cells if cells.shape[1] == 3 else numpy.vstack([cells[:, [0, 1, 2]], cells[:, [0, 2, 3]]])
            image = axis.tripcolor(x, y, triangles, values, cmap="viridis", shading="gouraud", rasterized=True)
        else:
            image = axis.imshow(field, origin="lower", cmap="viridis")
        axis.set(aspect="equal", xticks=[], yticks=[], title=label)
        figure.colorbar(image, ax=axis, shrink=0.8, pad=0.02)
    axis = axes[0][-1]
    runs = [of_kind(result, kind) for kind in KINDS]
    seconds = [run.get("linear", 0) if run["ended"] == "converged" else 0 for run in runs]
    axis.barh(range(3), seconds, color=["#9e9e9e", "#4c78a8", "#f58518"])
    for place, (run, length) in enumerate(zip(runs, seconds)):
        text = f"{run['iterations']} iterations, {run['linear']:.3g} s" if length else run["ended"]
        inside = length > 0.55 * max(seconds, default=0)
        axis.text(length, place, f" {text} ", va="center", ha="right" if inside else "left", color="white" if inside else "black", fontsize=9)
    axis.set_yticks(range(3), [f"{kind}:\n{run['name']}" for kind, run in zip(KINDS.values(), runs)])
    axis.invert_yaxis()
    axis.set(xlabel="seconds in linear systems", title=result["title"])
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    pyplot.close(figure)


def kept(results):
    """What is written to a file: tables as scripts/results.py prints them, and all that was measured."""
    tables = [{"heading": "", "notes": [], "columns": rows({})[0], "rows": rows(results)[1:]}]
    for name, result in results.items():
        cells = []
        for run in result["runs"]:
            figures = [f"{run[key]:.3g}" if key in run else "–" for key in ("linear", "solver", "difference")]
            cells.append([run["name"], run["options"], run["ended"], str(run.get("iterations", "–")), *figures])
        columns = ["solver", "options", "how it ended", "iterations", "linear systems, s", "whole solver, s", "answer differs by"]
        tables.append({"heading": f"{name}: {result['title']}", "notes": [result["problem"]] if result["problem"] else [], "columns": columns, "rows": cells})
    return {
        "title": "The gallery: known programs with their own solver, the best of PETSc, and Weft",
        "notes": ["Iterations of all linear solves together · seconds in linear systems, set-up and solve, the least of some runs (of EPSSolve for eigenvalues)."],
        "tables": tables,
        "programs": results,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "debian", help="build folder: lib/libweft.so, and PETSc's tutorials in bin/, where it has them")
    parser.add_argument("--only", action="append", metavar="NAME", help="this program alone; may be given several times")
    parser.add_argument("--out", type=Path, help="where programs are compiled; BUILD/gallery without it")
    parser.add_argument("--json", type=Path, help="a file for what was measured; programs that are not run again keep their place in it")
    parser.add_argument("--draw", type=Path, metavar="FOLDER", help="a folder for a picture of each program")
    parser.add_argument("--install", action="store_true", help="install missing packages with apt-get")
    parser.add_argument("--list", action="store_true", help="name the programs, their sources and packages, and run nothing")
    parser.add_argument("--tiny", action="store_true", help="tiny problems, for tests; programs that have none are left out")
    parser.add_argument("--repeat", type=int, default=3, help="runs of the two fastest option sets of a kind")
    parser.add_argument("--limit", type=float, default=120, help="seconds that one run may take")
    parser.add_argument("--progress", action="store_true", help="say what each run did")
    parser.add_argument("--verbose", action="store_true", help="print what each run prints")
    gallery = parser.parse_args()
    names = gallery.only or list(PROGRAMS)
    for name in names:
        if name not in PROGRAMS:
            stop(f"there is no program '{name}': there are {', '.join(PROGRAMS)}")
    if gallery.list:
        listed = [[name, PROGRAMS[name]["title"], PROGRAMS[name]["source"], PACKAGES[PROGRAMS[name]["build"]]] for name in names]
        print("\n".join(table([["name", "program", "source", "packages"], *listed], left=4)))
        return
    gallery.build = gallery.build.resolve()
    gallery.library = gallery.build / "lib" / "libweft.so"
    if not gallery.library.exists():
        stop(f"there is no {gallery.library}: './weft build' makes it")
    out = (gallery.out or gallery.build / "gallery").resolve()
    programs = []
    for name in names:
        program = {"name": name, **PROGRAMS[name]}
        program["size"] = program.get("tiny") if gallery.tiny else program["problem"]
        binary = gallery.build / "bin" / program.get("binary", "")
        program["built"] = binary if binary.is_file() else None
        if program["size"] is not None:
            programs.append(program)
    need_packages(programs, gallery.install)
    for program in programs:
        program["command"] = make(program, out)
    results = {}
    if gallery.json and gallery.json.exists():
        results = json.loads(gallery.json.read_text())["programs"]
    measured = []
    for program in programs:
        result, field = measure(gallery, program)
        results[program["name"]] = result
        measured.append(program["name"])
        if gallery.draw:
            gallery.draw.mkdir(parents=True, exist_ok=True)
            draw(gallery.draw / f"{program['name']}.png", result, field, program.get("shows", ""))
        if gallery.json:
            gallery.json.write_text(json.dumps(kept({name: results[name] for name in PROGRAMS if name in results}), indent=1, ensure_ascii=False) + "\n")
    print("\n".join(table(rows({name: results[name] for name in measured}))))
    return 0 if all(len(results[name]["best"]) == len(KINDS) for name in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
