"""One tridiagonal system in its own order, on any ranks: what `-pc_type line` solves exactly by itself, and what every kernel does with rings,
with values that are no numbers, and with fewer rows than ranks."""

import re
from pathlib import Path

import pytest
from programs import needs_petsc4py, python, tridiagonal_kernels

PROGRAM = Path(__file__).parent / "programs" / "tridiagonal.py"
KERNELS = ",".join([*tridiagonal_kernels(), "auto"])

pytestmark = needs_petsc4py


def check(options, ranks):
    output = python(PROGRAM, f"-kernels {KERNELS} {options}", ranks=ranks).output
    found = re.search(r"cases: (\d+), wrong: (\d+)", output)
    assert found and int(found[1]) > 0 and int(found[2]) == 0, output


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_random_systems_and_rings_against_numpy(ranks, precision):
    check(f"-kind solve -cases 6 -seed {ranks} -pc_line_precision {precision}", ranks)


@pytest.mark.parametrize("ranks", [1, 3])
def test_what_is_no_number_never_converges_and_any_size_does(ranks):
    check("-kind values", ranks)


@pytest.mark.parametrize("ranks", [1, 3])
def test_singular_rings_are_a_zero_pivot_in_every_kernel(ranks):
    check("-kind singular", ranks)


@pytest.mark.parametrize("ranks", [1, 2, 8])
def test_fewer_rows_than_ranks(ranks):
    check("-kind few", ranks)


@pytest.mark.parametrize("options", ["", "-pc_line_ordering zebra", "-pc_line_ordering multicolor"])
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_constant_lines_whose_edges_differ(ranks, options):
    output = python(PROGRAM.with_name("constant_lines.py"), options, ranks=ranks).output
    assert "done" in output and "wrong" not in output


def test_bounds_of_the_check(run, tmp_path):
    # Pivots of 1e-9, by which thomas divides: it loses eight digits, which a step of refinement brings back.
    entries = [(i, i, 1e-9 if i % 2 else 1.0) for i in range(1, 41)]
    entries += [(*pair, 1.0 if i % 2 else 0.1) for i in range(1, 40) for pair in ((i, i + 1), (i + 1, i))]
    file = tmp_path / "pivots.mtx"
    file.write_text("%%MatrixMarket matrix coordinate real general\n40 40 118\n" + "".join(f"{i} {j} {a}\n" for i, j, a in entries))
    options = f"{file} -rhs solution -ksp_type preonly -pc_type line -pc_line_kernel thomas -ksp_view -info :pc"
    assert "each application takes a step of refinement" in run("weft_mm", options).output
    told = run("weft_mm", f"{options} -pc_line_check_warn 1e-3").output
    assert "CONVERGED_ITS" in told and "check: a random" in told and "refinement" not in told and "does nothing" not in told
    failed = run("weft_mm", f"{options} -pc_line_check_warn 0 -pc_line_check_fail 1e-20 -pc_line_kernel cr", expect=2).output
    assert "FACTOR_OTHER" in failed and "-pc_line_check_fail allows 1e-20: the kernel cr looks for no pivots; use pivoted, or auto" in failed
    wrong = run("weft_mm", f"{options} -pc_line_check_fail -1", expect=2).output
    assert "-pc_line_check_warn 1e-10, -pc_line_check_fail -1.: bounds of a residual must be non-negative" in wrong
    assert "-pc_line_check_fail does nothing here" in run("ex50", "-da_grid_x 9 -da_grid_y 9 -pc_type line -pc_line_check_fail 1e-2 -ksp_view").output


@pytest.mark.parametrize("ranks", [1, 3])
def test_values_that_are_no_longer_constant_fail_the_solve(ranks):
    options = "-ksp_type preonly -pc_type line -pc_line_source rows -pc_line_kernel toeplitz"
    reasons = python(PROGRAM.with_name("constant_no_more.py"), options, ranks=ranks).output.split("\n")
    assert reasons[:4] == ["reason 4", "reason -11", "reason -11", "reason 4"], reasons


@pytest.mark.parametrize("direction", ["x", "y"])
def test_auto_takes_toeplitz_where_lines_are_constant(run, direction):
    # Neumann rows: lines at the edges have coefficients of their own.
    options = f"-da_grid_x 40 -da_grid_y 40 -ksp_type gmres -pc_type line -pc_line_direction {direction} -ksp_view -ksp_converged_reason"
    constant = run("ex50", options)
    assert "kernel: toeplitz (auto)" in constant.output
    assert constant.iterations() == run("ex50", f"{options} -pc_line_kernel thomas").iterations()
    assert "kernel: thomas (auto)" in run("ex50", f"{options} -pc_line_sweeps 2").output
