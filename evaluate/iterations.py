"""iterations.md: the iterations of each configuration on each problem, and where they are few, every two configurations side by side."""

import itertools

from .cases import READING
from .summary import table
from .table import whole

MOST_PAIRED = 6  # configurations


def by_problem(rows):
    """{problem: {configuration: row}}"""
    found = {}
    for row in rows:
        found.setdefault(row["problem"], {})[row["configuration"]] = row
    return found


def solved(row):
    return row is not None and row["outcome"] == "solved"


def pairs(problems, names):
    """For every two of the configurations: what both solve, on how many of these the first takes fewer iterations, as many, more, and what only one solves."""
    found = []
    for one, other in itertools.combinations(names, 2):
        tried = [(rows[one], rows[other]) for rows in problems.values() if one in rows and other in rows]
        both = [a["iterations"] - b["iterations"] for a, b in tried if solved(a) and solved(b)]
        only = sum(solved(a) and not solved(b) for a, b in tried), sum(solved(b) and not solved(a) for a, b in tried)
        found.append((one, other, len(both), sum(more < 0 for more in both), both.count(0), sum(more > 0 for more in both), *only))
    return found


def cell(rows, name):
    """Iterations, or the outcome of what did not solve; of a matrix that cannot be read that of reading it."""
    row = rows.get(name, rows.get(READING))
    return "" if row is None else row["iterations"] if solved(row) else row["outcome"]


def write(folder, rows, configurations):
    problems = by_problem(rows)
    tried = {row["configuration"] for row in rows}
    names = [configuration.name for configuration in configurations if configuration.name in tried]
    parts = ["Iterations; a word is the outcome of a case that did not solve."]
    if 1 < len(names) <= MOST_PAIRED:
        parts.append(table(["configuration ", "beside ", "both solve", "fewer iterations", "as many", "more", "only it solves", "only the other"], pairs(problems, names)))
    parts.append(table(["problem ", "rows", *names], [(problem, next(iter(of.values()))["rows"] or "", *(cell(of, name) for name in names)) for problem, of in problems.items()]))
    whole(folder / "iterations.md", "\n\n".join(parts) + "\n")
