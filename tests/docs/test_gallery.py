"""The gallery's script, with programs of PETSc's that the build has: each kind of solver converges, to the same answer, and a wrong answer does not count."""

import json
import os
import subprocess
import sys
from pathlib import Path

import programs
import pytest

pytest.importorskip("numpy", reason="the gallery compares answers by numpy (Debian: python3-numpy)")
SOURCE = Path(os.environ["WEFT_SOURCE"])
SCRIPT = SOURCE / "scripts" / "gallery.py"


def gallery(*arguments):
    return subprocess.run([sys.executable, str(SCRIPT), "--build", str(programs.BUILD), *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize("name", ["bratu", "heat", "sponge"])
def test_a_program_is_solved_thrice(tmp_path, name):
    ran = gallery("--only", name, "--tiny", "--repeat", 1, "--json", tmp_path / "gallery.json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    data = json.loads((tmp_path / "gallery.json").read_text())
    program = data["programs"][name]
    best = [next(run for run in program["runs"] if (run["kind"] == "weft") == (kind == "weft") and run["name"] == solver) for kind, solver in program["best"].items()]
    assert len(best) == 3
    for run in best:
        assert run["ended"] == "converged" and run["iterations"] >= run["solves"] > 0 and 0 < run["linear"] <= run["solver"] < run["wall"] and run["difference"] < 1e-4
    # the row that is printed, and that of the file, is that of these runs
    row = next(line for line in ran.stdout.splitlines() if line.startswith(f"| {name} "))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == [name, *(f"{run['name']}: {run['iterations']} · {run['linear']:.3g} s" for run in best)] == data["tables"][0]["rows"][0]
    # what was kept is a file of results like others
    printed = subprocess.run([sys.executable, str(SOURCE / "scripts" / "results.py"), str(tmp_path / "gallery.json")], capture_output=True, text=True, check=True).stdout
    assert printed.count("\n|--") == 2 and cells[1] in printed


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(SOURCE / "scripts"))
    return __import__("gallery")


def test_another_answer_does_not_count(module, monkeypatch):
    import numpy

    seconds = {"-right": 2.0, "-wrong": 1.0, "": 3.0, "-weft": 4.0}

    def once(asked, program, kind, name, keep=None):
        answer = numpy.array([1.0, 2.0]) * (1.01 if name == "-wrong" else 1 + 1e-6)
        return {"ended": "converged", "solves": 1, "iterations": 3, "linear": seconds[name], "solver": seconds[name], "wall": 5.0, "answer": answer}

    monkeypatch.setattr(module, "once", once)
    asked = type("Asked", (), {"library": "libweft.so", "repeat": 2, "progress": False, "verbose": False})
    program = {"title": "", "size": "", "default": {"own": ""}, "petsc": {"fast": "-wrong", "slow": "-right"}, "weft": {"weft": "-weft"}}
    result, _ = module.measure(asked, program)
    assert result["best"] == {"default": "own", "petsc": "slow", "weft": "weft"}
    assert [run["ended"] for run in result["runs"]] == ["converged", "another answer", "converged", "converged"]


def test_the_log_is_read(module, tmp_path):
    log = tmp_path / "log"
    log.write_text("DMCreateMat 9\nSNESSolve 100\nSNESSolve;PCSetUp;MatLUFactorNum 20\nSNESSolve;KSPSolve;MatMult  3000\nSNESSolve;SNESJacobianEval 50000\n")
    assert module.times(log, {"build": "petsc", "solver": "SNESSolve"}) == (0.00302, 0.05312)
    assert module.times(log, {"build": "petsc"}) == (0.00302, 0.00302)
    log.write_text("KSPSolve               1 1.0 3.5000e-01 1.0 2.9e+06\nPCSetUp                2 1.0 1.5000e-01 1.0 0.0\nPCApply               98 1.0 9.9e-02 1.0\n")
    assert module.times(log, {"build": "deal.II"}) == (0.5, 0.5)


@pytest.mark.parametrize(
    "arguments, words",
    [(["--only", "nothing"], "there is no program 'nothing': there are cavity, "), (["--only", "bratu", "--build", "nowhere"], "libweft.so: './weft build' makes it")],
)
def test_what_is_missing_is_named(arguments, words):
    ran = gallery("--tiny", *arguments)
    assert ran.returncode and words in ran.stderr and len(ran.stderr.splitlines()) == 1


def test_missing_packages_are_named_in_a_sentence(module, monkeypatch):
    monkeypatch.setattr(module, "installed", lambda package: package == "gcc")
    program = {"build": "slepc", "built": None}
    with pytest.raises(SystemExit, match="apt-get install -y --no-install-recommends libopenblas0-pthread libslepc-real3.18-dev"):
        module.need_packages([program], install=False)
    module.need_packages([{**program, "built": Path("bin/program")}], install=False)
