"""index.html: the results as one page that needs nothing else, no network and no file beside it."""

import html
import json
import pathlib
import re

from .cases import WEFT
from .outcome import OUTCOMES
from .run import duration
from .table import whole

HERE = pathlib.Path(__file__).resolve().parent
CAPTIONS = {
    "profile": "A curve that is higher solves more problems in that time; at τ = 1 it is how often the options are the fastest, at the right how much they solve at all.",
    "size": "Time of set-up and solve together.",
    "anisotropy": "K = diag(1, 1/eps). What stays flat does not feel that one direction couples more strongly.",
}
SHOWN = ("problem", "rows", "nonzeros", "structure", "configuration", "type", "options", "outcome", "reason", "iterations", "residual", "setup_seconds",
         "solve_seconds", "total_seconds", "times_fastest", "memory_bytes")


def in_script(document):
    """JSON that no reader of HTML takes for the end of the script."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def rounded(value):
    return float(f"{value:.5g}") if isinstance(value, float) else value


def tiles_of(rows, recommendations):
    solved = sum(row["outcome"] == "solved" for row in rows)
    by_weft = sum(entry["type"] in WEFT for entry in recommendations)
    tiles = [(len(recommendations), "problems"), (len({row["configuration"] for row in rows}), "configurations"), (len(rows), "cases"),
             (f"{solved / len(rows):.0%}" if rows else "–", "solved"), (sum(not entry["configuration"] for entry in recommendations), "problems nothing solved"),
             (by_weft, "problems where a type of Weft is recommended")]
    return "".join(f'<div class="tile"><b>{number}</b><span>{html.escape(words)}</span></div>' for number, words in tiles)


def write(folder, run, rows, recommendations, rules, pictures):
    facts = "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(str(value))}</dd>" for name, value in run["facts"].items())
    drawn = "".join(f'<figure role="img" aria-label="{html.escape(title)}">{svg}<figcaption>{html.escape(title)}. {html.escape(CAPTIONS[name])}</figcaption></figure>'
                    for name, title, svg in pictures)
    data = {"rows": [{name: rounded(row.get(name)) for name in SHOWN} for row in rows],
            "recommendations": [{name: rounded(value) for name, value in entry.items()} for entry in recommendations],
            "rules": [{name: rounded(value) for name, value in entry.items()} for entry in rules]}
    parts = {
        "STYLE": (HERE / "page.css").read_text(encoding="utf-8"), "SCRIPT": (HERE / "page.js").read_text(encoding="utf-8"),
        "LEAD": html.escape(run["lead"]), "RTOL": f"{run['rtol']:g}", "TILES": tiles_of(rows, recommendations), "DATA": in_script(data), "FACTS": facts,
        "PICTURES": drawn or "<p>None: there is nothing to draw, or matplotlib is not installed.</p>",
        "OUTCOMES": "".join(f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in OUTCOMES.items()),
    }
    template = (HERE / "page.html").read_text(encoding="utf-8")
    whole(folder / "index.html", re.sub("%([A-Z]+)%", lambda match: parts[match.group(1)], template))


def lead_of(problems, cases, seconds, machine):
    return f"{cases} cases on {problems} problems, {duration(seconds)} of solving, on {machine}."
