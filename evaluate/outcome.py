"""From what a solver left to a row: did it solve, and if not, why."""

import json
import math
import re
import signal

from .cases import READING

#: Every outcome there is, and what it means; the page and the documentation say it in these words.
OUTCOMES = {
    "solved": "the true residual is as small as was asked",
    "inaccurate": "the solver calls it converged, the true residual says otherwise",
    "iterations": "not enough iterations",
    "diverged": "the residual grew, or the Krylov method broke down",
    "failed": "the preconditioner could not be made, a zero pivot for example",
    "error": "an error of PETSc or of the program; its message is the reason",
    "crash": "the process ended by a signal",
    "time": "the time limit",
    "memory": "the memory limit",
}
LOOSE = 1.5  # a residual that the Krylov method carries along differs from the true one by rounding
OUT_OF_MEMORY = re.compile(r"out of memory|MemoryError|memory allocation|bad_alloc|needs more memory|cannot allocate|OUTMEMORY", re.IGNORECASE)


NO_PIVOT = re.compile(r"missing diagonal|zero diagonal|zero pivot", re.IGNORECASE)


def row_of(child, case, rtol, backend):
    """The row of a finished case."""
    row = {"key": case.key, "problem": case.problem.name, "configuration": case.configuration.name, "type": case.configuration.type,
           "options": "" if case.configuration.type == READING else case.configuration.full_options(case.problem),
           "outcome": "", "reason": "", "iterations": None, "residual": None, "setup_seconds": None, "solve_seconds": None, "total_seconds": None,
           "first_setup_seconds": None, "first_solve_seconds": None, "memory_bytes": None, "unused_options": [],
           "peak_bytes": child.peak, "wall_seconds": round(child.wall, 4)}
    output = child.output()
    found = {}
    if not child.reason:
        try:
            found = reader_of(case)(child, output)
        except (FileNotFoundError, ValueError, KeyError, IndexError, TypeError, AttributeError):
            found = {}
    row |= {name: value for name, value in numbers(found, case, backend).items() if name in row}
    row["outcome"], row["reason"] = judge(child, output, found, row, rtol)
    row |= {name: found[name] for name in ("petsc", "norms") if name in found}
    if "structure" in found:
        row["facts"] = {**{name: found["matrix"][name] for name in ("rows", "nonzeros", "field")}, **found["structure"]}
    if row["outcome"] not in ("solved", "inaccurate", "iterations"):
        row["setup_seconds"] = row["solve_seconds"] = row["total_seconds"] = None
    return row


def reader_of(case):
    if case.problem.kind == "matrix":
        return read_matrix
    return read_program if case.problem.untouched else read_grid


def read_matrix(child, output):
    """What weft_mm wrote; its one set of options."""
    document = json.loads(child.result.read_text(encoding="utf-8"))
    return {**document["results"][0], "petsc": document["petsc"]} if "results" in document else document


def read_grid(child, output):
    """The line of JSON that diffusion prints."""
    lines = [line for line in output.splitlines() if line.startswith("{")]
    return json.loads(lines[-1])


SOLVED = re.compile(r"Linear solve (?:converged|did not converge) due to (\w+) iterations (\d+)(?:\s+PC failed due to (\w+))?")
EVENT = re.compile(r"^(KSPSolve|PCSetUp) +\d+ +\S+ +(\S+) ", re.MULTILINE)


def event_seconds(log):
    """{event: seconds} of a solve and its set-up in PETSc's flat log (-log_view), over all stages."""
    taken = {}
    for event, value in EVENT.findall(log):
        taken[event] = taken.get(event, 0) + float(value)
    return taken


def read_program(child, _):
    """What PETSc says of a program that knows nothing of this: how the solve ended, its residuals, and from the log how long set-up and solve took. It is
    the first solve of a process and the only one."""
    output = child.output(whole=True)  # the first of many residuals is needed
    reason, iterations, detail = SOLVED.search(output).groups()
    norms = [float(norm) for norm in re.findall(r"^ *\d+ KSP Residual norm (\S+)", output, re.MULTILINE)]
    final = re.search(r"KSP final norm of residual (\S+)", output)
    taken = event_seconds(child.result.read_text(encoding="utf-8", errors="replace"))
    return {"reason": reason, "detail": detail or "", "iterations": int(iterations), "residual": float(final[1]) / norms[0] if final and any(norms[:1]) else None,
            "norms": norms, "setup": taken.get("PCSetUp"), "update": taken.get("PCSetUp"), "solve": taken.get("KSPSolve")}


def numbers(found, case, backend):
    if "structure" in found:
        return {}
    if case.problem.kind == "matrix":
        result = {"iterations": found.get("iterations"), "residual": found.get("residual"), "setup_seconds": found.get("least_setup_seconds"),
                  "solve_seconds": found.get("least_solve_seconds"), "first_setup_seconds": found.get("setup_seconds"),
                  "first_solve_seconds": found.get("solve_seconds"), "memory_bytes": found.get("memory_bytes"), "unused_options": found.get("unused_options", [])}
    else:
        # On a device the first set-up also loads kernels; there that of new values counts.
        result = {"iterations": found.get("iterations"), "residual": found.get("residual"), "setup_seconds": found.get("setup" if backend == "host" else "update"),
                  "solve_seconds": found.get("solve"), "first_setup_seconds": found.get("setup"), "first_solve_seconds": found.get("warm_up")}
        if result["residual"] is not None and result["residual"] < 0:  # diffusion's word for a residual that is no number
            result["residual"] = None
    for name, value in result.items():
        if isinstance(value, float) and not math.isfinite(value):
            result[name] = None
    if result["setup_seconds"] is not None and result["solve_seconds"] is not None:
        result["total_seconds"] = result["setup_seconds"] + result["solve_seconds"]
    return result


def judge(child, output, found, row, rtol):
    """The outcome and its reason."""
    if child.reason == "time":
        return "time", f"stopped after {child.seconds:g} s"
    if child.reason == "memory":
        return "memory", f"stopped at {child.memory / 2**20:.0f} MiB"
    why = found.get("detail") or found.get("reason") or last_words(output)
    if child.code < 0 or child.code > 128:
        number = -child.code if child.code < 0 else child.code - 128
        if OUT_OF_MEMORY.search(output):
            return "memory", last_words(output)
        return "crash", signal.Signals(number).name if number in signal.valid_signals() else f"signal {number}"
    if "structure" in found:
        return "solved", ""
    reason = found.get("reason", "")
    if not found or reason == "ERROR" or not reason:
        if NO_PIVOT.search(why):
            return "failed", why
        return ("memory" if OUT_OF_MEMORY.search(why + output) else "error"), why or f"ended with {child.code} and no result"
    if reason.startswith("CONVERGED"):
        if row["residual"] is None:
            return "inaccurate", f"{reason}, but the residual is not a number"
        if row["residual"] > LOOSE * rtol:
            return "inaccurate", f"{reason}, but the true residual is {row['residual']:.1e}"
        return "solved", reason
    if reason == "DIVERGED_ITS":
        return "iterations", reason
    if reason.startswith("DIVERGED_PC_FAILED"):
        return ("memory" if "OUTMEMORY" in why else "failed"), f"{reason} ({found['detail']})" if found.get("detail") else reason
    return "diverged", reason


def last_words(output):
    """The sentence that says what went wrong: PETSc's message, the program's, or the last line."""
    lines = [line.strip() for line in output.splitlines() if any(letter.isalnum() for letter in line)]  # rules of dashes say nothing
    start = next((index for index, line in enumerate(lines) if "PETSC ERROR:" in line and "Error Message" in line), None)
    if start is not None:
        petsc = [line.split("PETSC ERROR:", 1)[-1].strip() for line in lines[start + 1:]]
        end = next((index for index, line in enumerate(petsc) if line.startswith(("WARNING! There are option", "See https", "Petsc Release", "-----"))), len(petsc))
        return " ".join(petsc[:min(end, 5)])[:300]
    said = [line for line in lines if line.startswith("weft_mm: ")]
    return (said or lines or [""])[-1].removeprefix("weft_mm: ")[:300]
