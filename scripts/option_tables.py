#!/usr/bin/env python3
"""The manual's tables of options, made from what the library says of them: -help. Without --write it says which pages differ."""

import argparse
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests"))
PAGES = {  # the page of a type, its options' prefixes, and the options that make PETSc read them
    "adi": ("docs/types/adi.md", ("pc_adi", "ksp_adi"), "-ksp_type adi -pc_type adi"),
    "bcr": ("docs/types/bcr.md", ("pc_bcr",), "-pc_type bcr"),
    "boxmg": ("docs/types/boxmg.md", ("pc_boxmg",), "-pc_type boxmg"),
    "crout": ("docs/types/crout.md", ("pc_crout",), "-pc_type crout"),
    "line": ("docs/types/line.md", ("pc_line",), "-pc_type line"),
}
KERNELS = ("pc_line_kernel", "pc_adi_line_solver")  # their names are a list on a page of their own
# A list of numbers is told without the ones before.
LINE = re.compile(r"^ *-(?P<name>\w+):? <(?:now )?(?P<now>[^:>]*?)(?P<formerly> : [^>]*)?>:? *(?P<text>.*?) \((?P<setter>[\w-]+)\) *$")


def rows(helped, prefixes):
    """(option, choices, default, sentence) of each option, of one prefix after the other, in the library's order."""
    for prefix in prefixes:
        told = set()
        for line in helped.split("\n"):
            found = LINE.match(line)
            if not found or not found["name"].startswith(prefix) or found["name"] in told:
                continue
            told.add(found["name"])
            text, _, choices = found["text"].partition(" (choose one of) ")
            yield found["name"], choices.split(), found["now"].strip() if found["formerly"] else "", text


def table(helped, prefixes):
    lines = ["| option | default | what it sets |", "|---|---|---|"]
    for name, choices, now, text in rows(helped, prefixes):
        default = {"TRUE": "true", "FALSE": "false", "": "none"}.get(now, now.removesuffix("."))
        option = f"-{name}" + (" NAME" if name in KERNELS else f" ({'|'.join(choices)})" if choices else "")
        lines.append("| `" + option.replace("|", "\\|") + f"` | {default} | {text[0].upper()}{text[1:]} |")
    return "\n".join(lines) + "\n"


def renewed(text, kind, helped, prefixes):
    """The page with its table made anew."""
    begin, end = f"<!-- options of {kind}: scripts/option_tables.py -->\n", "<!-- end of the options -->\n"
    before, found, rest = text.partition(begin)
    _, ends, after = rest.partition(end)
    if not found or not ends:
        raise SystemExit(f"{PAGES[kind][0]} has no place for its table: {begin.strip()} ... {end.strip()}")
    return before + begin + "\n" + table(helped, prefixes) + "\n" + end + after


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the pages")
    arguments = parser.parse_args()
    import programs

    differ = []
    for kind, (page, prefixes, options) in PAGES.items():
        path = SOURCE / page
        helped = programs.execute("ex50", f"-da_grid_x 5 -da_grid_y 5 {options} -help", expect=None).output
        text = renewed(path.read_text(), kind, helped, prefixes)
        if text != path.read_text():
            differ.append(page)
            if arguments.write:
                path.write_text(text)
    for page in differ:
        print(f"{page}: its table is not what -help says" + (": written anew" if arguments.write else "; scripts/option_tables.py --write makes it"))
    sys.exit(1 if differ and not arguments.write else 0)


if __name__ == "__main__":
    main()
