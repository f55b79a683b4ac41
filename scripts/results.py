#!/usr/bin/env python3
"""Recorded results, bench/results/*.json, as tables; and the tables of docs/performance.md.

    results.py bench/results/main-h200.json                    its tables, as text that is markdown too
    results.py --heading "fp64, 1 system" --row "2^20" FILE    those tables, those rows alone (parts of their names)
    results.py --write                                         writes the tables of docs/performance.md from bench/results/performance.json
    results.py --check                                         whether they are those of that file

A file of raw results has a title, notes and tables: heading, notes, columns, and rows, of which the first cell is the row's key.

A row of performance.json names its problem and has two solvers, `weft` and `best`: a name, `setup` and `solve`, or `solve` alone, or `together`, as printed, in milliseconds
(seconds where `unit` says s). `page` is a name and where it was measured: a page of the manual (with an anchor: that section), or a file of raw results. `rows` are the keys of its
rows there, their first cells; `heading` the beginning of a raw table's heading; `text` the beginning of a paragraph, where no table has it. scripts/docs_check.py looks each figure
up in these rows. Ratios are computed here.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from bench_text import table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "performance.md"
ROWS = ROOT / "bench" / "results" / "performance.json"
FIGURE = re.compile(r"(?<![A-Za-z\d.])\d+(?:\.\d+)?(?:e[-+]?\d+)?")
MOST_ROWS = 10  # of a table of docs/performance.md
COLUMNS = ["problem", "Weft", "best alternative", "ratio", "of solves", "command", "measured in"]


def slug(heading):
    """The anchor that git hosts and MyST give a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def cells_of(line):
    """The cells of a line of a table, or nothing."""
    return [part.strip() for part in line.strip().strip("|").split("|")] if line.startswith("|") else None


def cell(value):
    return " / ".join(map(str, value)) if isinstance(value, list) else str(value)


def text_of(results, heading="", row=""):
    """The lines of a file's tables."""
    out = [f"# {results['title']}", ""]
    for note in results["notes"]:
        out += [note, ""]
    for part in results["tables"]:
        rows = [r for r in part["rows"] if row in cell(r[0])]
        if heading not in part["heading"] or not rows:
            continue
        out += [f"### {part['heading']}", ""] if part["heading"] else []
        for note in part["notes"]:
            out += [note, ""]
        out += table([part["columns"], *([cell(value) for value in r] for r in rows)]) + [""]
    return out


def figures(solver):
    """The figures of a solver as they are printed: set-up and solve, or the one that there is."""
    return [solver[name] for name in ("setup", "solve", "together") if name in solver]


def milliseconds(solver, name):
    return float(solver[name]) * (1000 if solver.get("unit") == "s" else 1) if name in solver else None


def told(solver):
    unit = " s" if solver.get("unit") == "s" else ""
    if "together" in solver:
        return f"{solver['name']}: {solver['together']}{unit} together"
    return f"{solver['name']}: " + " + ".join(figure + unit for figure in figures(solver))


def ratio(ours, others):
    """The alternative's time over ours; bold where Weft is slower."""
    if not ours or not others:
        return "–"
    value = others / ours
    digits = 0 if value >= 20 else 1 if value >= 5 else 2
    return f"{value:.{digits}f}" if value >= 1 else f"**{value:.2f}**"


def raw_places(path, row):
    """The rows of a file of raw results that a row of performance.json names, each as one text."""
    tables = [part for part in json.loads(path.read_text())["tables"] if part["heading"].startswith(row.get("heading", ""))]
    return [" | ".join(map(cell, r[1:])) for part in tables for r in part["rows"] if cell(r[0]) in row["rows"]]


def page_places(path, anchor, row):
    """The same of a page of the manual: each cell of those rows, or each part of a sentence of the paragraph that it names."""
    out, level, inside = [], 0, not anchor
    for line in path.read_text().split("\n"):
        heading = re.match(r"(#+) (.*)$", line)
        if heading and anchor and (not inside or len(heading.group(1)) <= level):
            inside, level = slug(heading.group(2)) == anchor, len(heading.group(1))
        cells = cells_of(line) or [""]
        if inside and cells[0] in row.get("rows", []):
            out += cells[1:]
        elif inside and "text" in row and line.startswith(row["text"]):
            out += re.split(r"(?<=\.) ", line)
    return out


def missing(row):
    """The solvers of a row of performance.json whose figures do not stand together where it says."""
    path, _, anchor = row["page"][1].partition("#")
    path = PAGE.parent / path
    places = raw_places(path, row) if path.suffix == ".json" else page_places(path, anchor, row)
    known = [{float(figure) for figure in FIGURE.findall(place)} for place in places]
    return [told(solver) for solver in (row["weft"], row["best"]) if not any(set(map(float, figures(solver))) <= place for place in known)]


def whole(solver):
    times = [milliseconds(solver, name) for name in ("setup", "solve", "together")]
    return sum(time for time in times if time) if "together" in solver or "setup" in solver else None


def performance_table(rows):
    """The lines of one type's table."""
    out = ["| " + " | ".join(COLUMNS) + " |", "|---|--:|--:|--:|--:|---|---|"]
    for row in rows:
        ours, best = row["weft"], row["best"]
        page = f"[{row['page'][0]}]({row['page'][1]})"
        cells = [row["problem"], told(ours), told(best), ratio(whole(ours), whole(best)), ratio(milliseconds(ours, "solve"), milliseconds(best, "solve")), row["command"], page]
        out.append("| " + " | ".join(cells) + " |")
    return out


def written(page, data):
    """The page with its tables, each between two comments that name its type, made again."""
    lines, out, inside = page.split("\n"), [], None
    for line in lines:
        if line.startswith("<!-- table: "):
            inside = line[len("<!-- table: ") : -len(" -->")]
            out += [line, *performance_table(data[inside]), "<!-- end of table -->"]
        elif line == "<!-- end of table -->":
            inside = None
        elif inside is None:
            out.append(line)
    return "\n".join(out)


def errors():
    """What is wrong with performance.json and docs/performance.md, as sentences."""
    page, data = PAGE.read_text(), json.loads(ROWS.read_text())
    told_of = [f"{ROWS.name}: '{solver}' of '{row['problem']}' does not stand on {row['page'][1]} in one place of the row that is named"
               for rows in data.values() for row in rows for solver in missing(row)]
    told_of += [f"{ROWS.name}: '{row['problem']}': the times of {row['weft']['name']} and {row['best']['name']} cannot be compared"
                for rows in data.values() for row in rows if set(row["weft"]) - {"unit"} != set(row["best"]) - {"unit"}]
    told_of += [f"{ROWS.name}: the table {name} has more than {MOST_ROWS} rows" for name, rows in data.items() if len(rows) > MOST_ROWS]
    if written(page, data) != page:
        told_of.append(f"the tables of {PAGE.name} are not those of {ROWS.name}: scripts/results.py --write makes them")
    return told_of


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--heading", default="", help="tables whose heading has this in it (all)")
    parser.add_argument("--row", default="", help="rows whose first cell has this in it (all)")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/performance.md")
    parser.add_argument("--check", action="store_true", help="compare them instead")
    parser.add_argument("files", nargs="*", type=Path, help="files of raw results")
    arguments = parser.parse_args()
    if arguments.write:
        PAGE.write_text(written(PAGE.read_text(), json.loads(ROWS.read_text())))
    if arguments.check:
        sys.exit("\n".join(errors()) or 0)
    if not arguments.write and not arguments.files:
        parser.error("no file of results: name one of bench/results/*.json, or give --write or --check")
    for path in arguments.files:
        results = json.loads(path.read_text())
        if "tables" not in results:
            parser.error(f"{path} holds no tables of raw results")
        print("\n".join(text_of(results, arguments.heading, arguments.row)))


if __name__ == "__main__":
    main()
