"""After a failure, and where a right-hand side has no solution, a solver says what a fresh one would."""

import re
from pathlib import Path

import programs
import pytest

pytestmark = programs.needs_petsc4py
PROGRAM = Path(__file__).with_name("programs") / "histories.py"


def history(case, options="", ranks=1):
    return programs.python(PROGRAM, f"-case {case} {options}", ranks=ranks).output


@pytest.mark.parametrize("kind", ["lu", "cholesky", "ilu", "icc"])
def test_factors_that_failed_are_made_again_with_other_values(kind):
    output = history("after_a_failure", f"-pc_type {kind} -pc_factor_mat_solver_type crout -ksp_type richardson")
    assert "failed nan True" in output and re.findall(r"^after \S+ (\w+)$", output, re.M) == ["True"] * 3, output


@pytest.mark.parametrize("ranks", [1, 3])
def test_one_tridiagonal_system_with_an_empty_row(ranks):
    output = history("empty_row", "-ksp_type preonly -pc_type line", ranks=ranks)
    assert re.findall(r"^reason (-?\d+)$", output, re.M) == ["-11", "4"], output


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("kind", ["line", "adi", "bcr", "boxmg", "crout", "crout -pc_crout_pattern full"])
def test_one_application_to_what_is_no_number(ranks, kind):
    output = history("no_number", f"-ksp_type preonly -pc_type {kind}", ranks=ranks)
    assert re.findall(r"^reason (-?\d+)$", output, re.M) == ["-9"], output


def test_lines_are_found_in_each_set_up_where_that_is_asked_for():
    output = history("found_again", "-pc_type line -pc_line_source graph -pc_line_find_again 2")
    assert re.findall(r"^difference (\S+)$", output, re.M) == ["0.0"], output


@pytest.mark.parametrize("ranks", [1, 2])
def test_more_cycles_are_tried_before_they_are_used(ranks):
    output = history("more_cycles", "-ksp_type gmres -pc_type adi -pc_adi_shifts 0.4 -ksp_rtol 1e-8", ranks=ranks)
    assert re.findall(r"^reason (-?\d+)$", output, re.M) == ["2", "-11"], output


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("kind", ["line", "adi", "boxmg"])
def test_values_in_place_take_the_iterations_of_a_fresh_solver(kind, ranks):
    output = history("in_place", f"-ksp_type richardson -ksp_richardson_scale 0.9 -pc_type {kind} -ksp_max_it 500", ranks=ranks)
    counts = re.findall(r"^iterations (\d+)$", output, re.M)
    assert len(counts) == 2 and counts[0] == counts[1], output


@pytest.mark.parametrize("ranks", [1, 2])
def test_penalties_in_place_hide_nothing(ranks):
    output = history("penalties_in_place", "-ksp_type adi -ksp_rtol 1e-8", ranks=ranks)
    left = [float(value) for value in re.findall(r"^left (\S+)$", output, re.M)]
    assert len(left) == 2 and max(left) < 1e-5, output


@pytest.mark.parametrize("ranks", [1, 2])
def test_kspadi_solves_with_pcadi_whatever_pc_it_was_given_since(ranks):
    output = history("another_pc", "-ksp_type adi", ranks=ranks)
    found = re.findall(r"^iterations (\d+) (\w+)$", output, re.M)
    assert len(found) == 3 and set(found) == {(found[0][0], "adi")}, output


@pytest.mark.parametrize("ranks", [1, 2])
def test_kspadi_that_looks_at_no_norm_fails_with_its_pc(ranks):
    output = history("fails_in_place", "-ksp_type adi -ksp_norm_type none -ksp_max_it 5", ranks=ranks)
    assert re.findall(r"^reason (-?\d+)$", output, re.M) == ["4", "-11"], output
