"""PCBOXMG after other matrices, ways and starts: what it had before must not be seen."""

import re
from pathlib import Path

import programs
import pytest

PROGRAM = Path(__file__).parent / "programs" / "boxmg_histories.py"


def history(case, options="", ranks=1):
    return programs.python(PROGRAM, f"{case} {options}", ranks).output


def solves(output):
    return [(int(reason), int(its), float(residual)) for reason, its, residual in re.findall(r"reason (-?\d+), iterations (\d+), residual (\S+)", output)]


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
def test_another_matrix_under_a_preconditioner_that_is_kept(ranks):
    first, second = solves(history("other", ranks=ranks))
    assert first[0] > 0 and first[2] <= 1e-9
    assert second[0] > 0 and second[2] <= 1e-9


@programs.needs_petsc4py
def test_a_grid_that_is_solved_directly_is_refined():
    ((reason, its, residual),) = solves(history("small", "-ksp_rtol 1e-13"))
    assert reason > 0 and its <= 5 and residual <= 1e-13


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_right_hand_side_of_zero_and_a_guess_that_is_not(ranks):
    ((reason, its, _),) = solves(history("zero", ranks=ranks))
    assert reason > 0 and its <= 12


@programs.needs_petsc4py
@pytest.mark.parametrize("options", ["", "-pc_boxmg_precision single"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_right_hand_side_that_is_not_finite(ranks, options):
    ((reason, its, solution),) = solves(history("infinite", f"-pc_boxmg_coarsest 14 {options}", ranks=ranks))
    assert reason < 0 and its == 0 and solution == 0


@programs.needs_petsc4py
def test_a_test_of_convergence_that_is_skipped():
    reason, its, _ = solves(history("other", "-ksp_convergence_test skip -ksp_max_it 3"))[0]
    assert (reason, its) == (4, 3)


@programs.needs_petsc4py
def test_single_precision_after_a_matrix_that_is_not_symmetric():
    assert float(re.search(r"asymmetry (\S+)", history("symmetric", "-pc_boxmg_precision single")).group(1)) < 1e-6


@programs.needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_stranger_in_new_values(ranks):
    assert "refused with error 75" in history("stranger", "-pc_boxmg_share 0", ranks)


@programs.needs_petsc4py
def test_levels_that_were_gathered_are_shared_and_gathered_again():
    three = solves(history("share", ranks=2))
    assert len(three) == 3 and all(reason > 0 and residual <= 1e-9 for reason, _, residual in three)
