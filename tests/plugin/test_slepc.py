"""SLEPc's solvers over Weft's types: a shift that lies inside the spectrum makes indefinite operators."""

from pathlib import Path

import programs
import pytest

PROGRAM = Path(__file__).parent / "programs" / "eigenvalues.py"


@programs.needs_petsc4py
@programs.needs_slepc4py("python3-slepc4py-real3.18")
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    "solver", ["-st_ksp_type gmres -st_pc_type line", "-st_ksp_type gmres -st_pc_type crout", "-st_ksp_type preonly -st_pc_type lu -st_pc_factor_mat_solver_type crout", "-st_ksp_type gmres -st_pc_type bcr"]
)
def test_shift_and_invert(solver, ranks):
    if "factor" in solver and ranks > 1:
        solver = "-st_ksp_type gmres -st_pc_type bjacobi -st_sub_pc_type lu -st_sub_pc_factor_mat_solver_type crout"
    assert programs.python(PROGRAM, f"{solver} -st_ksp_rtol 1e-10", ranks=ranks, environment=programs.SLEPC).number("worst error") < 1e-7
