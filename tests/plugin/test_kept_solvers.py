"""What is kept, or made of another matrix than the operator: as good as it was, or no convergence. And types of matrices that one rank can have."""

import re
from pathlib import Path

import programs
import pytest

PROGRAM = Path(__file__).parent / "programs" / "kept_solvers.py"


def solves(case, options="", ranks=1):
    """(reason, iterations, true residual) of each solve."""
    output = programs.python(PROGRAM, f"{case} {options}", ranks=ranks).output
    return [(int(reason), int(count), float(residual)) for reason, count, residual in re.findall(r"reason (-?\d+), iterations (\d+), residual (\S+)", output)]


SOLVERS = {
    "bcr": "-pc_type bcr",
    "bcr, which refines": "-pc_type bcr -nx 127 -ny 127 -centre 104",
    "line": "-pc_type line -pc_line_direction x",
    "line, graph": "-pc_type line -pc_line_source graph -pc_line_sweeps 2",
    "line, zebra": "-pc_type line -pc_line_direction xy -pc_line_ordering zebra -pc_line_sweeps 2",
    "adi": "-pc_type adi",
    "crout": "-pc_type crout",
    "crout, complete": "-pc_type crout -pc_crout_pattern full",
    "boxmg": "-pc_type boxmg",
}


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("solver", SOLVERS)
def test_twice_the_matrix_takes_as_many_iterations(solver, ranks):
    first, kept = solves("scaled", f"-ksp_type gmres {SOLVERS[solver]}", ranks)
    assert first[0] > 0 and kept[0] > 0 and kept[2] < 1e-6 and kept[1] <= first[1] + 1


@programs.needs_petsc4py
def test_transposed_solves_of_what_is_kept():
    _, kept = solves("scaled", "-ksp_type gmres -pc_type bcr -nx 12 -ny 10 -transposed")
    assert kept[0] > 0 and kept[1] <= 6 and kept[2] < 1e-6


@programs.needs_petsc4py
def test_factors_outlive_the_values_of_their_matrix():
    residuals = re.findall(r"residual (\S+)", programs.python(PROGRAM, "factors").output)
    assert len(residuals) == 12 and all(float(residual) < 1e-9 for residual in residuals), residuals


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
def test_penalties_of_another_matrix_are_rows_like_others(ranks):
    [(reason, _, residual)] = solves("penalties", "-ksp_type adi", ranks)
    assert reason < 0 or residual < 1e-7


@programs.needs_petsc4py
def test_a_stiff_row_is_refused_by_the_nearest_operator():
    [(reason, _, residual)] = solves("stiff_row", "-ksp_type gmres -pc_type bcr")
    assert reason == -11 or residual < 1e-6  # KSP_DIVERGED_PC_FAILED
    output = programs.python(PROGRAM, "stiff_row -ksp_type gmres -pc_type bcr -info :pc", expect=None).output
    assert "times as large in some row as the matrix" in output


@pytest.mark.parametrize("matrix", ["mpiaij", "mpiaijperm"])
@pytest.mark.parametrize("kind", ["line", "adi", "bcr", "boxmg", "crout"])
def test_parallel_types_on_one_rank(run, kind, matrix):
    """As many iterations as with the sequential type."""
    options = f"-da_grid_x 17 -da_grid_y 17 -pc_type {kind} -ksp_rtol 1e-8 -ksp_converged_reason"
    assert run("ex50", f"{options} -dm_mat_type {matrix}").iterations() == run("ex50", f"{options} -dm_mat_type seqaij").iterations()
