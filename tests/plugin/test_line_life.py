"""One PCLINE through the life of a program: whatever came before, it does what a fresh one does, or fails as a fresh one."""

import re
from pathlib import Path

import programs
import pytest

pytestmark = programs.needs_petsc4py
PROGRAM = Path(__file__).with_name("programs") / "line_life.py"


def life(case, options="", ranks=1):
    return programs.python(PROGRAM, f"-case {case} {options}", ranks=ranks).output


def differences(output):
    return [abs(float(value)) for value in re.findall(r"^difference (\S+)$", output, re.M)]


@pytest.mark.parametrize("ranks", [1, 2])
def test_another_map_on_the_same_matrix_is_taken(ranks):
    output = life("another_map", ranks=ranks)
    assert len(differences(output)) == 3 and max(differences(output)) == 0, output


def test_omega_after_set_up_is_taken():
    output = life("another_omega")
    assert max(differences(output)) < 1e-14, output


def test_omega_after_set_up_chooses_the_ordering():
    output = life("damped_later")
    assert len(differences(output)) == 2 and max(differences(output)) < 1e-12, output


@pytest.mark.parametrize("kernel", ["auto", "thomas"])
def test_any_number_of_sweeps_of_one_tridiagonal_system(kernel):
    output = life("other_sweeps", f"-ksp_type preonly -pc_line_kernel {kernel}")
    residuals = [float(value) for value in re.findall(r"^reason 4 residual (\S+)$", output, re.M)]
    assert len(residuals) == 2 and max(residuals[kernel != "auto" :]) < 1e-13, output


@pytest.mark.parametrize("ranks", [1, 2])
def test_lines_without_roots_fail_every_time(ranks):
    output = life("both_sides", ranks=ranks)
    assert re.findall(r"finite (\w+)", output) == ["False", "False", "True"], output


@pytest.mark.parametrize("how", ["transpose", "convert"])
def test_products_of_a_matrix_that_was_replaced_in_place(how):
    output = life("in_place", f"-how {how}")
    assert len(differences(output)) == 3 and max(differences(output)) < 1e-13, output


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("options", ["", "-stored 0", "-pc_line_source rows", "-pc_line_kernel pcr -pc_line_ordering zebra", "-pc_line_precision single"])
def test_empty_rows_take_one(ranks, options):
    output = life("empty_rows", f"{options} -info :pc", ranks=ranks)
    assert output.count("2 rows are empty and take 1 on the diagonal") == 1, output
    assert len(differences(output)) == 3 and max(differences(output)) < (1e-5 if "single" in options else 1e-13), output


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("options", ["", "-pc_line_ordering zebra", "-pc_line_sweeps 2"])
def test_nan_is_no_convergence_under_richardson(ranks, options):
    output = life("nan_under_richardson", options, ranks=ranks)
    assert re.findall(r" (-?\d+)$", output, re.M) == ["-9", "-9"], output


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("kernel", ["auto", "thomas"])
def test_lines_of_blocks_on_a_graph(ranks, kernel):
    output = life("blocks", f"-pc_line_components together -pc_line_kernel {kernel} -view", ranks=ranks)
    assert max(differences(output)) == 0 and "lines: 4 of at most 15 rows of blocks" in output or ranks > 1, output
    residuals = [float(value) for value in re.findall(r"residual (\d\S*)", output)]
    assert len(residuals) == 2 and (ranks > 1 or max(residuals) < 1e-13), output
    assert max(float(value) for value in re.findall(r"adjoint (\S+)", output)) < 1e-12, output
    assert "of blocks" in output and ("cut where ranks meet" in output) == (ranks > 1)
    apart = life("blocks", f"-pc_line_components apart -pc_line_kernel {kernel} -view", ranks=ranks)
    assert "of blocks" not in apart and min(float(value) for value in re.findall(r"residual (\S+)", apart)) > 0.01, apart


@pytest.mark.parametrize("lines", ["grid", "graph"])
def test_the_estimated_omega_does_not_depend_on_the_ranks(lines):
    found = [float(re.search(r"omega (\S+) \(estimated\)", life("estimated_omega", f"-lines {lines}", ranks=ranks)).group(1)) for ranks in (1, 2, 4)]
    assert found == pytest.approx(3 * found[:1], rel=1e-4)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("options", ["", "-pc_line_ordering zebra", "-pc_line_ranks cut", "-pc_line_precision single"])
def test_lines_of_the_graph_follow_the_values(ranks, options):
    """Values turn the strong direction: everywhere, in a quarter of the rows, from equal couplings, and not at all."""
    output = life("turn", f"{options} -view", ranks=ranks)
    apart = differences(output)
    assert len(apart) == 6 and max(apart) == 0, output
    found = re.findall(r"lines found in set-up (\d+) of (\d+)", output)
    assert found == [("1", "2"), ("1", "3"), ("4", "4"), ("5", "5"), ("6", "6"), ("7", "7")], output


def test_how_far_lines_may_fall():
    never, always = life("turn", "-pc_line_find_again 0 -view"), life("turn", "-pc_line_find_again 2 -view")
    assert re.findall(r"lines found in set-up (\d)", never) == ["1"] * 6 and max(differences(never)) > 0.1, never
    assert re.findall(r"lines found in set-up (\d)", always) == list("234567"), always


@pytest.mark.parametrize("ranks", [1, 2])
def test_nothing_half_made_is_applied(ranks):
    output = life("caught", ranks=ranks)
    assert output.count("refused") == 10 and "applied" not in output, output
    assert len(differences(output)) == 5 and max(differences(output)) == 0, output


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("kernel", ["auto", "thomas", "cr-pcr"])
def test_pivots_that_are_rounding_converge_nowhere(ranks, kernel):
    output = life("tiny_pivots", f"-pc_line_kernel {kernel} -ksp_rtol 1e-9", ranks=ranks)
    reason, residual = re.search(r"reason (\S+) residual (\S+)", output).groups()
    assert int(reason) < 0 or float(residual) < 1e-6, output
