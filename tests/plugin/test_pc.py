"""The PC interface of PCLINE, and what it says to wrong input."""

import programs
import pytest

# toeplitz takes lines with constant coefficients only
ANY_LINES = [kernel for kernel in programs.tridiagonal_kernels() if kernel != "toeplitz"]
PROBLEMS = ["-n 40", "-n 12,17", "-n 13,11,7", "-n 5,6,7 -dof 2"]
SETTINGS = ["", "-pc_line_ordering zebra", "-pc_line_sweeps 3 -pc_line_omega 0.7", "-pc_line_ordering zebra -pc_line_sweeps 2 -pc_line_kernel pcr"]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_transpose_is_the_adjoint(run, ranks, problem, settings):
    assert run("pc_probe", f"-pc_type line {problem} {settings}", ranks=ranks).number("adjoint difference") < 1e-12


@pytest.mark.parametrize("kernel", ANY_LINES)
@pytest.mark.parametrize("problem", ["-n 1", "-n 2", "-n 777", "-n 40,9 -stretch 1,0", "-n 4,5,300 -stretch 0,0,1"])
def test_one_sweep_solves_what_couples_along_lines_only(run, kernel, problem):
    assert run("pc_probe", f"-probe exact -pc_type line -pc_line_kernel {kernel} {problem}").number("exact difference") < 1e-12


@pytest.mark.parametrize("ranks", [1, 2])
def test_many_sweeps_solve_the_matrix(run, ranks):
    for ordering in ("jacobi", "zebra"):
        result = run("pc_probe", f"-probe exact -pc_type line -n 9,8 -pc_line_ordering {ordering} -pc_line_sweeps 1200", ranks=ranks)
        assert result.number("exact difference") < 1e-8


@pytest.mark.parametrize("ranks", [1, 2])
def test_kernel_parameters_change_the_way_not_the_result(run, ranks):
    plain = run("ex50", "-da_grid_x 65 -da_grid_y 40 -pc_type line -ksp_type gmres -ksp_converged_reason", ranks=ranks).iterations()
    for kernel in ("cr-pcr -pc_line_kernel_switch 9", "pcr-thomas -pc_line_kernel_steps 2", "cr-pcr-thomas -pc_line_kernel_slice 5",
                   "spike -pc_line_kernel_partitions 3", "tpr -pc_line_kernel_slice 8", "pivoted -pc_line_kernel_slice 7"):
        options = f"-da_grid_x 65 -da_grid_y 40 -pc_type line -ksp_type gmres -ksp_converged_reason -pc_line_kernel {kernel}"
        assert run("ex50", options, ranks=ranks).iterations() == plain


@pytest.mark.parametrize("kernel", programs.tridiagonal_kernels())
@pytest.mark.parametrize("rows", [2, 3, 9, 10, 500])
def test_one_line_is_solved_directly(run, kernel, rows):
    source = "-pc_line_source rows" if kernel == "toeplitz" else ""
    result = run("ex23", f"-n {rows} -ksp_type preonly -ksp_view_final_residual -pc_type line -pc_line_kernel {kernel} {source}")
    assert result.number("KSP final norm of residual") < 1e-10


def test_toeplitz_refuses_lines_that_change(run):
    failed = run("pc_probe", "-probe pivot -pc_type line -pc_line_kernel toeplitz", expect=None)
    assert failed.code != 0
    assert "-pc_line_kernel toeplitz needs lines that are all alike, or all alike but for those at the edges of the grid" in failed.output


def test_omega_damps(run):
    # One sweep of x = omega T^-1 b on a matrix that is T: the residual is (1 - omega) b.
    result = run("pc_probe", "-probe exact -pc_type line -n 50 -pc_line_omega 0.25")
    assert result.number("exact difference") == pytest.approx(0.75, rel=1e-10)


@pytest.mark.parametrize("ranks", [1, 2])
def test_new_values_are_taken(run, ranks):
    result = run("pc_probe", "-probe refresh -pc_type line", ranks=ranks)
    assert result.number("old values difference") > 1e-3
    assert result.number("refresh difference") == 0


def test_host_vectors_with_any_matrix(run):
    result = run("pc_probe", "-probe host -pc_type line")
    assert result.number("host difference") < 1e-14
    assert result.number("mixed difference") < 1e-14


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("kernel", ["thomas", "wide", "pivoted"])
@pytest.mark.parametrize("diagonal", ["nan", "inf"])
def test_bad_pivots_fail_the_pc_on_all_ranks(run, ranks, kernel, diagonal):
    output = run("pc_probe", f"-probe pivot -pc_type line -pc_line_kernel {kernel} -diagonal {diagonal}", ranks=ranks).output
    assert "DIVERGED_PC_FAILED FACTOR_NUMERIC_ZEROPIVOT" in output
    assert "then FACTOR_NOERROR" in output


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_bad_pivot_is_located_and_can_be_an_error(run, ranks):
    # 13 * 11 * 7 rows, the last one is bad
    for kernel in ANY_LINES:
        output = run("pc_probe", f"-probe pivot -pc_type line -pc_line_kernel {kernel} -diagonal nan -info :pc", ranks=ranks).output
        assert "zero or non-finite pivot of a line in row 1000" in output
    failed = run("pc_probe", "-probe pivot -pc_type line -diagonal nan -ksp_error_if_not_converged", ranks=ranks, expect=None)
    assert failed.code != 0
    assert "zero or non-finite pivot of a line in row 1000" in failed.output


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "probe, message",
    [("unassembled", "PCLINE needs an assembled matrix"), ("layout", "PCLINE requires equal local row and column sizes on every rank")],
)
def test_matrices_that_cannot_be_used(run, ranks, probe, message):
    failed = run("pc_probe", f"-probe {probe} -pc_type line", ranks=ranks, expect=None)
    assert failed.code != 0
    assert message in failed.output


def test_smoother_failure_reaches_the_outer_solver(run):
    output = run("pc_probe", "-probe pivot -pc_type composite -pc_composite_pcs line,jacobi").output
    assert "DIVERGED_" in output


@pytest.mark.parametrize(
    "options, message",
    [
        ("-pc_line_direction w", "w"),
        ("-pc_line_direction z -n 8,8", "-pc_line_direction z: this grid has 2 dimensions"),
        ("-pc_line_direction y -n 8", "-pc_line_direction y: this grid has 1 dimension"),
        ("-pc_line_kernel gauss", "gauss"),
        ("-pc_line_kernel_slice -1", "-pc_line_kernel_(switch|steps|partitions|slice|tolerance): none may be negative"),
        ("-pc_line_kernel wide -pc_line_kernel_slice 5", "-pc_line_kernel wide: a thread of 'wide' takes 4, 8 or 16 rows, not 5"),
        ("-pc_line_kernel spike -pc_line_components together -dof 2 -n 4,4", "spike for lines of blocks: they have thomas, wide and auto; take one of these"),
        ("-pc_line_sweeps 0", "-pc_line_sweeps 0: at least one sweep is needed"),
        ("-pc_line_omega -1", "-pc_line_omega -1.: the damping factor must be positive and finite"),
        ("-pc_line_omega 0", "the damping factor must be positive and finite"),
        ("-dm_mat_type sell", "PCLINE works on AIJ, BAIJ and SBAIJ matrices and this one is of type seqsell: use -mat_type aij"),
        ("-pc_line_direction xyz -n 8,8", "-pc_line_direction xyz: this grid has 2 dimensions"),
        ("-pc_line_plane_cycles 2 -pc_line_direction x", "-pc_line_plane_cycles needs the two directions of the planes"),
        ("-pc_line_plane_cycles 2 -pc_line_direction xy -n 8,8", "-pc_line_plane_cycles needs a grid of 3 dimensions, and this one has 2"),
        ("-pc_line_components together -dof 9 -n 3,3", f"a node has 9 unknowns and lines of blocks take at most {programs.setting('WEFT_LARGEST_BLOCK', '8')}; use apart"),
        ("-pc_line_source rows -pc_line_ordering zebra", "-pc_line_ordering zebra: the rows in their order are one line; use jacobi"),
        ("-pc_line_source graph -pc_line_direction x", "are for the lines of a grid, and lines from -pc_line_source graph are asked for"),
        ("-pc_line_source rows -pc_line_plane_cycles 2", "are for the lines of a grid, and lines from -pc_line_source rows are asked for"),
    ],
)
def test_wrong_options_say_what_to_do(run, options, message):
    failed = run("pc_probe", f"-pc_type line {options}", expect=None)
    assert failed.code != 0
    assert message in failed.output


@pytest.mark.parametrize(
    "options, message",
    [
        ("-pc_line_direction y", "-pc_line_direction y needs a grid and none is known for this matrix"),
        ("-pc_line_source grid", "-pc_line_source grid needs a grid and none is known for this matrix"),
        ("-pc_line_source map", "-pc_line_source map needs a map"),
        ("-pc_line_kernel toeplitz", "-pc_line_kernel toeplitz needs lines whose coefficients do not change along them, of a grid"),
        ("-pc_line_plane_cycles 2", "-pc_line_plane_cycles needs a grid of 3 dimensions and none is known for this matrix"),
    ],
)
def test_without_a_grid(run, options, message):
    failed = run("ex2", f"-pc_type line {options}", expect=None)
    assert failed.code != 0
    assert message in failed.output


@pytest.mark.parametrize("program", ["pc_probe", "two_rounds"])
def test_nothing_of_petscs_memory_is_left(run, program):
    output = run(program, "-pc_type line -malloc_debug -malloc_dump").output
    assert "bytes" not in output and len(output.splitlines()) <= 2, output
