"""results.json, results.csv, recommendations.json."""

import csv
import json
import os

COLUMNS = ("problem", "kind", "structure", "rows", "nonzeros", "configuration", "type", "options", "outcome", "reason", "iterations", "residual", "setup_seconds",
           "solve_seconds", "total_seconds", "times_fastest", "first_setup_seconds", "first_solve_seconds", "memory_bytes", "peak_bytes", "wall_seconds")


def whole(path, text):
    """A file is there as a whole or as it was before."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def write_json(path, document):
    whole(path, json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def complete(rows, recommendations):
    """Rows with what is known of their problems, and how their time compares."""
    about = {entry["problem"]: entry for entry in recommendations}
    least = {}
    for row in rows:
        if row["outcome"] == "solved":
            least[row["problem"]] = min(least.get(row["problem"], float("inf")), row["total_seconds"])
    found = []
    for row in rows:
        known = about[row["problem"]]
        ratio = row["total_seconds"] / max(least[row["problem"]], 1e-9) if row["outcome"] == "solved" else None
        found.append({**row, "kind": known["kind"], "structure": known["structure"], "rows": known["rows"], "nonzeros": known["nonzeros"], "times_fastest": ratio})
    return found


def write_csv(path, rows):
    part = path.with_name(path.name + ".part")
    with open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(part, path)
