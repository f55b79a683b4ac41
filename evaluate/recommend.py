"""Which options for this matrix: the fastest that solved it; and for each kind of problem what does best over all of its kind."""

import re
import shlex

from .cases import WEFT

TIE = 1.10  # times within ten per cent are the same, and the simpler options win
GRID = re.compile(r"-grid \S+ (-grid-components \S+ )?")  # of one matrix, as grids.py writes it
SIZES = ((1000, "fewer than 1,000 rows"), (10_000, "1,000 to 10,000 rows"), (100_000, "10,000 to 100,000 rows"), (float("inf"), "100,000 rows and more"))


def order_of(configurations):
    """Simple comes first in the list of configurations."""
    return {configuration.name: place for place, configuration in enumerate(configurations)}


def best_of(seconds, order):
    """The configurations of {configuration: seconds} that no measurement tells apart: the one to take, the simplest, comes first."""
    least = min(seconds.values())
    return sorted((name for name in seconds if seconds[name] <= TIE * least), key=lambda name: order.get(name, len(order)))


def paste(row, library):
    """The options as they are typed into a shell, with the library that solved."""
    words = row["options"].split()
    ours = any(word in WEFT for word in words)
    return (f"-dll_append {shlex.quote(str(library))} " if ours else "") + row["options"]


def for_problems(problems, rows, order, library, baseline="ilu(0)"):
    """A recommendation for each problem."""
    found = []
    for problem in problems:
        mine = [row for row in rows if row["problem"] == problem.name]
        solved = {row["configuration"]: row for row in mine if row["outcome"] == "solved"}
        entry = {"problem": problem.name, "kind": problem.kind, "tried": len(mine), "solved": len(solved), **summary_of(problem)}
        if solved:
            seconds = {name: row["total_seconds"] for name, row in solved.items()}
            name, *ties = best_of(seconds, order)
            row = solved[name]
            others = sorted((other for other in seconds if other != name), key=seconds.get)
            base = seconds.get(baseline)
            entry |= {"configuration": name, "type": row["type"], "options": paste(row, library), "seconds": row["total_seconds"], "iterations": row["iterations"],
                      "fastest": min(seconds, key=seconds.get), "ties": ties, "next": others[0] if others else None, "next_seconds": seconds[others[0]] if others else None,
                      "baseline_ratio": base / row["total_seconds"] if base else None}
        else:
            nearest = min((row for row in mine if row["residual"] is not None), key=lambda row: row["residual"], default=None)
            entry |= {"configuration": None, "type": None, "options": None, "seconds": None, "ties": [],
                      "nearest": nearest and f"{nearest['configuration']}: residual {nearest['residual']:.1e}, {nearest['reason']}"}
        found.append(entry)
    return found


def summary_of(problem):
    return {"rows": problem.facts.get("rows"), "nonzeros": problem.facts.get("nonzeros"), "structure": structure_of(problem)}


def structure_of(problem):
    facts = problem.facts
    if "symmetric" not in facts:
        return "not read"
    if problem.hermitian:
        kind = "symmetric" if problem.symmetric else "Hermitian"
        text = {"positive": f"{kind} positive definite", "negative": f"{kind} negative definite", "semi": f"{kind} semidefinite",
                "unknown": f"{kind}, perhaps definite"}.get(facts.get("definite"), f"{kind} indefinite")
    elif problem.symmetric:
        text = "complex symmetric"
    else:
        text = "unsymmetric"
    return text + (", zeros on the diagonal" if facts.get("zero_diagonals") else "")


def size_of(rows):
    return next(text for most, text in SIZES if rows < most)


def groups_of(problems):
    """Problems that a rule could speak of: {words: problems}."""
    groups = {}
    for problem in problems:
        if "rows" not in problem.facts:
            continue
        if problem.kind == "grid":
            key = f"grid: {problem.family.split()[0]}"
        else:
            structure = structure_of(problem).replace("positive ", "").replace("negative ", "")
            key = f"matrix: {structure}, {size_of(problem.facts['rows'])}"
        groups.setdefault(key, []).append(problem)
    return dict(sorted(groups.items()))


def rules(problems, rows, order, library):
    """For each group the configuration with the best speed over the group, where the speed on a problem is the least time over its own, 0 where it did
    not solve; and the one that solved most of them. Ties go to the simpler."""
    found = []
    for words, members in groups_of(problems).items():
        names = {problem.name for problem in members}
        times = {}
        for row in rows:
            if row["problem"] in names and row["outcome"] == "solved":
                times.setdefault(row["problem"], {})[row["configuration"]] = max(row["total_seconds"], 1e-9)
        if not times:
            found.append({"group": words, "problems": len(members), "solvable": 0, "configuration": None, "ties": []})
            continue
        speed, solved = {}, {}
        for seconds in times.values():
            least = min(seconds.values())
            for name, value in seconds.items():
                speed[name] = speed.get(name, 0) + least / value / len(times)
                solved[name] = solved.get(name, 0) + 1
        best, *ties = best_of({name: 1 / value for name, value in speed.items()}, order)
        most = max(solved.values())
        sure = best_of({name: 1 / speed[name] for name in solved if solved[name] == most}, order)[0]
        options = sorted({GRID.sub("", paste(row, library)) for row in rows if row["configuration"] == best and row["problem"] in names}, key=len)
        found.append({"group": words, "problems": len(members), "solvable": len(times), "configuration": best, "options": options[0],
                      "speed": speed[best], "solves": solved[best], "ties": ties, "surest": sure, "surest_solves": most, "surest_speed": speed[sure]})
    return found
