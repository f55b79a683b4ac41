"""Studies of the manual as configurations, and the table of iterations that they fill."""

import json
import pathlib
import subprocess
import sys

import pytest
from conftest import SOURCE
from programs import BUILD, ENVIRONMENT

from evaluate import cases, iterations

STUDIES = SOURCE / "evaluate" / "studies"
COUNTS = {"p": {"a": 5, "b": 7, "c": None}, "q": {"a": 4, "b": 4}, "r": {"a": 9, "b": 8, "c": 1}, "s": {"a": None, "b": 2}}


def rows_of(counts):
    return [{"problem": problem, "rows": 10, "configuration": name, "iterations": count, "outcome": "solved" if count is not None else "time"}
            for problem, of in counts.items() for name, count in of.items()]


def written(folder, rows, *names):
    iterations.write(folder, rows, [cases.Configuration(name, "") for name in names])
    return (folder / "iterations.md").read_text().splitlines()


def test_two_side_by_side():
    found = iterations.pairs(iterations.by_problem(rows_of(COUNTS)), ["a", "b", "c"])
    assert found == [("a", "b", 3, 1, 1, 1, 0, 1), ("a", "c", 1, 0, 0, 1, 1, 0), ("b", "c", 1, 0, 0, 1, 1, 0)]


def test_the_table(tmp_path):
    unread = {"problem": "t", "rows": None, "configuration": cases.READING, "iterations": None, "outcome": "error"}
    lines = written(tmp_path, [unread, *rows_of(COUNTS)], "a", "b", "c", "not tried")
    assert lines[-7:] == ["| problem | rows | a | b | c |", "|---|--:|--:|--:|--:|", "| t |  | error | error | error |", "| p | 10 | 5 | 7 | time |",
                          "| q | 10 | 4 | 4 |  |", "| r | 10 | 9 | 8 | 1 |", "| s | 10 | time | 2 |  |"]
    assert "| a | b | 3 | 1 | 1 | 1 | 0 | 1 |" in lines
    many = [f"c{number}" for number in range(7)]
    assert sum(line.startswith("| ") for line in written(tmp_path, rows_of({"p": dict.fromkeys(many, 3)}), *many)) == 2  # no pairs


def test_every_study_can_be_run():
    files = sorted(STUDIES.glob("*.json"))
    assert len(files) == 5
    problems = [cases.Problem("p", kind, facts={"symmetric": False, "definite": "no"}) for kind in ("matrix", "grid")]
    for file in files:
        page = (SOURCE / "docs" / "results" / f"{file.stem}.md").read_text()
        header = next(line for line in page.splitlines() if line.startswith(("| matrix |", "| problem |")))
        for configuration in cases.configurations(file):
            assert f"| {configuration.name} |" in header and any(map(configuration.fits, problems)), configuration


def test_lines_take_the_recorded_iterations(tmp_path):
    names = ("HB/gr_30_30", "HB/orsirr_1", "HB/west0067")
    for name in names:
        file = SOURCE / "matrices" / (name.replace("/", "__") + ".mtx.gz")
        (tmp_path / file.name).symlink_to(file)
    command = [sys.executable, "-m", "evaluate", "--build", BUILD, "--output", tmp_path / "out", "--matrices", tmp_path, "--configurations", STUDIES / "suitesparse-lines.json",
               "--max-it", "1000", "--repeat", "0", "--backend", "host", "--no-pictures", "--jobs", "2"]
    done = subprocess.run(list(map(str, command)), cwd=SOURCE, capture_output=True, text=True, timeout=200, env=dict(ENVIRONMENT, OMP_NUM_THREADS="1"))
    assert done.returncode == 0, done.stderr
    table = json.loads((SOURCE / "bench" / "results" / "suitesparse-lines.json").read_text())["tables"][0]
    recorded = {row[0]: dict(zip(table["columns"], row)) for row in table["rows"] if row[0] in names}
    found = {name: {} for name in names}
    for row in json.loads((tmp_path / "out" / "results.json").read_text())["results"]:
        found[row["problem"]][row["configuration"]] = row
    for name in names:
        for way, row in found[name].items():
            wanted = recorded[name][way]
            # Rounding, which differs between processors, may cost an iteration of a hundred.
            assert abs(row["iterations"] - wanted) <= max(1, wanted // 100) if isinstance(wanted, int) else row["outcome"] in ("failed", "iterations"), (name, way, wanted, row)
    assert {len(rows) for rows in found.values()} == {4}
    assert "| HB/west0067 | 67 | failed | failed | iterations | failed |" in (tmp_path / "out" / "iterations.md").read_text()


def tutorials(folder, configurations):
    command = [sys.executable, "-m", "evaluate", "--build", BUILD, "--output", folder, "--models", "tutorials", "--configurations", configurations, "--repeat", "0",
               "--backend", "host", "--no-pictures"]
    done = subprocess.run(list(map(str, command)), cwd=SOURCE, capture_output=True, text=True, timeout=200, env=dict(ENVIRONMENT, OMP_NUM_THREADS="1"))
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "results.json").read_text())["results"]


needs_tutorials = pytest.mark.skipif(not pathlib.Path(BUILD, "bin", "ex50").is_file(), reason="this PETSc brings no tutorials")


@needs_tutorials
def test_the_demo_takes_the_recorded_iterations(tmp_path):
    """PETSc's tutorials know nothing of the evaluation: their monitors and their log say what they did."""
    lines = (SOURCE / "docs" / "results" / "demo.md").read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("| problem |"))
    names, *recorded = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines[start : start + 8] if not line.startswith("|--"))
    wanted = {(row[0], name): int(count) for row in recorded for name, count in zip(names[1:], row[1:])}
    found = tutorials(tmp_path, STUDIES / "demo.json")
    assert {(row["problem"], row["configuration"]) for row in found} == set(wanted) and len(wanted) == 24
    for row in found:
        assert row["outcome"] == "solved" and row["total_seconds"] > row["solve_seconds"] > 0 and row["residual"] <= 1.5e-8, row
        assert len(row["norms"]) == row["iterations"] + 1 and row["norms"][-1] / row["norms"][0] == pytest.approx(row["residual"], rel=0.05, abs=1e-10), row
        assert abs(row["iterations"] - wanted[row["problem"], row["configuration"]]) <= 1, row  # rounding differs between processors


@needs_tutorials
def test_what_a_tutorial_does_not_solve(tmp_path):
    file = tmp_path / "wrong.json"
    options = {"pivot": "-pc_type lu -pc_factor_mat_solver_type petsc -pc_factor_shift_type none -pc_factor_zeropivot 1e3", "few": "-pc_type jacobi -ksp_max_it 3",
               "liar": "-pc_type jacobi -ksp_norm_type preconditioned -ksp_rtol 0.5", "error": "-pc_type shell", "default": ""}
    file.write_text(json.dumps([{"name": name, "options": of, "krylov": "none" if of else "auto", "kinds": ["grid"]} for name, of in options.items()]))
    for row in tutorials(tmp_path / "out", file):
        assert "option" not in row["reason"]
        wanted = {"pivot": ("failed", "DIVERGED_PC_FAILED (FACTOR_NUMERIC_ZEROPIVOT)"), "few": ("iterations", "DIVERGED_ITS"), "liar": ("inaccurate", None), "error": ("error", None),
                  "default": ("solved", "CONVERGED_RTOL")}[row["configuration"]]
        assert row["outcome"] == wanted[0] and wanted[1] in (None, row["reason"]), row
    found = json.loads((tmp_path / "out" / "recommendations.json").read_text())["recommendations"]
    assert {entry["options"] for entry in found} == {"-ksp_type gmres -ksp_gmres_restart 50 -ksp_pc_side right"}
