"""summary.md: what came out, in tables that can be put into a report."""

import statistics

from . import recommend
from .table import whole


def table(head, rows):
    """A markdown table; all columns but those whose head ends in a space are numbers."""
    line = "|" + "|".join("---" if name.endswith(" ") else "--:" for name in head) + "|"
    return "\n".join(["| " + " | ".join(name.strip() for name in head) + " |", line, *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)])


def of_configurations(rows, configurations):
    """For each configuration: how often it was tried, solved, was the fastest or within ten per cent of it, and its median time over the fastest's."""
    found = []
    for configuration in configurations:
        mine = [row for row in rows if row["configuration"] == configuration.name]
        solved = [row["times_fastest"] for row in mine if row["outcome"] == "solved"]
        if mine:
            others = {}
            for row in mine:
                if row["outcome"] != "solved":
                    others[row["outcome"]] = others.get(row["outcome"], 0) + 1
            found.append((configuration.name, len(mine), len(solved), sum(ratio <= recommend.TIE for ratio in solved), f"{statistics.median(solved):.3g}" if solved else "",
                          ", ".join(f"{count} {outcome}" for outcome, count in sorted(others.items()))))
    return sorted(found, key=lambda row: (-row[2] / row[1], row[0]))


def write(folder, run, rows, recommendations, rules, configurations):
    parts = [f"    {run['facts']['Command']}", run["lead"] + " " + "; ".join(f"{name}: {run['facts'][name]}" for name in ("System", "PETSc", "Threads", "Limits", "Times", "When")) + "."]
    for kind, words in (("matrix", "matrices"), ("grid", "model problems")):
        of_kind = [row for row in rows if row["kind"] == kind]
        tried = of_configurations(of_kind, configurations)
        if tried:
            names = {row["problem"] for row in of_kind}
            hard = sum(entry["problem"] in names and not entry["configuration"] for entry in recommendations)
            parts += [f"### {len(names)} {words}" + (f", {hard} of them solved by nothing" if hard else ""),
                      table(["configuration ", "tried", "solved", "fastest or within 10 %", "median x fastest", "else "], tried)]
    parts += ["### By kind of problem",
              table(["kind ", "problems", "solved by any", "best options ", "they solve", "speed", "as fast ", "solves most "],
                    [(rule["group"], rule["problems"], rule["solvable"], *((f"`{rule['options']}`", rule["solves"], f"{rule['speed']:.0%}", ", ".join(rule["ties"]), f"{rule['surest']} ({rule['surest_solves']})")
                                                                          if rule["configuration"] else ("nothing", "", "", "", ""))) for rule in rules])]
    whole(folder / "summary.md", "\n\n".join(parts) + "\n")
