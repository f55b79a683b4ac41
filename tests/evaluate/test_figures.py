"""Performance profiles, recommendations and rules, on numbers that can be checked by hand."""

import json
import shlex

import pytest

from evaluate import outcome, page, plots, profile, recommend
from evaluate.cases import Configuration, Problem
from evaluate.run import Progress, duration


def row(problem, configuration, seconds, outcome_="solved", **more):
    return {"problem": problem, "configuration": configuration, "type": configuration, "options": f"-pc_type {configuration}", "outcome": outcome_, "reason": "", "iterations": 3,
            "residual": 1e-9, "total_seconds": seconds, **more}


def test_performance_profile():
    """Three problems and two solvers: ratios a 1, 1, 2; b 3, none, 1."""
    rows = [row("p", "a", 1.0), row("p", "b", 3.0), row("q", "a", 5.0), row("q", "b", None, "time"), row("r", "a", 4.0), row("r", "b", 2.0), row("s", "a", None, "crash")]
    ratios, problems = profile.ratios(profile.times_of(rows))
    assert problems == 3  # nothing solved s
    assert ratios == {"a": [1, 1, 2], "b": [1, 3]}
    assert [profile.share(ratios["a"], 3, tau) for tau in (1, 1.9, 2)] == pytest.approx([2 / 3, 2 / 3, 1])
    assert [profile.share(ratios["b"], 3, tau) for tau in (1, 2.9, 3, 1e9)] == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3])
    assert profile.area([1, 1], 2) == 1 and profile.area([10], 1) == pytest.approx(0.5) and profile.area([100, 1000], 2) == 0 and profile.area([], 0) == 0


def configured(*names):
    return recommend.order_of([Configuration(name, "") for name in names])


def test_ties_go_to_the_simpler():
    order = configured("simple", "middle", "elaborate")
    assert recommend.best_of({"elaborate": 1.0, "simple": 1.09, "middle": 1.05}, order) == ["simple", "middle", "elaborate"]
    assert recommend.best_of({"elaborate": 1.0, "simple": 1.11, "middle": 1.05}, order) == ["middle", "elaborate"]
    assert recommend.best_of({"elaborate": 1.0, "simple": 1.2, "middle": 1.3}, order) == ["elaborate"]


def test_recommendations():
    order = configured("ilu(0)", "line", "lu")
    problems = [Problem("p", "matrix", facts={"rows": 5, "symmetric": False}), Problem("q", "matrix", facts={"rows": 5, "symmetric": True, "definite": "no", "zero_diagonals": 2})]
    rows = [row("p", "ilu(0)", 4.0), row("p", "line", 2.0), row("p", "lu", 1.0, "inaccurate"), row("q", "lu", None, "failed", residual=None),
            row("q", "ilu(0)", 9.0, "iterations", residual=1e-3, reason="DIVERGED_ITS")]
    rows.append(row("p", "crout", 2.1))
    first, second = recommend.for_problems(problems, rows, order, "/over there/libweft.so")
    assert first["configuration"] == "line" and first["baseline_ratio"] == 2 and first["next"] == "crout"
    assert first["ties"] == ["crout"] and second["ties"] == []  # no measurement tells them apart
    assert shlex.split(first["options"]) == ["-dll_append", "/over there/libweft.so", "-pc_type", "line"]
    assert (first["solved"], first["tried"], first["structure"]) == (3, 4, "unsymmetric")
    assert second["configuration"] is None and second["nearest"] == "ilu(0): residual 1.0e-03, DIVERGED_ITS"
    assert second["structure"] == "symmetric indefinite, zeros on the diagonal"


@pytest.mark.parametrize("symmetric, hermitian, definite, words", [
    (True, True, "positive", "symmetric positive definite"), (False, True, "negative", "Hermitian negative definite"), (False, True, "unknown", "Hermitian, perhaps definite"),
    (False, True, "no", "Hermitian indefinite"), (True, False, "no", "complex symmetric"), (False, False, "no", "unsymmetric")])
def test_words_for_complex_matrices(symmetric, hermitian, definite, words):
    assert recommend.structure_of(Problem("p", "matrix", facts={"symmetric": symmetric, "hermitian": hermitian, "definite": definite})) == words


def test_rules():
    """Over two problems b is twice as slow on each, a the fastest on one and without a solution on the other: both have speed 0.5, and a is simpler."""
    problems = [Problem(name, "matrix", facts={"rows": 500, "symmetric": False}) for name in "pq"] + [Problem("g", "grid", family="jumps", facts={"rows": 9, "symmetric": True})]
    rows = [row("p", "a", 1.0), row("p", "b", 2.0), row("q", "b", 2.0), row("q", "c", 1.0), row("g", "a", None, "diverged")]
    grid, matrix = recommend.rules(problems, rows, configured("a", "b", "c"), "/there/libweft.so")
    assert grid["group"] == "grid: jumps" and grid["configuration"] is None and grid["solvable"] == 0
    assert matrix["group"] == "matrix: unsymmetric, fewer than 1,000 rows" and matrix["problems"] == matrix["solvable"] == 2
    assert (matrix["configuration"], matrix["speed"], matrix["solves"]) == ("a", 0.5, 1)
    assert (matrix["surest"], matrix["surest_solves"], matrix["surest_speed"]) == ("b", 2, 0.5)
    assert matrix["ties"] == ["b", "c"] and grid["ties"] == []
    assert [recommend.size_of(n) for n in (999, 1000, 99_999, 100_000)] == [text for _, text in (recommend.SIZES[0], recommend.SIZES[1], recommend.SIZES[2], recommend.SIZES[3])]


def test_rules_have_no_grid_of_one_matrix():
    problems = [Problem("p", "matrix", facts={"rows": 500, "symmetric": False})]
    rows = [row("p", "bcr", 1.0, options="-grid 5,100 -grid-components 2 -pc_type bcr")]
    (rule,) = recommend.rules(problems, rows, configured("bcr"), "/there/libweft.so")
    assert rule["options"] == "-dll_append /there/libweft.so -pc_type bcr"
    assert recommend.for_problems(problems, rows, configured("bcr"), "/there/libweft.so")[0]["options"] == "-dll_append /there/libweft.so " + rows[0]["options"]


def test_a_configuration_keeps_its_colour():
    """Its place among the best differs from picture to picture."""
    plot = plots.matplotlib()
    if not plot:
        pytest.skip("no matplotlib here, so no pictures")
    names = [f"configuration {number}" for number in range(20)]
    kinds = {"matrix": names, "grid": names[::-1]}
    problems = [Problem(kind, kind, family="size", facts={"rows": 5}) for kind in kinds]
    rows = [row(kind, name, 1.0 + place) for kind, ordered in kinds.items() for place, name in enumerate(ordered)]
    style = plots.Style([Configuration(name, "") for name in names])
    colours = {}
    for figure in (plots.draw_profile(plot, problems, rows, style), plots.draw_size(plot, problems, rows, style)):
        for axis in figure.axes:
            drawn = [(line.get_label(), line.get_color()) for line in axis.get_lines()]
            assert len({colour for _, colour in drawn}) == len(drawn) > 5
            for name, colour in drawn:
                colours.setdefault(name, set()).add(colour)
        plot.close(figure)
    assert set(colours) == set(names) and all(len(found) == 1 for found in colours.values()), colours
    assert len({style.of(f"other {number}")["color"] for number in range(16)} | set.union(*colours.values())) == 36


def test_what_stands_in_the_page_cannot_end_its_script():
    text = page.in_script({"reason": "</script><b>&amp;", "name": "129²"})
    assert "<" not in text and json.loads(text) == {"reason": "</script><b>&amp;", "name": "129²"}


def test_last_words():
    said = "noise\n[0]PETSC ERROR: ----- Error Message -----\n[0]PETSC ERROR: Invalid argument\n[0]PETSC ERROR: PCADI: no grid\n[0]PETSC ERROR: See https://petsc.org\n"
    assert outcome.last_words(said) == "Invalid argument PCADI: no grid"
    assert outcome.last_words("") == "" and outcome.last_words("a\nb\n-----\n") == "b"


def test_durations_and_progress(capsys):
    assert [duration(value) for value in (0.4, 59.6, 61, 3700)] == ["0 s", "1 min 00 s", "1 min 01 s", "1 h 01 min"]

    class Terminal:
        def __init__(self):
            self.text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    stream = Terminal()
    progress = Progress("solving", 4, 1, stream)
    progress.done, progress.started = 2, progress.started - 10
    progress.show(force=True)
    assert "[###############...............] 2/4, left 20 s" in stream.text and "\n" not in stream.text
