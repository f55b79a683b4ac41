"""The manual says what the library does: its blocks run, its option tables are -help's, its messages are the sources'."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import programs
import pytest

SOURCE = Path(os.environ["WEFT_SOURCE"])
CHECK = SOURCE / "scripts" / "docs_check.py"
TABLES = {
    "line": ("docs/types/line.md", "ex45", "-pc_type line", "-pc_line_"),
    "adi": ("docs/types/adi.md", "ex45", "-ksp_type adi -pc_type adi", "-(?:pc|ksp)_adi_"),
    "bcr": ("docs/types/bcr.md", "ex45", "-pc_type bcr", "-pc_bcr_"),
    "boxmg": ("docs/types/boxmg.md", "ex45", "-pc_type boxmg", "-pc_boxmg_"),
    "crout": ("docs/types/crout.md", "ex45", "-pc_type crout", "-pc_crout_"),
}


def test_links_and_shell_blocks():
    check = subprocess.run([sys.executable, str(CHECK), "--build", str(programs.BUILD)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(check.stdout)
    assert check.returncode == 0, check.stdout


@pytest.fixture
def docs_check(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(SOURCE / "scripts"))
    module = __import__("docs_check")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


@pytest.mark.parametrize(
    "row, wrong",
    [
        ("a solve of 2049² | 6 ms | 5.91 ms with lines | [lines](lines.md)", []),
        ("a solve of 2049 x 2049 | 6 ms | 5.910 ms with lines | [lines](lines.md#one)", []),
        ("a solve of 2049² | 6 ms | 5.9 ms with lines | [lines](lines.md)", ["5.9"]),
        ("a solve of 2049² | 6 ms | 5.91 and 7 ms with lines | [lines](lines.md)", ["7"]),
        ("a solve of 2049² | | 5.92 ms with lines | [lines](lines.md)", ["5.92"]),
        ("a solve of 1025² | | 5.91 ms with lines | [lines](lines.md)", ["5.91"]),  # that figure is of another size
        ("a solve of 2049² | | 5.91 ms with Jacobi | [lines](lines.md)", ["5.91"]),  # of another column
        ("a solve by lines | | 5.91 ms with lines | [lines](lines.md)", ["5.91"]),  # a word of the column says nothing of the row
        ("a product of 2049² | | 5.91 ms with lines | [lines](lines.md#two)", ["5.91"]),  # and in another section
        ("factors of 513² | | 5.91 s | [lines](lines.md#two)", []),
        ("products of 513² | | 5.91 s | [lines](lines.md#two)", ["5.91"]),  # one word is none
        ("a solve of 2049² | 6 ms | 5.91 ms with lines | [lines](nowhere.md)", ["the"]),
        ("a solve of 2049² | 6 ms | 5.91 ms with lines | lines", ["the"]),
    ],
)
def test_figures_are_those_of_the_page_by_key(docs_check, tmp_path, monkeypatch, row, wrong):
    (tmp_path / "lines.md").write_text("# One\n\n| grid | ms with lines | ms with Jacobi |\n|---|---|---|\n| 2049² | 5.91 | 390 |\n| 257² | 0.7 | 9 |\n\n"
                                       "# Two\n\nThe factors of 513² take 5.91 s.\n")
    page = docs_check.Page(tmp_path / "sums.md")
    monkeypatch.setattr(docs_check, "SUMS", {"sums.md": ["measured"]})
    monkeypatch.setattr(docs_check, "COMMON", docs_check.COMMON - {"lines"})
    page.path.write_text(f"| what | goal | measured | how |\n|---|---|---|---|\n| {row} |\n")
    assert docs_check.check_figures([page]) == (wrong != ["the"])
    assert [error.split()[1] for error in page.errors] == wrong, page.errors


@pytest.mark.parametrize(
    "table, error",
    [
        ("| what | took | how |\n|---|---|---|\n| a solve | 5.9 ms | [lines](lines.md) |\n", "sums.md: no table has the columns measured, against, whose figures are to be compared"),
        ("| what | measured | beside | how |\n|---|---|---|---|\n| a solve | 5.9 ms | 7 | [lines](lines.md) |\n", "sums.md:3: 'a solve' has no column against, whose figures are to be compared"),
        ("| what | measured | against | how |\n|---|---|---|---|\n| a solve | 5.9 ms |\n", "sums.md:3: 'a solve' has no column against, whose figures are to be compared"),
    ],
)
def test_a_column_that_is_not_there_is_found(docs_check, tmp_path, monkeypatch, table, error):
    page = docs_check.Page(tmp_path / "sums.md")
    monkeypatch.setattr(docs_check, "SUMS", {"sums.md": ["measured", "against"]})
    page.path.write_text(table)
    docs_check.check_figures([page])
    assert page.errors == [error]


@pytest.mark.parametrize(
    "page, right, wrong, words",
    [
        ("docs/which.md", "0.193 ms an application", "0.31 ms an application", "0.31 of"),
        ("docs/which.md", "cuSPARSE 1.61 ms", "cuSPARSE 1.58 ms", "1.58 of"),
        ("docs/which.md", "3 iterations at 129², eps 1e-6", "19 iterations at 129², eps 1e-6", "19 of"),
        ("docs/which.md", "| what it gave |", "| what it did |", "no table has the columns what it gave, compared with"),
        ("docs/results/README.md", "0.193 ms (cuSPARSE", "0.680 ms (cuSPARSE", ""),  # that figure is of the same row
        ("docs/results/README.md", "| 6.2 x, 5.2 x as fast", "| 6.2 x, 5.8 x as fast", "5.8 of"),
        ("docs/results/README.md", "| measured | how |", "| took | how |", "no table has the columns measured"),
    ],
)
def test_a_page_that_is_broken_is_found(docs_check, tmp_path, page, right, wrong, words):
    shutil.copytree(SOURCE / "docs", tmp_path / "docs")
    text = (tmp_path / page).read_text()
    assert right in text
    if words.startswith("no table"):
        text = text.replace(right, wrong)
        text = text.replace("| compared with |", "| rivals |")
    (tmp_path / page).write_text(text.replace(right, wrong))
    broken = docs_check.Page(tmp_path / page)
    docs_check.check_figures([broken])
    assert len(broken.errors) == bool(words) and all(words in error for error in broken.errors), broken.errors


@pytest.fixture
def results(docs_check):
    import results

    return results


@pytest.mark.parametrize(
    "weft, best, cells",
    [
        ({"setup": "3", "solve": "2"}, {"setup": "4", "solve": "6"}, "line: 3 + 2 | other: 4 + 6 | 2.00 | 3.00"),
        ({"setup": "0.003", "solve": "0.002", "unit": "s"}, {"setup": "4", "solve": "1"}, "line: 0.003 s + 0.002 s | other: 4 + 1 | 1.00 | **0.50**"),
        ({"solve": "2"}, {"solve": "60"}, "line: 2 | other: 60 | – | 30"),
        ({"together": "2"}, {"together": "1e3"}, "line: 2 together | other: 1e3 together | 500 | –"),
    ],
)
def test_ratios_are_those_of_their_times(results, weft, best, cells):
    row = {"problem": "a solve", "weft": {"name": "line", **weft}, "best": {"name": "other", **best}, "command": "A", "page": ["lines", "results/lines.md"]}
    assert results.performance_table([row])[-1] == f"| a solve | {cells} | A | [lines](results/lines.md) |"


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda data: data["boxmg"][0]["weft"].update(solve="349"), "'boxmg: 151 + 349' of 'K = 1, 1025²' does not stand on results/boxmg.md"),
        (lambda data: data["adi"][1]["weft"].update(solve="14"), "'adi: 15 + 14' of"),  # which is in another sentence of the same paragraph
        (lambda data: data["crout"][0]["weft"].update(solve="0.682"), "does not stand on ../bench/results/crout-f3009115-h200.json"),  # which is of another matrix
        (lambda data: data["line"][0]["best"].pop("setup"), "cannot be compared"),
        (lambda data: data["line"].extend(data["line"]), "more than 10 rows"),
    ],
)
def test_performance_is_what_was_measured(results, tmp_path, monkeypatch, change, words):
    assert not results.errors()
    data = json.loads(results.ROWS.read_text())
    change(data)
    (tmp_path / "performance.json").write_text(json.dumps(data))
    monkeypatch.setattr(results, "ROWS", tmp_path / "performance.json")
    wrong = results.errors()
    assert any(words in error for error in wrong) and "scripts/results.py --write" in wrong[-1], wrong


def test_the_table_of_contents_names_every_page(docs_check, monkeypatch):
    contents = docs_check.contents
    assert not contents.errors()
    monkeypatch.setattr(contents, "PAGES", [*(page for page in contents.PAGES if page != "docs/gpu"), "docs/none"])
    missing, extra = contents.errors()
    assert "does not name the page docs/gpu.md" in missing and "names the page docs/none.md, which does not exist" in extra


def test_the_manual_is_not_too_long(docs_check, tmp_path, monkeypatch):
    for name, text in {"docs/long.md": "one two 3 4.5 | a word", "docs/project/log.md": "much more " * 100}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    pages = [docs_check.Page(tmp_path / name) for name in ("docs/long.md", "docs/project/log.md")]
    assert docs_check.check_words(pages) == (3, 200) and not pages[0].errors
    monkeypatch.setattr(docs_check, "MOST_WORDS", 2)
    docs_check.check_words(pages)
    assert pages[0].errors == ["the manual has 3 words, more than 2; the longest pages: docs/long.md (3)"]


def test_raw_results_become_tables():
    script = [sys.executable, SOURCE / "scripts" / "results.py"]
    for path in sorted((SOURCE / "bench" / "results").glob("*.json")):
        results = json.loads(path.read_text())
        if "tables" not in results:
            continue
        printed = subprocess.run([*script, path], capture_output=True, text=True, check=True).stdout
        assert printed.count("\n|--") == len(results["tables"]) and all(len(row) == len(table["columns"]) for table in results["tables"] for row in table["rows"]), path.name
    refused = subprocess.run([*script, SOURCE / "bench" / "results" / "performance.json"], capture_output=True, text=True)
    assert refused.returncode == 2 and "holds no tables" in refused.stderr


@pytest.mark.parametrize(
    "command, wrong",
    [
        ("scripts/tool.py --build build/debian --size 3", ""),
        ("python3 scripts/plain.py --size 3", ""),
        ("scripts/plain.py --size 3", "has no run bit"),
        ("scripts/nothing.py", "there is no scripts/nothing.py"),
        ("scripts/tool.py --length 3", "has no option --length"),
        ("scripts/tool.py --build build/host", "no stack is built in build/host"),
        ("./weft bench --quick --stack debian", ""),
        ("./weft benches", "./weft has no command benches"),
        ("./weft bench --fast", "./weft has no option --fast"),
        ("./weft bench --stack windows", "--stack takes no windows"),
        ("build/debian/bin/nothing -n 3", "nothing builds nothing"),
    ],
)
@pytest.mark.parametrize("form", ["    {}\n", "<!-- not run: why -->\n```sh\n{}\n```\n", "text `{}` text\n"])
def test_what_commands_name_exists(docs_check, tmp_path, command, wrong, form):
    for folder in ("scripts", "evaluate"):
        (tmp_path / folder).mkdir()
    (tmp_path / "weft").write_text("  bench    time\n  --stack debian    Debian's\n  --quick   short\n")
    (tmp_path / "evaluate" / "__main__.py").write_text("")
    for name in ("tool.py", "plain.py"):
        (tmp_path / "scripts" / name).write_text('add("--build"); add("--size")\n')
    (tmp_path / "scripts" / "tool.py").chmod(0o755)
    (tmp_path / "page.md").write_text("# Page\n\n" + form.format(command))
    page = docs_check.read(tmp_path / "page.md")
    assert docs_check.check_commands([page]) > 0
    assert (wrong in page.errors[0] and len(page.errors) == 1) if wrong else not page.errors, page.errors


def spread(option):
    """-a_(b|c) is -a_b and -a_c."""
    found = re.match(r"([^(]*)\(([^)]*)\)(.*)$", option)
    return [found.group(1) + middle + found.group(3) for middle in found.group(2).split("|")] if found else [option]


def documented(page, prefix):
    """Options and their choices in the first columns of a page's tables."""
    options = {}
    for row in re.findall(r"^\| *(`-.*?) \|(?: |$)", (SOURCE / page).read_text().replace("\\|", "\x00"), re.M):
        for code in re.findall(r"`(-[^`]*)`", row):
            name, _, value = code.replace("\x00", "|").partition(" ")
            for option in spread(name):
                if re.match(prefix, option):
                    options[option] = set(value[1:-1].split("|")) if value.startswith("(") else set()
    return options


def helped(run, program, options, prefix):
    found = {}
    for line in run(program, f"{options} -help").output.split("\n"):
        option = re.match(rf"\s*({prefix}\w+)", line)
        if option:
            choices = re.search(r"\(choose one of\) ([^(]*) \(", line)
            found[option.group(1)] = set(choices.group(1).split()) if choices else set()
    return found


def test_option_tables_are_made_from_help():
    check = subprocess.run([sys.executable, str(SOURCE / "scripts" / "option_tables.py")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert check.returncode == 0, check.stdout


@pytest.mark.parametrize("name", TABLES)
def test_option_tables_are_those_of_help(run, name):
    page, program, options, prefix = TABLES[name]
    pages, helps = documented(page, prefix), helped(run, program, options, prefix)
    # KSPADI's option is in a list of its own page.
    text = (SOURCE / page).read_text()
    pages.update({option: set() for option in re.findall(r"^- `(-ksp_adi_\w+)", text, re.M)})
    assert set(pages) == set(helps) and len(helps) > 5
    # Names of kernels are a list on a page of their own.
    assert {o: c for o, c in pages.items() if c} == {o: c for o, c in helps.items() if c and o not in ("-pc_line_kernel", "-pc_adi_line_solver")}


def test_every_kernel_has_a_row_and_a_page(run):
    kernels = helped(run, "ex45", "-pc_type line", "-pc_line_")["-pc_line_kernel"] - {"auto"}
    serving, compared = (re.findall(r"^\| \[([\w-]+)\]\(\w+\.md\) \|", part, re.M)
                         for part in (SOURCE / "docs/kernels/README.md").read_text().split("## To compare with"))
    assert sorted(serving + compared) == sorted(kernels) and len(serving) > 3 and compared
    text = (SOURCE / "docs/types/line.md").read_text()
    assert all(f"`{kernel}`" in text for kernel in serving)


def messages(text):
    """The messages of PetscCheck, with an ellipsis for each value."""
    text = re.sub(r'" *PetscInt(64)?_FMT\b', 'd"', text)
    for found in re.finditer(r'PETSC_ERR_\w+,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', text):
        message = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found.group(1))).replace('\\"', '"')
        yield re.sub(r"%[-.\d]*[a-zA-Z]", "…", message)
    for option, needs in re.findall(r'SetBounded<\w+,\s*"(\w+)",\s*"([^"]+)"', text):
        yield f"-{option} …: {needs}"


def test_every_message_is_explained():
    page = " ".join((SOURCE / "docs/messages.md").read_text().split())
    sources = [path for path in sorted((SOURCE / "plugins").rglob("*")) if path.suffix in (".cxx", ".hpp", ".h")]
    sources += [SOURCE / "examples" / "compact" / name for name in ("weft_compact.cxx", "derivative.cxx", "halo.cxx")]
    every = {message for path in sources for message in messages(path.read_text()) if message.strip("…-: ")}
    assert len(every) > 90
    missing = sorted(message for message in every if " ".join(message.split()) not in page)
    assert not missing, "docs/messages.md lacks:\n" + "\n".join(missing)


def test_every_function_of_the_headers_is_in_the_reference():
    headers = [path.read_text() for path in (*sorted((SOURCE / "plugins").rglob("*.h")), SOURCE / "examples" / "compact" / "weft_compact.h.in")]
    functions = [name for header in headers for name in re.findall(r"^WEFT_EXTERN PetscErrorCode (\w+)\(", header, re.M)]
    rows = re.findall(r"^\| `(\w+)\(", (SOURCE / "docs/reference.md").read_text(), re.M)
    assert sorted(rows) == sorted(functions) and len(rows) > 40
