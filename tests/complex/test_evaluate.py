"""The evaluation with complex scalars: complex and Hermitian files beside real ones and model problems, with the types that there are."""

import json
import os
import subprocess
import sys
from pathlib import Path

import programs
import pytest

SOURCE = Path(os.environ["WEFT_SOURCE"])


@pytest.fixture
def evaluate(tmp_path):
    """Runs the command; {(problem, configuration): row}, the recommendations by their problems, and what it said."""

    def run(*words):
        command = [sys.executable, "-m", "evaluate", "--build", str(programs.BUILD), "--output", str(tmp_path / "out"), "--no-pictures", *map(str, words)]
        done = subprocess.run(command, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, env=programs.ENVIRONMENT)
        assert done.returncode == 0, done.stderr
        rows = {(row["problem"], row["configuration"]): row for row in json.loads((tmp_path / "out" / "results.json").read_text())["results"]}
        recommended = json.loads((tmp_path / "out" / "recommendations.json").read_text())["recommendations"]
        return rows, {entry["problem"]: entry for entry in recommended}, done.stderr

    return run


def test_matrices_of_every_kind(evaluate):
    rows, recommended, said = evaluate("--matrices", SOURCE / "matrices" / "complex", "--quick", "--types", "jacobi,line,icc,cholesky,crout,lu,cholmod", "--max-it", 300)
    assert {name: entry["structure"] for name, entry in recommended.items()} == {
        "Bai/mhd1280b": "Hermitian positive definite", "Bai/qc324": "complex symmetric", "HB/young1c": "unsymmetric"}
    assert all(entry["options"] for entry in recommended.values()), recommended
    # CG takes Hermitian definite matrices; what factors half a matrix takes complex symmetric ones, and no Hermitian one.
    assert rows["Bai/mhd1280b", "line"]["outcome"] == "solved" and "-ksp_type cg" in rows["Bai/mhd1280b", "line"]["options"]
    assert "-ksp_type gmres" in rows["Bai/qc324", "line"]["options"]
    assert {problem for problem, configuration in rows if configuration in ("icc(0)", "cholesky")} == {"Bai/qc324"}
    assert rows["Bai/qc324", "cholesky"]["outcome"] == "solved"
    assert all(rows[name, "lu"]["outcome"] == "solved" for name in recommended) and not {"error", "crash"} & {row["outcome"] for row in rows.values()}
    # What takes no such matrix is said once, and is no row.
    assert "left out: cholesky by cholmod" in said and "cholesky by cholmod" not in {configuration for _, configuration in rows}


def test_real_matrices_and_model_problems_are_what_they_were(evaluate):
    rows, recommended, _ = evaluate("--matrices", SOURCE / "matrices" / "HB__gr_30_30.mtx.gz", "--models", "jumps", "--quick", "--types", "line,boxmg,icc")
    assert recommended["HB/gr_30_30"]["structure"] == "symmetric positive definite" and len(recommended) > 1
    assert {row["outcome"] for row in rows.values()} == {"solved"} and {configuration for _, configuration in rows} >= {"line", "boxmg", "icc(0)"}


def test_the_matrices_of_the_repository(tmp_path):
    """Without --matrices those of matrices/complex are there too."""
    program = f"""
from pathlib import Path
from evaluate import __main__ as evaluate
arguments = evaluate.parse(["--build", {str(programs.BUILD)!r}, "--quick", "--output", {str(tmp_path)!r}])
print(*(problem.name for problem in evaluate.pick_matrices(arguments, Path({str(tmp_path)!r}))))
"""
    names = subprocess.run([sys.executable, "-c", program], cwd=SOURCE, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    assert {"HB/gr_30_30", "Bai/qc324", "Bai/mhd1280b", "HB/young1c"} <= set(names)
