"""The solver type crout and PCCROUT: against PETSc's own factorizations, and what they say to wrong input."""

import json
import os
import pathlib
import re
import subprocess

import programs
import pytest

MATRICES = pathlib.Path(os.environ["WEFT_SOURCE"]) / "matrices"
SOLVER = "-pc_factor_mat_solver_type crout"


def iterations(run, program, options, ranks=1):
    return run(program, f"{options} -ksp_converged_reason", ranks=ranks).iterations()


# ------------------------------------------------------------------------------------------------- the solver type, call by call


@pytest.mark.parametrize("n, ordering", [(1, "natural"), (2, "rcm"), (3, "nd"), (17, "rcm"), (400, "nd")])
@pytest.mark.parametrize("factor", ["lu", "cholesky"])
def test_complete_factors_solve(run, n, factor, ordering):
    result = run("factor_probe", f"-probe solve -factor {factor} -n {n} -ordering {ordering}")
    for name in ("residual", "transposed residual", "adjoint", "PETSc's", "MatMatSolve", "MatMatSolve with gaps",
                 "MatMatSolveTranspose", "MatSolveAdd"):
        assert result.number(f"{name} difference") < 1e-12, result.output
    assert result.number("repeat difference") == 0


@pytest.mark.parametrize("factor", ["ilu", "icc"])
@pytest.mark.parametrize("levels, ordering", [(0, "natural"), (1, "rcm"), (3, "natural")])
def test_incomplete_factors_are_petscs(run, factor, levels, ordering):
    result = run("factor_probe", f"-probe solve -factor {factor} -n 211 -levels {levels} -ordering {ordering}")
    for name in ("PETSc's", "adjoint", "MatMatSolve", "MatSolveAdd"):
        assert result.number(f"{name} difference") < 1e-12, result.output
    assert result.number("repeat difference") == 0


def test_fill_is_told(run):
    none = run("factor_probe", "-probe solve -factor ilu -n 211")
    some = run("factor_probe", "-probe solve -factor ilu -n 211 -levels 1")
    assert none.number("needed") == pytest.approx(1)
    assert none.number("fill given") == 5
    assert some.number("needed") > 1.02
    assert some.number("nz_used") == pytest.approx(some.number("needed") * none.number("nz_used"), rel=1e-4)
    for line in ("package used to perform factorization: crout", "L U of 211 rows, fill of level 1", "triangles: ", "in double precision on the host"):
        assert line in some.output


@pytest.mark.parametrize("factor", ["cholesky", "icc"])
def test_symmetric_storage(run, factor):
    result = run("factor_probe", f"-probe solve -factor {factor} -n 60 -matrix_type seqsbaij")
    assert result.number("PETSc's difference") < 1e-12
    if factor == "cholesky":
        assert result.number("residual difference") < 1e-12


@pytest.mark.parametrize("n", [1, 2, 7, 90])
@pytest.mark.parametrize("factor", ["lu", "cholesky"])
def test_dense_matrices(run, n, factor):
    result = run("factor_probe", f"-probe solve -factor {factor} -n {n} -matrix_type seqdense")
    for name in ("PETSc's", "residual", "transposed residual", "MatMatSolve", "MatMatSolve with gaps", "MatMatSolveTranspose"):
        assert result.number(f"{name} difference") < 1e-11, result.output


def test_other_storage_under_pccrout(run):
    dense = run("factor_probe", "-probe options -n 60 -matrix_type seqdense -pc_type crout -ksp_rtol 1e-10 -ksp_view")
    assert re.findall(r"after (\d+) iterations", dense.output) == ["1", "1"], dense.output
    assert "L U of 60 rows, dense, sections of" in dense.output
    assert dense.number("PCMatApply difference") < 1e-14
    for ranks in (1, 2):
        options = "-m 20 -n 13 -pc_type crout -ksp_rtol 1e-9"
        aij = iterations(run, "ex2", options, ranks)
        assert iterations(run, "ex2", f"{options} -mat_type sbaij -mat_ignore_lower_triangular", ranks) == aij


def test_inertia_is_petscs(run):
    for options in ("", "-indefinite"):
        output = run("factor_probe", f"-probe inertia -factor cholesky -n 90 {options}").output
        ours, theirs = re.findall(r"inertia (\d+ \d+ \d+)", output)
        assert ours == theirs
    assert ours != "0 0 90"


@pytest.mark.parametrize("factor", ["lu", "ilu"])
def test_new_values_are_taken(run, factor):
    result = run("factor_probe", f"-probe refactor -factor {factor}")
    assert result.number("old values difference") > 1e-3
    assert result.number("refactor difference") < 1e-12


def test_factors_without_values_solve_nothing(run):
    result = run("factor_probe", "-probe early", expect=None)
    assert "these factors have a pattern and no values" in result.output


@pytest.mark.parametrize("factor", ["lu", "ilu"])
def test_another_pattern_is_noticed(run, factor):
    result = run("factor_probe", f"-probe swap -factor {factor}")
    assert result.number("swap difference") < 1e-12
    assert result.number("replaced difference") < 1e-12


@pytest.mark.parametrize("pc", [f"-pc_type ilu {SOLVER}", f"-pc_type lu {SOLVER} -pc_factor_reuse_ordering -pc_factor_reuse_fill", "-pc_type crout",
                                "-pc_type crout -pc_crout_pattern full"])
def test_new_nonzeros_between_solves(run, pc):
    result = run("factor_probe", f"-probe pattern {pc} -ksp_rtol 1e-10")
    assert result.output.count("CONVERGED_RTOL") == 2, result.output
    assert result.number("pattern difference") < 1e-8


# ---------------------------------------------------------------------------------------------------- PETSc's programs, untouched


def test_plain_ilu_stays_petscs(run):
    assert "package used to perform factorization: petsc" in run("ex2", "-pc_type ilu -ksp_view").output
    assert "package used to perform factorization: crout" in run("ex2", f"-pc_type ilu {SOLVER} -ksp_view").output


EX2, EX50, EX45, EX23 = "ex2 -m 40 -n 30", "ex50 -da_grid_x 21 -da_grid_y 33", "ex45 -da_grid_x 9 -da_grid_y 8 -da_grid_z 7", "ex23 -n 300"


@pytest.mark.parametrize("program, options", [
    (EX45, "-pc_type ilu"), (EX2, "-pc_type ilu -pc_factor_levels 2"), (EX50, "-pc_type icc -ksp_type cg"),
    (EX2, "-pc_type icc -pc_factor_levels 1 -ksp_type cg"), (EX45, "-pc_type ilu -pc_factor_mat_ordering_type rcm"),
    (EX50, "-pc_type ilu -pc_factor_nonzeros_along_diagonal"), (EX2, "-pc_type ilu -pc_factor_shift_type nonzero"),
])
def test_as_many_iterations_as_petscs(run, program, options):
    name, _, size = program.partition(" ")
    theirs = iterations(run, name, f"{size} {options} -ksp_rtol 1e-9")
    assert abs(iterations(run, name, f"{size} {options} {SOLVER} -ksp_rtol 1e-9") - theirs) <= 1


@pytest.mark.parametrize("program, options", [
    (EX2, "-pc_type cholesky"), (EX23, "-pc_type lu"), (EX45, "-pc_type lu -pc_factor_mat_ordering_type rcm"),
])
def test_complete_factors_need_one_iteration(run, program, options):
    name, _, size = program.partition(" ")
    assert iterations(run, name, f"{size} {options} {SOLVER} -ksp_rtol 1e-8") == 1
    assert iterations(run, name, f"{size} -pc_type crout -pc_crout_pattern full -ksp_rtol 1e-8") == 1


@pytest.mark.parametrize("ranks, pc", [(1, "asm"), (2, "bjacobi"), (3, "asm"), (4, "bjacobi")])
def test_blocks_on_several_ranks(run, ranks, pc):
    options = f"-m 24 -n 20 -ksp_rtol 1e-9 -pc_type {pc}"
    theirs = iterations(run, "ex2", f"{options} -sub_pc_type ilu", ranks)
    assert iterations(run, "ex2", f"{options} -sub_pc_type ilu -sub_{SOLVER[1:]}", ranks) == theirs
    assert iterations(run, "ex2", f"{options} -sub_pc_type crout", ranks) == theirs
    if pc == "bjacobi":
        assert iterations(run, "ex2", "-m 24 -n 20 -ksp_rtol 1e-9 -pc_type crout", ranks) == theirs


def test_several_blocks_a_rank(run):
    options = "-m 24 -n 20 -ksp_rtol 1e-9 -pc_type bjacobi -pc_bjacobi_blocks 5"
    theirs = iterations(run, "ex2", f"{options} -sub_pc_type ilu")
    assert iterations(run, "ex2", f"{options} -sub_pc_type ilu -sub_{SOLVER[1:]}") == theirs


@pytest.mark.parametrize("matrix, options", [
    ("HB__orsirr_1", "-pc_type ilu"), ("HB__gr_30_30", "-pc_type icc -ksp_type cg"), ("HB__sherman3", "-pc_type lu"),
    ("HB__bcsstk08", "-pc_type cholesky"), ("HB__sherman1", "-pc_type ilu -pc_factor_levels 1"),
])
def test_real_matrices(run, matrix, options):
    command = f"-f {MATRICES / matrix}.mtx.gz {options} -ksp_rtol 1e-8 -ksp_max_it 3000"
    theirs = iterations(run, "weft_mm", command)
    assert abs(iterations(run, "weft_mm", f"{command} {SOLVER}") - theirs) <= max(1, theirs // 10)


@pytest.mark.parametrize("matrix", ["Bai__olm1000", "Hamm__add20", "HB__nos1", "HB__sherman5", "HB__west0067", "JGD_Trefethen__Trefethen_500"])
def test_pccrout_solves_what_petscs_ilu_solves(run, matrix):
    command = f"-f {MATRICES / matrix}.mtx.gz -ksp_rtol 1e-8 -ksp_max_it 1000"
    if run("weft_mm", f"{command} -pc_type ilu", expect=None).code == 0:
        assert run("weft_mm", f"{command} -pc_type crout", expect=None).code == 0


# -------------------------------------------------------------------------------------------------------------------- PCCROUT

PROBLEMS = ["-n 40", "-n 12,17", "-n 9,7,5", "-n 5,6,4 -dof 2"]
SETTINGS = ["", "-pc_crout_levels 1", "-pc_crout_pattern full", "-pc_crout_pattern threshold -pc_crout_droptol 1e-2", "-pc_crout_trisolve jacobi",
            "-pc_crout_trisolve isai", "-pc_crout_method sweeps -pc_crout_omega 0.7", "-pc_crout_ordering rcm", "-pc_crout_scaling ruiz",
            "-pc_crout_precision single"]


@pytest.mark.parametrize("ranks, settings", [(3 if index % 4 == 0 else 1, settings) for index, settings in enumerate(SETTINGS)])
def test_transpose_is_the_adjoint(run, ranks, settings):
    problem = PROBLEMS[SETTINGS.index(settings) % len(PROBLEMS)]
    difference = run("pc_probe", f"-pc_type crout {problem} {settings}", ranks=ranks).number("adjoint difference")
    assert difference < (1e-5 if "single" in settings else 1e-12)


@pytest.mark.parametrize("problem, trisolve", [("-n 1", "auto"), ("-n 2", "levels"), ("-n 77", "syncfree"), ("-n 12,9", "levels"), ("-n 5,6,7 -dof 2", "auto")])
def test_full_pattern_is_a_direct_solver(run, problem, trisolve):
    options = f"-probe exact -pc_type crout -pc_crout_pattern full {problem} -pc_crout_trisolve {trisolve}"
    assert run("pc_probe", options).number("exact difference") < 1e-11


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("settings", ["", "-pc_crout_method sweeps"])
def test_pccrout_takes_new_values(run, ranks, settings):
    result = run("pc_probe", f"-probe refresh -pc_type crout {settings}", ranks=ranks)
    assert result.number("old values difference") > 1e-3
    assert result.number("refresh difference") < (2e-2 if settings else 1e-13)


def test_host_vectors_with_any_matrix(run):
    result = run("pc_probe", "-probe host -pc_type crout")
    assert result.number("host difference") < 1e-14
    assert result.number("mixed difference") < 1e-14


def test_sweeps_come_closer(run):
    counts = [iterations(run, "ex50", f"-da_grid_x 33 -da_grid_y 33 -pc_type crout -pc_crout_sweeps {sweeps} -ksp_rtol 1e-9") for sweeps in (1, 3, 8)]
    exact = iterations(run, "ex50", "-da_grid_x 33 -da_grid_y 33 -pc_type ilu -ksp_rtol 1e-9")
    assert counts[0] >= counts[1] >= counts[2] >= exact - 1
    assert counts[2] <= 1.05 * exact + 1
    history = run("ex50", "-da_grid_x 33 -da_grid_y 33 -pc_type crout -pc_crout_sweeps 8 -pc_crout_monitor").output
    residuals = [float(word) for word in re.findall(r"residual of the factors ([\d.e+-]+)", history)]
    assert len(residuals) >= 8 and residuals[-1] < 1e-2 * residuals[0]


def test_the_method_is_the_one_asked_for(run):
    for method, made in (("sweeps", r"factors: [1-9]\d* sweeps, omega 1"), ("exact", "factors: exact elimination"), ("auto", "factors: ")):
        assert re.search(made, run("ex50", f"-da_grid_x 9 -da_grid_y 9 -pc_type crout -pc_crout_method {method} -ksp_view").output)
    assert re.search("factors: 3 sweeps, omega 0.8", run("ex50", "-pc_type crout -pc_crout_omega 0.8 -pc_crout_sweeps 3 -ksp_view").output)
    assert ", 4 sections" in run("ex50", "-da_grid_x 9 -da_grid_y 9 -pc_type crout -pc_crout_sections 4 -ksp_view").output


def test_options_between_solves_are_heard(run):
    result = run("factor_probe", "-probe options -n 300 -pc_type crout")
    counts = re.findall(r"after (\d+) iterations", result.output)
    assert int(counts[0]) > 1 and int(counts[1]) == 1
    assert result.number("PCMatApply difference") < 1e-14


def test_tolerance_stops_the_sweeps(run):
    output = run("ex50", "-da_grid_x 33 -da_grid_y 33 -pc_type crout -pc_crout_rtol 1e-8 -pc_crout_monitor").output
    residuals = [float(word) for word in re.findall(r"residual of the factors ([\d.e+-]+)", output)]
    assert residuals[-1] <= 1e-8 or residuals[-2] <= 1e-7
    assert len(residuals) < 60


def test_symmetry_is_taken_from_the_matrix_or_the_user(run):
    assert "L U of" in run("ex45", "-pc_type crout -ksp_view").output
    assert "L D L^T of" in run("ex45", "-pc_type crout -pc_crout_symmetric -ksp_type cg -ksp_view").output


def test_view_says_what_was_chosen(run):
    output = run("ex2", "-m 12 -n 10 -pc_type crout -ksp_view").output
    for line in ("type: crout", "ordering: natural (auto)", "L D L^T of 120 rows, fill of level 0", "scaling: by the diagonal", "factors: ",
                 "triangles: ", "in double precision on the host"):
        assert line in output, output
    output = run("ex2", "-m 12 -n 10 -pc_type crout -pc_crout_pattern full -pc_crout_precision single -ksp_view", ranks=2).output
    for line in ("one block a rank (block Jacobi), 2 blocks", "all fill", "in single precision"):
        assert line in output, output


def test_all_options_are_used(run):
    options = ("-pc_type crout -pc_crout_pattern threshold -pc_crout_levels 0 -pc_crout_droptol 1e-2 -pc_crout_row_quota 9 -pc_crout_method sweeps "
               "-pc_crout_sweeps 4 -pc_crout_rtol 1e-3 -pc_crout_omega 0.9 -pc_crout_sections 1 -pc_crout_async -pc_crout_shift 0.01 "
               "-pc_crout_scaling ruiz -pc_crout_ordering rcm -pc_crout_symmetric 0 -pc_crout_trisolve jacobi -pc_crout_trisolve_steps 6 "
               "-pc_crout_precision single -pc_crout_monitor 0")
    output = run("ex2", f"{options} -options_left").output
    assert "pc_crout" not in output.split("There are")[-1].split("Option left")[-1].replace(options, ""), output
    helped = run("ex2", "-pc_type crout -help").output
    for word in re.findall(r"-pc_crout_\w+", options):
        assert word in helped


# ------------------------------------------------------------------------------------------------------------------- wrong input


@pytest.mark.parametrize("pc", ["-pc_type crout", "-pc_type crout -pc_crout_pattern full", f"-pc_type lu {SOLVER}", f"-pc_type ilu {SOLVER}"])
@pytest.mark.parametrize("bad", ["singular", "empty_row", "empty_column", "nan", "inf"])
def test_matrices_that_cannot_be_factored(run, pc, bad):
    shift = "-pc_factor_shift_type none" if SOLVER in pc else ""
    output = run("factor_probe", f"-probe bad -bad {bad} -n 20 {pc} {shift} -info :pc,mat").output
    if bad == "empty_column" and pc in ("-pc_type crout", f"-pc_type ilu {SOLVER}"):  # shifts make incomplete factors of any matrix
        assert "DIVERGED_" in output, output
        return
    assert "DIVERGED_PC_FAILED FACTOR_" in output, output
    row = r"Report\(\): .*row \d+" if bad == "empty_column" else r"Report\(\): .*row 10\b"  # rows are permuted before the one without a pivot is met
    assert re.search(row, output), output


@pytest.mark.parametrize("pc", ["-pc_type crout", f"-pc_type ilu {SOLVER}"])
def test_a_failure_can_be_an_error(run, pc):
    failed = run("factor_probe", f"-probe bad -bad nan -n 20 {pc} -ksp_error_if_not_converged", expect=None)
    assert failed.code != 0
    assert "the matrix has a value that is not finite in row 10: look at what the program puts there" in failed.output


@pytest.mark.parametrize("pc", ["-pc_type crout", f"-pc_type lu {SOLVER}"])
@pytest.mark.parametrize("bad", ["zero_diagonal", "missing_diagonal"])
def test_zeros_on_the_diagonal_are_permuted_away(run, pc, bad):
    assert "CONVERGED_RTOL" in run("factor_probe", f"-probe bad -bad {bad} -n 20 {pc}").output


@pytest.mark.parametrize("pc, shift, made", [
    ("lu", "none", "zero pivot in row 19"), ("lu", "nonzero", "diagonal shifted by"), ("lu", "nonzero -pc_factor_shift_amount 1e-3", "diagonal shifted by 0.001"),
    ("ilu", "inblocks", "1 pivot replaced"), ("cholesky", "positive_definite", "diagonal shifted by 0.001"),
])
def test_shifts_are_petscs(run, pc, shift, made):
    options = f"-probe bad -bad neumann -n 20 -pc_type {pc} {SOLVER} -pc_factor_mat_ordering_type natural -pc_factor_shift_type {shift} -info :mat"
    output = run("factor_probe", options).output
    assert made in output, output
    assert ("DIVERGED_PC_FAILED FACTOR_NUMERIC_ZEROPIVOT" in output) == (shift == "none")


@pytest.mark.parametrize("options", ["-pc_type crout -pc_crout_pattern full", f"-pc_type lu {SOLVER}", f"-pc_type cholesky {SOLVER}"])
def test_complete_factors_of_a_singular_matrix_are_no_result(run, options):
    """A shift that nobody asked for would solve another system."""
    assert "DIVERGED_PC_FAILED FACTOR_NUMERIC_ZEROPIVOT" in run("factor_probe", f"-probe bad -bad neumann -n 20 {options} -ksp_type preonly").output


def test_symmetric_factors_cannot_permute_rows(run):
    options = "-probe bad -bad zero_diagonal -n 1 -info :pc -pc_type crout -pc_crout_pattern full -pc_crout_symmetric"
    output = run("factor_probe", options).output
    assert "DIVERGED_PC_FAILED FACTOR_NUMERIC_ZEROPIVOT" in output, output
    assert "zero pivot in row 0" in output and "without symmetry (-pc_type ilu or lu, -pc_crout_symmetric 0) rows can be permuted" in output


@pytest.mark.parametrize("pc", ["-pc_type crout", f"-pc_type lu {SOLVER}"])
def test_rectangular_matrices_are_refused(run, pc):
    failed = run("factor_probe", f"-probe bad -bad rectangular -n 20 {pc}", expect=None)
    assert failed.code != 0
    assert "square" in failed.output


@pytest.mark.parametrize("pc", ["-pc_type crout", f"-pc_type lu {SOLVER}", f"-pc_type ilu {SOLVER}", f"-pc_type icc {SOLVER}"])
@pytest.mark.parametrize("rows", [0, 1])
def test_no_row_and_one_row(run, pc, rows):
    assert "CONVERGED" in run("factor_probe", f"-probe bad -bad none -n {rows} {pc}").output


@pytest.mark.parametrize("pc", [f"-pc_type lu {SOLVER} -pc_factor_mat_ordering_type natural", "-pc_type crout -pc_crout_pattern full -pc_crout_ordering natural"])
def test_fill_that_does_not_fit_into_memory(pc):
    def limited(options):
        command = f"ulimit -v 700000; exec {programs.BUILD / 'bin' / 'ex2'} -dll_append {programs.LIBRARY} -ksp_converged_reason {options}"
        return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300, env=programs.ENVIRONMENT)

    if limited("-pc_type line").returncode != 0:
        pytest.skip("this stack does not start in little memory")
    result = limited(f"-m 250 -n 250 {pc}")
    assert "PC failed due to FACTOR_OUTMEMORY" in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("pc, option", [("-pc_type crout -pc_crout_pattern full", "-pc_crout"), (f"-pc_type lu {SOLVER}", "-mat_crout"),
                                        (f"-pc_type cholesky {SOLVER}", "-mat_crout")])
def test_complete_factors_that_take_too_long_are_refused(run, pc, option):
    told = r"all fill: [\d.e+]+ entries, [\d.]+ times the matrix', [\d.e+]+ multiplications"
    refused = run("ex2", f"-m 30 -n 30 {pc} {option}_most_operations 1000 -ksp_converged_reason -info :pc,mat", expect=None).output
    assert "FACTOR_OTHER" in refused
    assert re.search(rf"{told}, more than the 1e\+03 that are allowed", refused), refused
    assert re.search(f"predicted: {told}", run("ex2", f"-m 30 -n 30 {pc} {option}_most_operations 1e9 -ksp_view").output)


@pytest.mark.parametrize("ranks, diagonal", [(1, "nan"), (2, "inf"), (3, "nan")])
def test_a_failure_on_one_rank_is_one_on_all(run, ranks, diagonal):
    output = run("pc_probe", f"-probe pivot -pc_type crout -diagonal {diagonal}", ranks=ranks).output
    assert "DIVERGED_PC_FAILED FACTOR_" in output
    assert "then FACTOR_NOERROR" in output
    failed = run("pc_probe", f"-probe pivot -pc_type crout -diagonal {diagonal} -ksp_error_if_not_converged", ranks=ranks, expect=None)
    assert failed.code != 0
    assert "row" in failed.output
    if ranks > 1:
        assert f"in the block of rank {ranks - 1}, which begins with row" in failed.output


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("probe, message", [
    ("unassembled", "PCCROUT needs an assembled matrix"),
    ("layout", "PCCROUT requires equal local row and column sizes on every rank"),
])
def test_matrices_that_cannot_be_used(run, ranks, probe, message):
    failed = run("pc_probe", f"-probe {probe} -pc_type crout", ranks=ranks, expect=None)
    assert failed.code != 0
    assert message in failed.output


@pytest.mark.parametrize("options, message", [
    ("-pc_type lu -pc_crout_check_fail -1", "-pc_crout_check_fail -1.: bounds of a residual must be non-negative"),
    ("-pc_type ilu -pc_factor_levels 60001", "-pc_factor_levels 60001: levels of fill are from 0 to 60000"),
])
def test_wrong_options_of_the_solver_type(run, options, message):
    failed = run("pc_probe", f"-pc_factor_mat_solver_type crout {options}", expect=None)
    assert failed.code != 0 and message in failed.output


@pytest.mark.parametrize("options, message", [
    ("-pc_crout_pattern some", "some"),
    ("-pc_crout_levels -1", "-pc_crout_levels -1: levels of fill are from 0 to 60000"),
    ("-pc_crout_levels 60001", "-pc_crout_levels 60001: levels of fill are from 0 to 60000"),
    ("-pc_crout_droptol -1", "the tolerance must be non-negative"),
    ("-pc_crout_row_quota -1", "the quota must be non-negative, 0 for automatic"),
    ("-pc_crout_sweeps -1", "the number of sweeps must be non-negative, 0 for automatic"),
    ("-pc_crout_rtol -1", "the tolerance must be non-negative"),
    ("-pc_crout_omega 1.5", "the relaxation factor must be in (0, 1], or 0 for automatic"),
    ("-pc_crout_sections -1", "the number of sections must be non-negative, 0 for automatic"),
    ("-pc_crout_shift -1", "the shift must be at least 0 and at most 1 over the machine's epsilon"),
    ("-pc_crout_ordering best", "this PETSc has no ordering of that name"),
    ("-pc_crout_trisolve gauss", "gauss"),
    ("-pc_crout_trisolve_steps -1", "the number of steps must be non-negative, 0 for automatic"),
    ("-dm_mat_type sell", "PCCROUT works on AIJ, BAIJ, SBAIJ and dense matrices and this one is of type seqsell"),
])
def test_wrong_options_say_what_to_do(run, options, message):
    failed = run("pc_probe", f"-pc_type crout {options}", expect=None)
    assert failed.code != 0
    assert message in failed.output


def test_solver_type_on_other_matrices_is_refused(run):
    failed = run("ex2", f"-pc_type lu {SOLVER}", ranks=2, expect=None)
    assert failed.code != 0
    assert "MatSolverType crout does not support matrix type mpiaij" in failed.output


@pytest.mark.parametrize("options", ["-pc_type crout", f"-pc_type lu {SOLVER}", f"-pc_type icc {SOLVER}"])
def test_nothing_of_petscs_memory_is_left(run, options):
    for program in ("two_rounds", "factor_probe -probe pattern"):
        name, _, more = program.partition(" ")
        output = run(name, f"{more} {options} -malloc_debug -malloc_dump").output
        assert "bytes" not in output, output


def test_sweep_study(run, tmp_path):
    path = tmp_path / "study.json"
    command = f"-f {MATRICES / 'Bai__pde900.mtx.gz'} -sweep-study 1,4,12 -ksp_rtol 1e-8 -json {path}"
    output = run("weft_mm", command).output
    rows = re.findall(r"^(\d+|exact) +(\S+) +(\d+) ", output, re.MULTILINE)
    assert [row[0] for row in rows] == ["1", "4", "12", "exact"], output
    assert float(rows[0][1]) > 5 * float(rows[1][1])
    assert int(rows[0][2]) >= int(rows[2][2]) == int(rows[3][2])
    history = json.loads(path.read_text())["results"][2]["history"]
    assert len(history) == 12 and f"{history[4]:.3e}" == rows[1][1]
    refused = run("weft_mm", command.replace("1,4,12", "0"), expect=1)
    assert "-sweep-study takes numbers of sweeps" in refused.output
