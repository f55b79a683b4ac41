"""scripts/bench.py with the programs that were built, on the host."""

import json
import os
import subprocess
import sys

import pytest
from programs import BUILD, ENVIRONMENT, MPIEXEC

SCRIPT = os.path.join(os.environ["WEFT_SOURCE"], "scripts", "bench.py")
PROGRAMS = {"poisson": "poisson_bench", "adi-solves": "adi_bench", "crout": "crout_bench", "compact": "compact"}


def run_bench(folder, suite, pattern):
    program = BUILD / "bin" / PROGRAMS.get(suite, "tridiagonal_bench")
    command = [sys.executable, SCRIPT, "--build", str(folder), "--program", str(program), "--backend", "host",
               "--quick", "--suite", suite, "--filter", pattern]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env=dict(ENVIRONMENT, OMP_NUM_THREADS="1"))


@pytest.fixture
def bench(tmp_path):
    def run(suite, pattern):
        return run_bench(tmp_path, suite, pattern)

    run.results = tmp_path / "results"
    return run


@pytest.fixture(scope="module")
def poisson(tmp_path_factory):
    """The tables of some squares, some rows of the paper and all kinds of ends."""
    folder = tmp_path_factory.mktemp("poisson")
    done = run_bench(folder, "poisson", "/(3x127|31x4095|31x31|63x63|127x127|511x511)/dirichlet/random/|/smooth/")
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "results" / "poisson.md").read_text()


def rows_of(text, *words):
    """The cells of the table rows that have all these cells."""
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows if all(word in row for word in words)]


def test_main_suite_has_both_sides_of_its_ratios(bench):
    done = bench("main", "/256x256/contiguous/general")
    assert done.returncode == 0, done.stdout + done.stderr
    text = (bench.results / "main.md").read_text()
    head = rows_of(text, "lines x rows")[0]
    milliseconds, times_floor = head.index("ms"), head.index("x floor")
    floor, error = head.index("floor ms"), head.index("error")
    for precision in ("fp64", "fp32"):
        for work, rival in (("one-shot", "lapack gtsv"), ("solve", "lapack gttrs")):
            (row,) = rows_of(text, "256 x 256", "contiguous", "general", precision, work, rival)
            library = float(row[milliseconds])
            rows = rows_of(text, "256 x 256", "contiguous", "general", precision, work)
            assert {"thomas", "auto"} <= {cells[head.index("method")].split(" ")[0] for cells in rows}
            for row in (cells for cells in rows if rival not in cells):
                time = float(row[milliseconds])
                assert float(row[times_floor]) == pytest.approx(time / float(row[floor]), rel=0.02)
                assert 0 < float(row[error]) < {"fp64": 1e-13, "fp32": 1e-4}[precision]
                ratio = float(row[-1].split()[1])  # "gtsv 1.2 (0.4 ms)"
                assert ratio == pytest.approx(library / time, rel=0.02)
    report = json.loads((bench.results / "main.json").read_text())
    assert {"memcpy", "kernel-1", "read-4-write-1"} <= {entry["name"].split("/")[6] for entry in report["benchmarks"]}
    assert {path.name for path in bench.results.glob("*.png")} in ({"main-time.png", "main-floor.png"}, set())  # none without matplotlib


def test_paper_suites_show_the_papers_figures(bench):
    assert bench("toeplitz", "/32x32/").returncode == 0
    (row,) = rows_of((bench.results / "toeplitz.md").read_text(), "32 x 32", "0.273", "11.4")[:1]
    assert float(row[1]) > 0
    assert bench("cyclic", "/1x2097152/.*/(cr|thomas)$").returncode == 0
    text = (bench.results / "cyclic.md").read_text()
    for precision, figures in (("fp32", ("113", "108", "20", "21")), ("fp64", ("148", "156", "33", "30"))):
        (row,) = rows_of(text[text.index(f"### {precision}"):].split("\n\n")[1], "2^21", *figures)
        assert float(row[1]) > 0 and float(row[-1]) > 0
    assert bench("adi", "/16x32/").returncode == 0
    text = (bench.results / "adi.md").read_text()
    assert rows_of(text, "cr, thesis, Kepler CUDA", "790")
    assert float(rows_of(text, "thomas")[0][1]) > 0


def test_errors_stand_beside_times(bench):
    """Thomas in single precision on -1 2 -1 loses half its digits at 4096 rows: 1.1e-2 in the paper, 1.4e-2 from both ends as on the host."""
    assert bench("tpr", "fp32/1x4096/.*(thomas|gtsv)").returncode == 0
    head, row = (rows_of((bench.results / "tpr.md").read_text(), word)[0] for word in ("rows", "4096"))
    assert float(row[head.index("thomas")].split("/")[1]) == pytest.approx(1.4e-2, rel=0.1)
    assert row[-1] == "1.1e-2"


def test_a_filter_that_matches_nothing_is_said(bench):
    done = bench("main", "nosuchthing")
    assert done.returncode != 0
    assert "no benchmark matches" in done.stderr


def test_methods_that_are_not_built_are_said(bench):
    """Whatever the list holds, each method of the suite has a row or is named as missing."""
    assert bench("methods", "/256x256/contiguous/general/solve/(wide|thomas)$").returncode == 0
    text = (bench.results / "methods.md").read_text()
    assert rows_of(text, "wide") or "Not in this build: wide." in text


def test_the_rows_of_the_poisson_paper(poisson):
    listed = subprocess.run([str(BUILD / "bin" / "poisson_bench"), "--suite=poisson", "--backend=host", "--benchmark_list_tests=true"],
                            capture_output=True, text=True, timeout=60, env=ENVIRONMENT).stdout
    with open(os.path.join(os.environ["WEFT_SOURCE"], "bench", "papers", "buneman.csv")) as file:
        figures = [line.split(",") for line in file if line.startswith("fp")]
    assert len(figures) == 82
    for precision, n, q, *_ in figures:
        for method in ("auto", "partial", "buneman1"):
            assert f"/{precision}/{n}x{q}/dirichlet/random/solve/{method}/" in listed
    head = rows_of(poisson, "N x Q", "auto x GPU")[0]
    row = rows_of(poisson, "127 x 127", "0.100")[0]  # fp64
    time = float(row[head.index("auto ms")])
    assert float(row[head.index("auto x CPU, 1 thread")]) == pytest.approx(160 / time, rel=0.02)
    assert 0 < float(row[head.index("error of auto")]) < 1e-13
    (row,) = rows_of(poisson, "31 x 4095", "243.312")
    assert row[head.index("thesis: GPU s")] == row[head.index("auto x GPU")] == "–"  # out of memory there
    row = rows_of(poisson, "3 x 127", "0.003")[0]
    assert row[head.index("thesis: CPU, 1 thread s")] == "0.000" and row[head.index("auto x CPU, 1 thread")] == "–"
    assert "8 of the thesis's 82 rows measured" in poisson and "`auto` in 8 of 8" in poisson


def test_errors_of_plain_cyclic_reduction_grow_and_others_do_not(poisson):
    fp64, fp32 = (part.split("###")[0] for part in poisson.split("### Errors against the size of the grid")[1:])
    for part, n, stable in ((fp64, "63", 1e-12), (fp64, "511", 1e-12), (fp32, "31", 1e-4)):
        head, row = (rows_of(part, word)[0] for word in ("N = Q", n))
        errors = dict(zip(head, map(float, row)))
        assert errors.pop("plain") > 1
        del errors["N = Q"]
        assert len(errors) == 5 and 0 < min(errors.values()) and max(errors.values()) < stable


def test_second_order_for_every_kind_of_ends(poisson):
    text = poisson.split("### Errors of the discretization")[1].split("## All")[0]
    head, _, *rows = rows_of(text)
    assert head[1:7] == ["16", "32", "64", "128", "256", "512"]
    assert {row[0] for row in rows} == {"dirichlet", "neumann", "periodic", "dirichlet-neumann", "neumann-dirichlet", "cells-dirichlet", "cells-neumann"}
    for row in rows:
        assert float(row[6]) < 1e-3 and 1.95 < float(row[7]) < 2.05, row


def test_whole_solves_by_alternating_directions(bench):
    """Iterations by one shift as the thesis's formulae give them, by cycles fewer; every line solver beside the thesis's times."""
    done = bench("adi-solves", "counts|growth|solvers")
    assert done.returncode == 0, done.stdout + done.stderr
    text = (bench.results / "adi-solves.md").read_text()
    for cells, iterations in (("16", "57"), ("32", "103"), ("64", "192")):
        (row,) = rows_of(text, cells, "square", iterations)
        assert row[2] == row[3] == iterations and row[4] == row[5]
    growth = [row for row in rows_of(text) if row[0] == "64" and "x" in row[-1]]
    assert len(growth) == 1 and int(growth[0][1]) == 190 and int(growth[0][-2].split("=")[1]) <= 40
    (head,) = [row for row in rows_of(text, "circle ms")]
    (cr,) = rows_of(text, "cr", "12.1")
    assert float(cr[head.index("circle ms")]) > 0 and 0 <= float(cr[head.index("difference from thomas")]) < 1e-9
    assert len([row for row in rows_of(text) if len(row) == len(head)]) >= 12 and "toeplitz: not timed" in text
    rows = json.loads((bench.results / "adi-solves.json").read_text())["rows"]
    assert {row["part"] for row in rows} == {"counts", "growth", "solvers"}


def test_crout_factors_of_stencils_and_files(bench):
    """A row for each way to factor and solve, on a stencil and on a file; exact factors need no more steps than approximate ones."""
    done = bench("crout", "poisson7-16|orsirr_1")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((bench.results / "crout.json").read_text())["rows"]
    assert {row["matrix"] for row in rows} == {"poisson7-16", "HB__orsirr_1"}
    steps = {(row["matrix"], row["method"]): row["steps"] for row in rows}
    rivals = {method for _, method in steps if method == "kokkos-kernels"}  # where the build has found it
    assert len(steps) == 12 + 2 * len(rivals) and all(count > 0 for (_, method), count in steps.items() if method != "isai"), steps
    assert all(abs(steps[matrix, method] - steps[matrix, "levels"]) <= 1 for matrix, method in steps if method in rivals), steps
    assert steps["poisson7-16", "levels"] <= steps["poisson7-16", "isai"]
    text = (bench.results / "crout.md").read_text()
    assert "## poisson7-16: 4096 rows, 27136 entries" in text and len(rows_of(text, "syncfree", "fp64")) == 2


def test_compact_differences(bench):
    """Orders by refinement, times and a pulse, from one command."""
    done = bench("compact", "")
    assert done.returncode == 0, done.stdout + done.stderr
    text = (bench.results / "compact.md").read_text()
    finest = [row for row in rows_of(text, "first derivative, order 4", "open")][-1]
    assert [float(finest[k]) for k in (4, 6, 8)] == pytest.approx([3, 3.5, 4], abs=0.3)
    times = rows_of(text, "first, 4")
    assert [row[3:5] for row in times] == [[way, axis] for way in ("solver", "one pass") for axis in "xyz"]
    assert all(float(row[5]) > float(row[7]) > 0 for row in times)
    assert "its energy is within" in text and (bench.results / "compact.json").exists()


def test_scaling_of_compact_differences(tmp_path):
    """Every row of two ranks, and a program that fails is told."""
    script = os.path.join(os.environ["WEFT_SOURCE"], "scripts", "compact_scaling.py")
    command = [sys.executable, script, "--build", str(BUILD), "--size", "40", "--ranks", "2", "--options", "", "--json", str(tmp_path / "rows.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=dict(ENVIRONMENT, OMP_NUM_THREADS="1"))
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())
    count = {"alone": 3, "weak": 3, "ring": 2, "large": 3, "strong": 3, "latency": 2, "staged": 1}  # by either way
    assert {(what, way): sum((row["what"], row["way"]) == (what, way) for row in rows) for what in count for way in ("one pass", "solver")} == {
        (what, way): number for what, number in count.items() for way in ("one pass", "solver")}
    assert len(rows) == 34 and all(row["seconds"] > 0 for row in rows)
    assert len([line for line in done.stdout.splitlines() if line.startswith("| ")]) == 35
    command[command.index("--options") + 1] = "-compact_order 5"
    failed = subprocess.run(command, capture_output=True, text=True, timeout=300, env=dict(ENVIRONMENT, OMP_NUM_THREADS="1"))
    assert failed.returncode == 1 and "not of order 5" in failed.stdout


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_lines_that_cross_ranks(ranks):
    """Pieces of unequal lengths, and of no row where there are more ranks than rows."""
    sizes = {"7 x 5": "64", "16 x 8": "200", "3 x 4": "2"}
    options = [f"--sizes={','.join(f'{lines}x{rows}'.replace(' ', '') for lines, rows in sizes.items())}", "--repeat=2"]
    launch = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
    command = [*launch, str(BUILD / "bin" / "ranks_bench"), "--backend=host", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(ENVIRONMENT, OMP_NUM_THREADS="1"))
    assert done.returncode == 0, done.stdout + done.stderr
    head, _, *rows = rows_of(done.stdout)
    assert head == ["lines", "rows", "ranks", "messages", "solve, ms", "median, ms", "one-shot, ms", "error"]
    assert [row[:3] for row in rows] == [[lines, length, str(ranks)] for lines, length in sizes.items()]
    for row in rows:
        assert row[3].startswith("one rank" if ranks == 1 else "by MPI")
        assert 0 < float(row[4]) <= float(row[5]) and float(row[6]) > 0 and 0 < float(row[7]) < 1e-12, row


@pytest.mark.parametrize("only, cases", [("lines", 2), ("bcr", 4 + 5), ("compact", 3 + 3 + 3 + 3 + 3 + 3)])  # the last ones: what is alone, weak, strong and large
def test_several_ranks_in_one_table(only, cases, tmp_path):
    script = os.path.join(os.environ["WEFT_SOURCE"], "scripts", "several_gpus.py")
    command = [sys.executable, script, "--build", str(BUILD), "--ranks", "1", "2", "--scale", "32", "--repeat", "1", "--only", only, "--json", str(tmp_path / "rows.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=dict(ENVIRONMENT, OMP_NUM_THREADS="1"))
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert len(rows) == (cases if only == "compact" else 2 * cases) and all(row["solve"] > 0 and row["residual"] < (1e-12 if only == "lines" else 1) for row in rows), done.stdout
    table = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(table) == 1 + len(rows) and not any(" – |" in line.rsplit("|", 3)[2] for line in table[1:])


def test_matrices_that_do_not_exist_are_said(bench):
    done = bench("crout", "nosuchthing")
    assert done.returncode != 0
    assert "no matrix matches the filter" in done.stderr


def test_parts_of_solves_that_do_not_exist_are_said(bench):
    done = bench("adi-solves", "nosuchthing")
    assert done.returncode != 0
    assert "the parts are counts, growth" in done.stderr
