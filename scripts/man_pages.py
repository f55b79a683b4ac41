#!/usr/bin/env python3
"""Manual pages (section 3) of the types and functions of Weft, from the comments above them, which are written as PETSc's are.

PETSc's own tools for them, sowing, write pages of PETSc; this reads the same comments and writes troff.
"""

import argparse
import re
import sys
from pathlib import Path

COMMENT = re.compile(r"^/\*(@C?|MC)\n(.*?)\n(?:@|M)\*/\n(.*?)$", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"(Input Parameters?|Output Parameters?|Options Database Keys?|Notes?|Level|Example|Fortran Notes?):\s*(.*)")
ITEM = re.compile(r"[+.-] (.+?)(?:\s+- (.*))?$")


def troff(text):
    """Text as troff reads it: PETSc's `names` in bold, every hyphen one that can be copied into a shell, lists of choices that may be broken."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("|", "|\\:")
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fP", text)
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def blocks(comment):
    """The paragraphs of a comment, their lines without the indentation."""
    return [[line.strip() for line in block.splitlines()] for block in re.split(r"\n\s*\n", comment.strip("\n"))]


def items(lines):
    """(term, description) of a list whose lines begin with + . or -; what begins with none continues the line before."""
    joined = []
    for line in lines:
        if re.match(r"[+.-] ", line):
            joined.append(line)
        elif joined:
            joined[-1] += " " + line
        else:
            raise ValueError(f"a list begins with '{line}', not with '+ ', '. ' or '- '")
    return [ITEM.match(line).groups() for line in joined]


def page(kind, comment, declaration, header, version):
    """(name, troff) of one comment; ValueError where it is not written as such comments are."""
    paragraphs = blocks(comment)
    title = re.fullmatch(r'(\w+)(?: = "\w+")? - (.+)', " ".join(paragraphs[0]))
    if not title:
        raise ValueError(f"a manual page begins with 'NAME - what it is', not with '{paragraphs[0][0]}'")
    name, summary = title.groups()
    out = [f'.TH {name} 3 "" "Weft {version}" "Weft"', ".SH NAME", f"{name} \\- {troff(summary)}", ".SH SYNOPSIS", ".nf", f"#include <{header}>"]
    if kind != "MC":
        if name not in declaration:
            raise ValueError(f"the page of {name} stands above '{declaration}'")
        out += ["", troff(declaration)]
    out += [".fi", ".SH DESCRIPTION", troff(summary[0].upper() + summary[1:]) + "."]
    for lines in paragraphs[1:]:
        if lines[0].startswith(".seealso:"):
            names = re.findall(r"`(\w+)(?:\(\))?`", " ".join(lines))
            out += [".SH SEE ALSO", ",\n".join(f".BR {other} (3)" for other in names)]
            continue
        heading = HEADING.fullmatch(lines[0])
        if heading:
            out.append(f".SH {heading[1].upper()}")
            if heading[2]:
                out.append(troff(heading[2]))
            lines = lines[1:]
        else:
            out.append(".PP")
        if lines and re.match(r"[+.-] ", lines[0]):
            for term, description in items(lines):
                out += [".TP", f"\\fB{troff(term)}\\fP", troff(description or "")]
        elif lines:
            out.append(troff("\n".join(lines)))
    return name, "\n".join(out) + "\n"


def header_of(source):
    """The public header of a source file, as programs include it: its own, that of its folder's type, or the library's."""
    folder = source.parent.name
    if source.with_suffix(".h.in").exists():
        return f"{source.stem}.h"
    if source.name == "ksp_adi.cxx":
        return "ksp/adi/adi.h"
    return f"pc/{folder}/{folder}.h" if (source.parent / f"{folder}.h").exists() else "weft.h"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True, help="of Weft, for the foot of the pages")
    parser.add_argument("--output", type=Path, required=True, help="folder, made anew")
    parser.add_argument("sources", nargs="+", type=Path)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for old in arguments.output.glob("*.3"):
        old.unlink()
    for source in arguments.sources:
        for kind, comment, declaration in COMMENT.findall(source.read_text()):
            try:
                name, text = page(kind, comment, declaration, header_of(source), arguments.version)
            except ValueError as wrong:
                sys.exit(f"{source}: {wrong}")
            (arguments.output / f"{name}.3").write_text(text)


if __name__ == "__main__":
    main()
