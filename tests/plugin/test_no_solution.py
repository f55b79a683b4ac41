"""What is no solution is not called one: preconditioners that would hide from a Krylov method what they leave fail, or are right."""

import re
from pathlib import Path

import programs
import pytest

pytestmark = programs.needs_petsc4py
PROGRAM = Path(__file__).parent / "programs" / "no_solution.py"
FAILED, NOT_FINITE = -11, -9  # KSP_DIVERGED_PC_FAILED, KSP_DIVERGED_NANORINF


def solves(case, options="", ranks=1):
    """(reason, true residual) of each solve."""
    output = programs.python(PROGRAM, f"{case} {options}", ranks=ranks).output
    return [(int(reason), float(residual)) for reason, residual in re.findall(r"reason (-?\d+), residual (\S+)", output)]


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("ksp", ["cg", "gmres", "fgmres", "preonly", "richardson"])
def test_rows_that_the_only_grid_leaves_out(ksp, ranks):
    """The inverse of a finest grid is nothing where elimination finds no pivot, which no preconditioned residual shows."""
    boxmg = f"-ksp_type {ksp} -pc_type boxmg"
    for case, options in (("singular", ""), ("weak", "-weak 1e-13")):
        [(reason, _)] = solves(case, f"{boxmg} {options}", ranks)
        assert reason < 0 if ksp in ("fgmres", "richardson") else reason == FAILED, case  # these two look at true residuals
    for options in ("-in_range", "-in_range -attached"):
        [(reason, residual)] = solves("singular", f"{boxmg} {options}", ranks)
        assert reason > 0 and residual < 1e-7, options
    [(reason, residual)] = solves("weak", f"{boxmg} -weak 1e-8", ranks)
    assert reason > 0 and residual < 1e-6


def test_the_sentence_names_the_null_space():
    output = programs.python(PROGRAM, "singular -ksp_type cg -pc_type boxmg -info :pc").output
    assert "attach its null space (MatSetNullSpace)" in output


def test_the_last_reason_that_is_printed_stands():
    """PETSc prints one before a preconditioner sees the solution."""
    output = programs.python(PROGRAM, "singular -ksp_type cg -pc_type boxmg -ksp_converged_reason").output
    assert re.findall(r"due to (\w+)", output)[-2:] == ["DIVERGED_PC_FAILED", "FACTOR_OTHER"], output


def test_the_solver_of_a_coarsest_grid_may_leave_rows_out(run):
    """Products of PETSc's multigrid have no null space attached, and sweeps solve for what it leaves."""
    options = "-da_grid_x 3 -da_grid_y 3 -da_refine 4 -pc_type mg -pc_mg_galerkin -ksp_rtol 1e-8 -ksp_converged_reason"
    assert run("ex50", f"{options} -mg_coarse_pc_type boxmg").iterations() <= run("ex50", f"{options} -mg_coarse_pc_type svd").iterations() + 1


@pytest.mark.parametrize("options", ["-b 1e-12 -ksp_atol 1e-8", "-b 0 -guess"])
@pytest.mark.parametrize("ksp", ["cg", "gmres"])
def test_a_residual_that_is_small_by_itself_is_left_alone(ksp, options):
    [(reason, _)] = solves("singular", f"-ksp_type {ksp} -pc_type boxmg {options}")
    assert reason > 0


@pytest.mark.parametrize("ranks, options", [(1, "-pc_type boxmg"), (2, "-ksp_type preonly -pc_type crout -pc_crout_pattern full")])
def test_newtons_method_looks_at_residuals_of_its_own(ranks, options):
    """The Jacobian at the first guess is singular; blocks of ranks are a preconditioner of each step."""
    [(reason, _)] = solves("newton", f"{options} -snes_max_it 300", ranks)
    assert reason > 0


def test_a_solve_without_a_norm_that_is_no_number():
    assert [reason for reason, _ in solves("norms")] == 22 * [NOT_FINITE]


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("case", ["penalties", "penalties -penalty 1e9", "step", "step -ksp_adi_check_every 2"])
def test_rows_that_outweigh_their_couplings_count(case, ranks):
    """One line solve leaves nothing of the other rows, and their couplings in these."""
    output = programs.python(PROGRAM, f"{case} -ksp_type adi", ranks=ranks).output
    reason, error = re.search(r"reason (\d+).*error (\S+)", output, re.S).groups()
    assert int(reason) > 0 and float(error) < 2e-8, output


@pytest.mark.parametrize("penalty, value, seen", [(1e5, 1e12, 0), (1e5, 1e6, 0), (3e12, 1e10, 0), (7e20, 1e12, 0), (1e12, 1e9, 1e-9), (1e30, 1e9, 1e-9), (1e5, 1e9, 1e-9), (1e5, 1, 1)])
def test_known_values_say_nothing_of_other_rows(penalty, value, seen):
    """Neither large ones, nor the rounding of their rows."""
    output = programs.python(PROGRAM, f"insulated -penalty {penalty} -value {value} -seen {seen} -ksp_type adi").output
    reason, error = re.search(r"reason (-?\d+).*error (\S+)", output, re.S).groups()
    assert int(reason) > 0 and float(error) < 1e-7, output


def test_blocks_of_ranks_are_no_direct_solver():
    full = "-ksp_type preonly -pc_type crout -pc_crout_pattern full"
    [(reason, _)] = solves("blocks", full, 2)
    assert reason == FAILED
    for options, ranks in ((full, 1), (f"{full} -between 0", 2), (f"{full} -between 0 -pc_crout_precision single", 2), (full.replace("preonly", "gmres"), 2)):
        [(reason, residual)] = solves("blocks", options, ranks)
        assert reason > 0 and residual < 1e-5, options


def test_a_shift_that_leaves_nothing_of_the_matrix():
    output = programs.python(PROGRAM, "size -ksp_type gmres -pc_type crout -pc_crout_shift 1e60", expect=None).output
    assert "nothing is left of the matrix" in output and not solves("size", "-ksp_type gmres -pc_type crout -pc_crout_shift 1e10")[0][0] < 0
