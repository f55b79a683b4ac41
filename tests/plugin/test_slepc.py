"""SLEPc's solvers over Weft's types: a shift that lies inside the spectrum makes indefinite operators."""

import subprocess
import sys
from pathlib import Path

import programs
import pytest

PROGRAM = Path(__file__).parent / "programs" / "eigenvalues.py"
no_slepc = subprocess.run([sys.executable, "-c", "import slepc4py"], stderr=subprocess.DEVNULL).returncode != 0


@programs.needs_petsc4py
@pytest.mark.skipif(no_slepc, reason="no slepc4py (Debian: python3-slepc4py)")
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    "solver", ["-st_ksp_type gmres -st_pc_type line", "-st_ksp_type gmres -st_pc_type crout", "-st_ksp_type preonly -st_pc_type lu -st_pc_factor_mat_solver_type crout", "-st_ksp_type gmres -st_pc_type bcr"]
)
def test_shift_and_invert(solver, ranks):
    if "factor" in solver and ranks > 1:
        solver = "-st_ksp_type gmres -st_pc_type bjacobi -st_sub_pc_type lu -st_sub_pc_factor_mat_solver_type crout"
    assert programs.python(PROGRAM, f"{solver} -st_ksp_rtol 1e-10", ranks=ranks).number("worst error") < 1e-7
