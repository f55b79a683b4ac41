#!/usr/bin/env python3
"""Checks the manual: README.md, CONTRIBUTING.md, CHANGELOG.md, matrices/README.md and docs/.

    docs_check.py                        links, anchors and images of every page; every shell block is run or says why not, and what it names
                                         (scripts and their options, commands of ./weft, stacks, programs) exists; the figures of the pages
                                         that sum up stand on the pages that they link to, in a row or a paragraph about the same thing; every
                                         page stands in the manual's table of contents; the tables of docs/performance.md are those of
                                         bench/results/performance.json, whose rows say where each figure was measured
    docs_check.py --build build/debian   the same, and runs the blocks with the library of that build
    docs_check.py --html FOLDER          links, anchors and resources of the built pages

Shell blocks are those fenced as sh or console. The blocks of a page run in order, in one shell, in a fresh folder that holds links to the repository's
folders, with WEFT set to the build. Of a console block each line after `$ ` is a command, and the lines below it must appear in its output in that order
(`...` stands for any text, alone for any lines). HTML comments before a block tell more:

    <!-- file: NAME -->         the block is written to NAME
    <!-- needs: TOOL ... -->    it runs where these programs (or Python modules, as python:NAME) are
    <!-- not run: REASON -->    it never does
    <!-- page not run: REASON -->   so for every command of this page, fenced or indented
"""

import argparse
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

import one_machine
import results
from results import FIGURE, cells_of, slug

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "docs" / "sphinx"))
import contents  # noqa: E402
TOP = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "matrices/README.md"]
FENCE = re.compile(r"^ {0,3}(```+|~~~+)\s*(\S*)\s*$")
COMMENT = re.compile(r"^\s*<!-- (file|needs|not run|page not run): (.+?) -->\s*$")
LINK = re.compile(r"(!?)\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
# An indented block that begins like this is a command that nothing would check: it belongs into a fence.
COMMAND = re.compile(r"(\$ |\./|build/|scripts/|matrices/|python3? |pip |mpiexec |mpirun |cmake |make |git |apt-get |export |[A-Z][A-Z_]*=\S|\$[A-Z]|\S+ .*-dll_append )")
SHELLS = ("sh", "console")
# Pages whose tables sum up others: the figures of these columns are those of the page that a row's last cell links to, in a cell whose row and whose
# column are about the same. Tables whose heads have none of them are of another kind; one that has some of them has them all.
SUMS = {"docs/results/README.md": ["measured"], "docs/which.md": ["what it gave", "compared with"]}
COMMON = set("with that this than from they them their where which what when each every other same more most less fewer within beside under over while "
             "into only both also than then time times page pages line lines iterations figure figures milliseconds host of in on at to by as is are be and or "
             "for the its it an no not one two three four per all any so if where us gives gave given take takes took ms".split())
# What a command may name: a script with options, ./weft with a command and options, a build folder, a program of one.
SCRIPT = re.compile(r"(?P<by>\b(?:python3?|bash|sh) )?(?<![\w/.<-])(?:\./)?(?P<path>(?:scripts|matrices|evaluate|tests|bench)/[\w/-]+\.(?:py|sh))\b(?P<rest>[^|;#`&]*)")
FRONT_DOOR = re.compile(r"\./weft (?P<command>[a-z][\w-]*)(?P<rest>[^|;#`&]*)")
BUILD_FOLDER = re.compile(r"(?<![\w/.-])(?:\./)?build/(?P<stack>[\w.-]+)(?P<slash>/bin/(?P<program>\w+))?")
PROGRAM = re.compile(r"(?<![\w/.-])(?:\$WEFT/)?bin/(?P<program>\w+)|(?<![\w/.-])(?P<bare>\w+_(?:bench|tests|probe))(?= )")
OPTION = re.compile(r"(?<!\S)(--[a-z][\w-]*)")
FOLDERS = re.compile(r"debian|debian64|own-\w+|petsc-3\.26|cuda(?:-complex|-single)?-sm_\d+|docs|STACK|BUILD|NAME")


@dataclass
class Block:
    line: int
    kind: str
    text: list
    marks: dict


@dataclass
class Page:
    path: Path
    blocks: list = field(default_factory=list)
    links: list = field(default_factory=list)  # (line, target)
    anchors: set = field(default_factory=set)
    errors: list = field(default_factory=list)
    not_run: str = ""

    @property
    def name(self):
        return str(self.path.relative_to(ROOT))


# The manual is to stay a book that one reads: words with two letters at least, so that a table's figures do not count. Records of the project do not either.
MOST_WORDS, WORD, RECORDS = 70000, re.compile(r"\S*[^\W\d_]{2}\S*"), "docs/project/"


def check_words(pages):
    """The words of the manual and of the project's records."""
    counts = {page.name: len(WORD.findall(page.path.read_text())) for page in pages}
    manual = sum(count for name, count in counts.items() if not name.startswith(RECORDS))
    if manual > MOST_WORDS:
        longest = sorted((name for name in counts if not name.startswith(RECORDS)), key=counts.get)[:-6:-1]
        pages[0].errors.append(f"the manual has {manual} words, more than {MOST_WORDS}; the longest pages: {', '.join(f'{name} ({counts[name]})' for name in longest)}")
    return manual, sum(counts.values()) - manual


def read(path):
    page, fence, marks, indented, seen = Page(path), None, {}, None, {}
    lines = path.read_text().split("\n")
    for number, line in enumerate(lines, 1):
        if fence:
            if re.match(rf"^ {{0,3}}{fence}\s*$", line):
                fence = None
            else:
                page.blocks[-1].text.append(line)
            continue
        found = FENCE.match(line)
        if found:
            fence = found.group(1)
            page.blocks.append(Block(number, found.group(2), [], marks))
            marks, indented = {}, None
            continue
        found = COMMENT.match(line)
        if found:
            if found.group(1) == "page not run":
                page.not_run = found.group(2)
            else:
                marks[found.group(1)] = found.group(2)
            continue
        if line.startswith("    ") and line.strip():
            if indented is None and not (number > 1 and lines[number - 2].strip()):
                indented = Block(number, "indented", [], marks)
                page.blocks.append(indented)
            if indented:
                indented.text.append(line[4:])
            continue
        if line.strip():
            if marks:
                page.errors.append(f"{page.name}:{number}: a comment about a block stands before something else")
            indented, marks = None, {}
        found = re.match(r"^(#{1,6}) (.*)$", line)
        if found:
            anchor = slug(found.group(2))
            seen[anchor] = seen.get(anchor, -1) + 1
            page.anchors.add(anchor + (f"-{seen[anchor]}" if seen[anchor] else ""))
        for found in LINK.finditer(re.sub(r"`[^`]*`", lambda code: "x" * len(code.group(0)), line) if "](`" not in line else line):
            page.links.append((number, found.group(2)))
    return page


def check_links(pages):
    """Every link into the repository leads somewhere. Returns how many there are, and how many lead to other hosts."""
    by_path = {page.path: page for page in pages}
    inner = outer = 0
    for page in pages:
        for line, target in page.links:
            if re.match(r"[a-z]+:", target):
                outer += 1
                continue
            inner += 1
            path, _, anchor = target.partition("#")
            there = (page.path.parent / urllib.parse.unquote(path)).resolve() if path else page.path
            if not there.exists():
                page.errors.append(f"{page.name}:{line}: the link {target} leads nowhere")
            elif anchor and there in by_path and anchor not in by_path[there].anchors:
                page.errors.append(f"{page.name}:{line}: {path or page.name} has no heading #{anchor}")
    return inner, outer


def table_rows(page):
    """(line, column names, cells) of each row of the tables of a page."""
    names = None
    for number, line in enumerate(page.path.read_text().split("\n"), 1):
        cells = cells_of(line)
        if not cells:
            names = None
        elif names is None:
            names = cells
        elif set(line) - set("|-: "):
            yield number, names, cells


def keys(text):
    """The words that say what a figure is about: sizes, names, words. A grid's 129 x 129 is its 129², as a size that is written in letters is."""
    text = re.sub(r"\]\([^)]*\)", "]", text).lower().replace("_", " ").replace("×", "x")
    text = re.sub(r"(\d+)(?: ?x ?\1)+\b", lambda size: size.group(1) + " ²³"[size.group(0).count(size.group(1)) - 1], text)
    return {word for word in re.findall(r"\d+[²³]|\d{4,}|[a-zäöüα-ω][\w+]+", text)} - COMMON


def values(text):
    """The figures of a text: 1e-6 is 1e-06."""
    return {float(figure) for figure in FIGURE.findall(text)}


def about(path, anchor):
    """(figures, keys of the row, keys of the column) of the cells of a page, or of one section; a sentence is a row without columns. Headings are about
    all that is below them."""
    headings, paragraph, names, first = [], [], None, ""
    inside = not anchor

    def tell():
        opening = ""  # "At 1025²: this; that." is about the sentences after it too, until the next such beginning
        for text in re.split(r"(?<=\.) ", " ".join(paragraph)):
            found = re.match(r"(At|On) [^:.]*(\.\d+[^:.]*)*:", text)
            opening = found.group(0) if found else opening
            yield values(text), keys(text), keys(" ".join([opening, text, *headings]))
        paragraph.clear()

    for line in path.read_text().split("\n"):
        heading = re.match(r"^(#{1,6}) (.*)$", line)
        if heading:
            yield from tell()
            headings = headings[: len(heading.group(1)) - 1] + [heading.group(2)]
            inside = not anchor or anchor in map(slug, headings)
        if not inside:
            continue
        if line.startswith("|"):
            yield from tell()
            cells = cells_of(line)
            if names is None:
                names, first = cells, ""
                continue
            first = cells[0] or first  # an empty first cell goes on with the row above
            # What a row is about: its first cell, and those that hold words.
            row = keys(" ".join([names[0], first, *(cell for cell in cells[1:] if re.search(r"[^\W\d]{3}", cell)), *headings])) | set(FIGURE.findall(" ".join([first, *headings])))
            for number, (name, cell) in enumerate(zip(names, cells)):
                column = keys(" ".join([name, cell, *headings]))
                yield values(cell), row, column if number else None  # the first cell is the row's name
            continue
        names = None
        if line.strip() and not heading:
            paragraph.append(line)
        else:
            yield from tell()
    yield from tell()


def sizes(words):
    """129 of 129², and of the row's name that has it."""
    return {word.rstrip("²³") for word in words if re.fullmatch(r"\d+[²³]?", word)}


def stands(figure, wanted, known):
    """Whether a figure is in a cell whose row and whose column are about what is wanted, by two words at least, or in such a sentence. Where it is
    said of which size, it is of that size."""
    wanted = wanted - {figure}
    said = sizes(word for word in wanted if word[-1] in "²³")
    for figures, row, column in known:
        if float(figure) not in figures or (said and not said & sizes(row | (column or set()))):
            continue
        if len(wanted & (row | (column or set()))) >= 2 and wanted & row and (column is None or wanted & column):
            return True
    return False


def check_figures(pages):
    """Figures of the pages that sum up are those of the pages they link to, where these are about the same. Returns how many rows were compared."""
    compared = 0
    for page in pages:
        if page.name not in SUMS:
            continue
        columns = SUMS[page.name]
        rows = [(line, dict(zip(names, cells)), cells) for line, names, cells in table_rows(page) if set(columns) & set(names)]
        if not rows:
            page.errors.append(f"{page.name}: no table has the columns {', '.join(columns)}, whose figures are to be compared")
        for line, row, cells in rows:
            missing = [name for name in columns if name not in row]
            if missing:
                page.errors.append(f"{page.name}:{line}: '{cells[0]}' has no column {', '.join(missing)}, whose figures are to be compared")
                continue
            links = [target.partition("#")[::2] for _, target in LINK.findall(cells[-1])]
            there = [(page.path.parent / target, anchor) for target, anchor in links if target.endswith(".md")]
            if not there or not all(path.exists() for path, _ in there):
                page.errors.append(f"{page.name}:{line}: the last cell of '{cells[0]}' links to no page with its figures")
                continue
            compared += 1
            known = [place for path, anchor in there for place in about(path, anchor)]
            told = " ".join([cells[0], *(row[name] for name in columns)])
            wanted = keys(told) | set(FIGURE.findall(told))
            for name in columns:
                for figure in FIGURE.findall(LINK.sub("", row[name])):
                    if not stands(figure, wanted, known):
                        page.errors.append(f"{page.name}:{line}: {figure} of '{cells[0]}' does not stand in {', '.join(target for target, _ in links)} "
                                           "in a cell, or a sentence, about the same")
    return compared


def commands(page):
    """(line, text) of what is typed: blocks, and code in the text."""
    fenced = False
    for block in page.blocks:
        if block.kind in (*SHELLS, "indented"):
            for number, text in enumerate(block.text, block.line + (block.kind != "indented")):
                if block.kind != "console" or text.startswith("$ "):
                    yield number, text
    for number, line in enumerate(page.path.read_text().split("\n"), 1):
        fenced ^= bool(FENCE.match(line))
        if not fenced:
            for code in re.findall(r"`([^`]+)`", line):
                yield number, code


def check_commands(pages):
    """What commands name exists, whether they are run here or not. Returns how many names were looked up."""
    front_door = (ROOT / "weft").read_text()
    known = front_door + (ROOT / "evaluate" / "__main__.py").read_text()
    lists = "\n".join(path.read_text() for folder in ("bench", "examples", "tests", "src") for path in (ROOT / folder).rglob("CMakeLists.txt"))
    looked_up = 0

    for page in pages:
        for number, text in commands(page):
            def missing(words):
                page.errors.append(f"{page.name}:{number}: `{text.strip()}`: {words}")

            for found in SCRIPT.finditer(text):
                path, options = ROOT / found["path"], OPTION.findall(found["rest"])
                typed = text.strip().startswith(("./" + found["path"], found["path"], "$ ")) and text.strip() != found["path"]
                looked_up += 1
                if not path.is_file():
                    if "/test_thing." not in found["path"]:  # a name that stands for any
                        missing(f"there is no {found['path']}")
                    continue
                if typed and not found["by"] and not os.access(path, os.X_OK):
                    missing(f"{found['path']} has no run bit")
                for option in options:
                    if f'"{option}"' not in path.read_text():
                        missing(f"{found['path']} has no option {option}")
            for found in FRONT_DOOR.finditer(text):
                looked_up += 1
                if not re.search(rf"^  {found['command']} +\S", front_door, re.M):
                    missing(f"./weft has no command {found['command']}")
                for option in OPTION.findall(found["rest"]):
                    if option not in known:
                        missing(f"./weft has no option {option}")
                for name, value in re.findall(r"--(stack|suite|only) ([\w.,-]+)", found["rest"]):
                    if not value.isupper() and not all(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", front_door) for word in value.split(",")):
                        missing(f"--{name} takes no {value}")
            for found in BUILD_FOLDER.finditer(text):
                looked_up += 1
                if not FOLDERS.fullmatch(found["stack"]):
                    missing(f"no stack is built in build/{found['stack']}")
            for found in [*PROGRAM.finditer(text), *BUILD_FOLDER.finditer(text)]:
                program = found["program"] or found.groupdict().get("bare")
                program = program and re.sub(r"^(snes|ts)_(?=ex\d)", "", program)  # which CMake puts in front of tutorials' names
                if program and not program.isupper() and not re.search(rf"(?<!\w)(?:\w+_)?{program}(?!\w)", lists) and program not in ("weft-config", "weft"):
                    missing(f"nothing builds {program}")
    return looked_up


def has(tool, build):
    if tool.startswith("python:"):
        program = [sys.executable, "-c", f"import {tool[7:]}"]
        if tool == "python:petsc4py":  # one for the PETSc of the build: with 64-bit integers there may be none
            program[2] += f"; petsc4py.init(['', '-dll_append', '{build}/lib/libweft.so'])"
        return subprocess.run(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    return shutil.which(tool) is not None


def expected(block):
    """(command, lines that it prints) of a block; an sh block is one command."""
    if block.kind == "sh":
        return [("\n".join(block.text), [])]
    steps = []
    for line in block.text:
        if line.startswith("$ "):
            steps.append([line[2:], []])
        elif steps and steps[-1][0].endswith("\\") and not steps[-1][1]:
            steps[-1][0] += "\n" + line
        elif steps:
            steps[-1][1].append(line)
    return steps


def in_order(wanted, output):
    """The first of the wanted lines that does not follow the others in the output."""
    rest = iter([" ".join(line.split()) for line in output.split("\n")])
    for line in wanted:
        words = " ".join(line.split())
        pattern = ".*".join(map(re.escape, words.split("...")))
        if words and words != "..." and not any(re.fullmatch(pattern, printed) for printed in rest):
            return line
    return None


def shell_environment(build, folder):
    environment = one_machine.environment(
        without=("PETSC_OPTIONS", "OMP_NUM_THREADS", "PETSC_DIR", "PETSC_ARCH"),
        WEFT=str(build),
        TMPDIR=str(folder / ".tmp"),
        PATH=f"{folder}/.bin:{os.environ['PATH']}",
        PYTHONDONTWRITEBYTECODE="1",
    )
    # The PETSc that the library was built for, before any other.
    places = [os.environ.get(name) for name in ("WEFT_PETSC_PKGCONFIG", "PKG_CONFIG_PATH")]
    if any(places):
        environment["PKG_CONFIG_PATH"] = ":".join(filter(None, places))
    return environment


def run_page(page, blocks, build, limit):
    """Runs the blocks of a page in one shell; returns the seconds they took."""
    with tempfile.TemporaryDirectory(prefix="weft-docs") as name:
        folder = Path(name)
        for entry in ROOT.iterdir():
            if entry.is_dir() and entry.name not in (".git", "build"):
                (folder / entry.name).symlink_to(entry)
        for inner in (".tmp", ".bin", "build"):
            (folder / inner).mkdir()
        (folder / "build" / "debian").symlink_to(build)
        (folder / ".bin" / "python3").symlink_to(sys.executable)
        steps, script = [], ["set -euo pipefail", "exec 2>&1"]
        for block in blocks:
            if "file" in block.marks:
                target = folder / Path(block.marks["file"]).name  # never into a linked folder of the repository
                target.write_text("\n".join(block.text) + "\n")
            if block.kind not in SHELLS:
                continue
            for command, wanted in expected(block):
                script += [f"printf '\\n@@step {len(steps)}\\n'", command]
                steps.append((block, command, wanted))
        start = time.monotonic()
        try:
            process = subprocess.run(
                ["bash", "-c", "\n".join(script)],
                cwd=folder,
                env=shell_environment(build, folder),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
                errors="replace",
                timeout=limit,
            )
            code, output = process.returncode, process.stdout
        except subprocess.TimeoutExpired as expired:
            code, output = f"no end after {limit} s", (expired.stdout or b"").decode(errors="replace")
        outputs = re.split(r"\n@@step \d+\n", output)[1:]
        for number, (block, command, wanted) in enumerate(steps):
            where = f"{page.name}:{block.line}"
            if code and number >= len(outputs) - 1:
                page.errors.append(f"{where}: `{command.strip()}` ended with {code}:\n{outputs[number][-1500:] if number < len(outputs) else ''}")
                break
            missing = in_order(wanted, outputs[number])
            if missing is not None:
                page.errors.append(f"{where}: `{command.strip()}` does not print '{missing.strip()}' where the page says so:\n{outputs[number][-1500:]}")
        return time.monotonic() - start


def check_blocks(pages, build, limit):
    """Runs the shell blocks if there is a build; returns how many were run, how many not and why."""
    counts, reasons = {"run": 0, "not run": 0}, {}

    def leave(reason, number=1):
        counts["not run"] += number
        reasons[reason] = reasons.get(reason, 0) + number

    for page in pages:
        chosen, shell = [], 0
        for block in page.blocks:
            missing = [tool for tool in block.marks.get("needs", "").replace(",", " ").split() if not has(tool, build)]
            if block.kind == "indented" and any(COMMAND.match(line) for line in block.text):
                if page.not_run:
                    leave(page.not_run)
                else:
                    page.errors.append(f"{page.name}:{block.line}: a command that nothing runs: fence it as sh or console, or as text if it is none")
            elif block.kind in SHELLS:
                if page.not_run or "not run" in block.marks:
                    leave(block.marks.get("not run", page.not_run))
                elif missing:
                    leave(f"{' '.join(missing)} missing here")
                else:
                    chosen.append(block)
                    shell += 1
            elif "file" in block.marks and not missing:
                chosen.append(block)
        if shell and build:
            seconds = run_page(page, chosen, build, limit)
            print(f"{page.name}: {shell} shell blocks, {seconds:.1f} s", flush=True)
        counts["run"] += shell
    return counts, reasons


class Html(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids, self.loads = [], set(), []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for name in ("id", "name"):
            if attributes.get(name) and tag != "meta":
                self.ids.add(attributes[name])
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        for name in {"script": ["src"], "img": ["src"], "link": ["href"], "iframe": ["src"]}.get(tag, []):
            if attributes.get(name) and attributes.get("rel") != "canonical":
                self.loads.append(attributes[name])


def check_html(folder):
    """The built pages: nothing leads nowhere, and nothing is loaded from a network. Returns pages, links and resources."""
    files = {path: Html() for path in sorted(folder.rglob("*.html"))}
    for path, parsed in files.items():
        parsed.feed(path.read_text(errors="replace"))
    errors, links, loads = [], 0, 0
    for path, parsed in files.items():
        for target in parsed.links + parsed.loads:
            where = path.relative_to(folder)
            if re.match(r"(https?:)?//", target):
                if target in parsed.loads:
                    errors.append(f"{where} loads {target} from a network")
                continue
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            file = urllib.parse.unquote(file.partition("?")[0])
            there = (path.parent / file).resolve() if file else path
            if there.is_dir():
                there = there / "index.html"
            if not there.exists():
                errors.append(f"{where}: {target} leads nowhere")
            elif anchor and there in files and urllib.parse.unquote(anchor) not in files[there].ids:
                errors.append(f"{where}: {target}: no such anchor")
        links, loads = links + len(parsed.links), loads + len(parsed.loads)
    print(f"{len(files)} pages, {links} links, {loads} resources")
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, help="build folder with bin/ and lib/libweft.so")
    parser.add_argument("--html", type=Path, help="built pages to check instead")
    parser.add_argument("--limit", type=int, default=300, help="seconds that the blocks of a page may take")
    parser.add_argument("pages", nargs="*", type=Path, help="pages whose blocks to run (all)")
    arguments = parser.parse_args()
    if arguments.html:
        errors = check_html(arguments.html.resolve())
    else:
        pages = [read(ROOT / name) for name in TOP if (ROOT / name).exists()] + [read(path) for path in sorted((ROOT / "docs").rglob("*.md"))]
        inner, outer = check_links(pages)
        compared, named, (manual, records) = check_figures(pages), check_commands(pages), check_words(pages)
        wanted = {path.resolve() for path in arguments.pages}
        build = arguments.build.resolve() if arguments.build else None
        counts, reasons = check_blocks([page for page in pages if not wanted or page.path in wanted], build, arguments.limit)
        errors = results.errors() + contents.errors() + [error for page in pages for error in page.errors]
        print(f"{len(pages)} pages, {inner} links inside, {outer} to other hosts (not followed), {compared} rows of figures, {named} names in commands")
        print(f"{manual} words in the manual, {records} in the project's records")
        print(f"shell blocks: {counts['run']} {'run' if build else 'to run'}, {counts['not run']} not run:")
        for reason, number in sorted(reasons.items()):
            print(f"  {number:3} {reason}")
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
