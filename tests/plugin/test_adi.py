"""PCADI and KSPADI: PETSc's tutorials untouched, what cycles are worth, several ranks, masked domains, wrong input."""

import math
import re
from pathlib import Path

import programs
import pytest

LINE_SOLVERS = [solver for solver in programs.option_lists()["pc_adi_line_solver"] if solver != "auto"]


def grid(*sizes):
    return " ".join(f"-da_grid_{axis} {size}" for axis, size in zip("xyz", sizes))


def shifts(output):
    return int(re.search(r"(\d+) in a cycle", output).group(1))


def probe(run, options, ranks=1, expect=0):
    return run("adi_probe", options, ranks=ranks, expect=expect)


def counted(result):
    found = re.search(r"(\w+) iterations (\d+) residual (\S+)", result.output)
    assert found, result.output
    return found.group(1), int(found.group(2)), float(found.group(3))


# ------------------------------------------------------------------------------------------------------------------- tutorials


@pytest.mark.parametrize(
    "program, sizes", [("ex50", (33, 21)), ("ex29", (33, 21)), ("ex45", (11, 9, 13))], ids=["ex50", "ex29", "ex45"]
)
@pytest.mark.parametrize("solver", ["-pc_type adi", "-ksp_type adi"])
def test_tutorials_take_the_same_iterations_on_any_number_of_ranks(run, program, sizes, solver):
    counts = [run(program, f"{grid(*sizes)} {solver} -ksp_rtol 1e-8 -ksp_converged_reason", ranks=ranks).iterations() for ranks in (1, 2, 3, 4)]
    assert counts[0] <= 12
    assert max(counts) - min(counts) <= 1, counts


@pytest.mark.parametrize("ranks", [(1, 4, 1), (2, 1, 2)])
@pytest.mark.parametrize("kind", ["peaceman_rachford", "douglas_rachford", "douglas_gunn"])
def test_any_grid_of_processes(run, ranks, kind):
    options = f"{grid(9, 8, 7)} -ksp_type adi -pc_adi_type {kind} -pc_adi_cycle 2 -ksp_max_it 3 -ksp_monitor"
    alone = run("ex45", options).output
    split = run("ex45", options + "".join(f" -da_processors_{axis} {n}" for axis, n in zip("xyz", ranks)), ranks=4).output
    norms = [[float(line.split()[-1]) for line in text.splitlines() if "KSP Residual" in line] for text in (alone, split)]
    assert len(norms[0]) == 4
    assert norms[1] == pytest.approx(norms[0], rel=1e-6)


def test_sweeps_grow_with_the_logarithm(run):
    """Eight digits, in sweeps: iterations times shifts. One best shift takes O(N)."""
    sweeps, single = [], []
    for n in (16, 32, 64, 128, 256):
        result = probe(run, f"-n {n},{n} -ksp_type adi -ksp_rtol 1e-8 -ksp_view")
        reason, its, _ = counted(result)
        assert reason == "CONVERGED_RTOL"
        sweeps.append(its * shifts(result.output))
        if n <= 64:
            single.append(counted(probe(run, f"-n {n},{n} -ksp_type adi -ksp_rtol 1e-8 -pc_adi_cycle 1"))[1])
    assert all(after - before <= 8 for before, after in zip(sweeps, sweeps[1:])), sweeps
    assert sweeps[-1] <= 40, sweeps
    assert single[2] > 3 * single[0] and single[2] > 3 * sweeps[2], (single, sweeps)


@pytest.mark.parametrize("problem, ranks", [("exponential", 2), ("pulse", 1)])
def test_time_steps_are_of_order_two(run, problem, ranks):
    errors = [
        run("heat", f"-problem {problem} -da_grid_x {n - 1} -da_grid_y {n - 1} -steps {n // 2} -ksp_type adi -ksp_rtol 1e-9", ranks=ranks).number("error")
        for n in ((16, 32) if problem == "exponential" else (64, 128))
    ]
    assert math.log2(errors[0] / errors[1]) > 1.9, errors


@pytest.mark.parametrize("smoother", ["-mg_levels_ksp_type richardson", "-mg_levels_ksp_type chebyshev", "-mg_levels_ksp_type adi -mg_levels_ksp_norm_type none"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_multigrid_smoother(run, smoother, ranks):
    options = f"{grid(65, 65)} -pc_type mg -pc_mg_levels 3 -mg_levels_pc_adi_cycle 1 -ksp_rtol 1e-8 -ksp_converged_reason {smoother}"
    if "ksp_type adi" not in smoother:
        options += " -mg_levels_pc_type adi"
    assert run("ex50", options, ranks=ranks).iterations() <= 10


# ------------------------------------------------------------------------------------------------------------- what the matrix may be


def ends_of(ends):
    return "-ring " + ",".join(str(int(e == "p")) for e in ends) + " -neumann " + ",".join(str(int(e == "n")) for e in ends)


@pytest.mark.parametrize("ratio", [1e3, 1e6])
@pytest.mark.parametrize("ends", ["dn", "dp", "nd", "nn", "pn", "pp", "ddn", "dnp", "nnp"])
def test_any_ends_and_ratios(run, ends, ratio):
    """Ends with values (d), without flux (n) or closed (p): separable operators split into parts that commute."""
    sizes, strength = ("16,33", f"1,{ratio}") if len(ends) == 2 else ("16,17,18", f"1,{ratio},{ratio ** 0.5}")
    result = probe(run, f"-n {sizes} {ends_of(ends)} -strength {strength} -ksp_type adi -ksp_rtol 1e-7 -ksp_view")
    reason, its, _ = counted(result)
    assert reason == "CONVERGED_RTOL" and its < 15
    assert its <= promised(result)


@pytest.mark.parametrize("rows", [257, 1025])
def test_long_lines_in_three_directions(run, rows):
    """More than 16 shifts are needed for a tenth of the error there."""
    result = probe(run, f"-n {rows},9,9 {ends_of('dpn')} -ksp_type adi -ksp_rtol 1e-8 -ksp_view")
    reason, its, _ = counted(result)
    assert reason == "CONVERGED_RTOL" and its <= promised(result) < 15
    assert 16 < shifts(result.output) <= 32


@pytest.mark.parametrize("ends", ["nn", "dnp"])
def test_any_ends_on_several_ranks(run, ends):
    sizes = "16,33" if len(ends) == 2 else "16,9,10"
    options = f"-n {sizes} {ends_of(ends)} -strength 1,1000 -ksp_type adi -ksp_rtol 1e-8"
    counts = [counted(probe(run, options, ranks=ranks))[1] for ranks in (1, 4)]
    assert counts[0] == counts[1] < 15


def promised(result):
    return int(re.search(r"(\d+) cycles for eight digits", result.output).group(1))


@pytest.mark.parametrize("upwind", ["", "-upwind"])
@pytest.mark.parametrize("peclet", [0.5, 1, 20])
@pytest.mark.parametrize("sizes", ["32,32", "14,15,16"])
def test_convection_keeps_its_promise(run, sizes, peclet, upwind):
    result = probe(run, f"-n {sizes} -convection {peclet} {upwind} -ksp_type adi -ksp_rtol 1e-8 -ksp_view")
    reason, its, _ = counted(result)
    assert reason == "CONVERGED_RTOL"
    if "nothing is promised" in result.output:
        assert peclet == 1 and its < 15  # a row without couplings
    else:
        assert promised(result) / 3 <= its <= 1.1 * promised(result)
    if upwind or peclet <= 2:
        assert its < 20


def test_rings_with_convection(run):
    assert counted(probe(run, "-n 20,20 -ring 1,1 -convection 0.8 -reaction 0.1 -ksp_type adi -ksp_rtol 1e-8"))[:1] == ("CONVERGED_RTOL",)


@pytest.mark.parametrize("problem, why", [("-jump 100", "the parts do not commute"), ("-corners 0.3", "of the couplings lie on no line"), ("-shape circle", "rows that are solved by themselves cut")])
def test_nothing_is_promised_where_no_bound_holds(run, problem, why):
    output = probe(run, f"-n 20,20 {problem} -pc_type adi -ksp_view -info :pc").output
    assert "of the error at most" not in output
    assert len(re.findall(f"nothing is promised of a cycle: .*{why}", output)) == 2


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize(
    "settings", ["", "-n 9,9,9", "-n 9,9,9 -pc_adi_type douglas_rachford", "-pc_adi_type douglas_gunn", "-n 9,9,9 -pc_adi_symmetric", "-convection 2"]
)
def test_entries_of_any_size(run, scale, settings):
    solver = "-pc_type adi -ksp_type fgmres" if "symmetric" in settings else "-ksp_type adi"
    plain, scaled = (counted(probe(run, f"-n 20,20 {settings} {solver} -ksp_rtol 1e-8 -scale {s}")) for s in (1, scale))
    assert scaled[:2] == plain[:2] and scaled[2] < 1e-7


@pytest.mark.parametrize("scale", [1e-309, 4e307])
@pytest.mark.parametrize("solver", ["-ksp_type adi", "-pc_type adi"])
def test_entries_that_are_no_longer_numbers_to_divide_by(run, solver, scale):
    assert counted(probe(run, f"-n 20,20 {solver} -scale {scale}"))[0] == "DIVERGED_PC_FAILED"


@pytest.mark.parametrize("problem", ["-n 20,20 -strength 1,0", "-n 20,20 -strength 0,1", "-n 9,9,9 -strength 0,0,1", "-n 20,20 -strength 1,1e-300"])
def test_directions_without_couplings_are_none(run, problem):
    reason, its, residual = counted(probe(run, f"{problem} -ksp_type adi -ksp_rtol 1e-10"))
    assert reason.startswith("CONVERGED") and its <= 3 and residual < 1e-10


@pytest.mark.parametrize("ranks, penalty", [(1, 1e5), (1, 1e12), (3, 1e20), (1, 1e300)])
@pytest.mark.parametrize("solver", ["-ksp_type adi", "-ksp_type adi -guess", "-ksp_type gmres -pc_type adi"])
def test_penalties_are_known_values(run, solver, penalty, ranks):
    result = probe(run, f"-n 33,33 -penalty {penalty} {solver} -ksp_rtol 1e-8 -ksp_view", ranks=ranks)
    reason, its, residual = counted(result)
    assert reason == "CONVERGED_RTOL" and its < 15 and residual < 1e-6
    assert "penalties that are taken for known values: 65" in result.output


@pytest.mark.parametrize("penalty", [1e9, 1e30])
def test_penalties_in_the_symmetric_form(run, penalty):
    reason, its, residual = counted(probe(run, f"-n 33,33 -penalty {penalty} -pc_type adi -pc_adi_symmetric -ksp_type cg -ksp_rtol 1e-8"))
    assert reason == "CONVERGED_RTOL" and its < 20 and residual < 1e-6


@pytest.mark.parametrize("ranks", [1, 2, 5, 8])
@pytest.mark.parametrize("settings", ["-ksp_type adi", "-pc_type adi -pc_adi_symmetric", "-pc_type adi -pc_adi_line_solver pivoted"])
def test_as_many_nodes_as_ranks(run, ranks, settings):
    reason, _, residual = counted(probe(run, f"-n {ranks},1 {settings} -ksp_rtol 1e-9", ranks=ranks))
    assert reason.startswith("CONVERGED") and residual < 1e-7


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("solver", ["-ksp_type adi", "-pc_type adi", "-pc_type adi -pc_adi_bounds_method gershgorin -strength 1,0.01"])
def test_values_that_cannot_be_shifted_fail_the_pc(run, solver, ranks):
    options = f"-n 12,13 -reaction -3 {solver}"
    assert counted(probe(run, options, ranks=ranks))[0] == "DIVERGED_PC_FAILED"
    failed = probe(run, options + " -ksp_error_if_not_converged", ranks=ranks, expect=None)
    assert failed.code != 0 and "the spectra of this matrix's parts reach below zero" in failed.output


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "problem",
    [
        "-n 12,17 -ring 1,0",
        "-n 9,8 -ring 1,1 -reaction 0.1",
        "-n 5,6,7 -ring 1,1,1 -reaction 0.1",
        "-n 12,17 -convection 0.8",
        "-n 12,17 -convection 3",
        "-n 12,17 -scale -1000",
        "-n 12,17 -reaction 50",
        "-n 12,17 -jump 10",
    ],
)
def test_problems_that_split(run, problem, ranks):
    reason, its, residual = counted(probe(run, f"{problem} -ksp_type adi -ksp_rtol 1e-9", ranks=ranks))
    assert reason == "CONVERGED_RTOL" and residual < 1e-8 and its < 60


@pytest.mark.parametrize("sizes, ring", [("1,20,6", "1,1,1"), ("1,20,1", "1,1,1"), ("1,1,1", "1,1,1"), ("2,20,1", "1,1,0"), ("20,1,2", "0,1,1"), ("1,1", "0,1")])
def test_periodic_sizes_of_one_and_two(run, sizes, ring):
    reason, its, residual = counted(probe(run, f"-n {sizes} -ring {ring} -reaction 0.1 -ksp_type adi -ksp_rtol 1e-9"))
    assert reason.startswith("CONVERGED") and residual < 1e-8 and its < 15


def test_a_ring_of_two_on_two_ranks(run):
    options = "-n 2,20 -ring 1,1 -reaction 0.1 -ksp_type adi -ksp_rtol 1e-9"
    assert counted(probe(run, options + " -da_processors_x 2", ranks=2))[:2] == counted(probe(run, options))[:2]


@pytest.mark.parametrize("ranks", [1, 4])
def test_what_does_not_split_stays_on_the_right_and_is_reported(run, ranks):
    result = probe(run, "-n 12,17 -corners 0.3 -pc_type adi -ksp_rtol 1e-9 -ksp_view", ranks=ranks)
    assert counted(result)[0] == "CONVERGED_RTOL"
    # 4 couplings of 1 and 4 of 0.3 a node, fewer at the edge
    share = float(re.search(r"split: (\S+)% of the couplings", result.output).group(1))
    exact = 100 * 0.3 * 4 * 11 * 16 / (0.3 * 4 * 11 * 16 + 2 * (11 * 17 + 12 * 16))
    assert share == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("ranks, problem", [(1, "-n 40"), (1, "-n 12,17"), (1, "-n 5,6,7 -dof 2"), (3, "-n 12,17"), (3, "-n 5,6,7 -dof 2")])
@pytest.mark.parametrize("settings", ["", "-pc_adi_type douglas_gunn -pc_adi_iterations 2", "-pc_adi_symmetric", "-pc_adi_keep_factors 0"])
def test_transpose_is_the_adjoint(run, ranks, problem, settings):
    assert run("pc_probe", f"-pc_type adi {problem} {settings}", ranks=ranks).number("adjoint difference") < 1e-12


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("jump", [1, 10, 1000])
def test_symmetric_form_keeps_cg_valid(run, ranks, jump):
    options = f"-n 33,33 -jump {jump} -pc_type adi -pc_adi_symmetric -ksp_type cg -ksp_rtol 1e-8"
    reason, its, _ = counted(probe(run, options, ranks=ranks))
    assert reason == "CONVERGED_RTOL"
    assert its <= {1: 12, 10: 25, 1000: 150}[jump]


@pytest.mark.parametrize("ranks", [1, 2])
def test_new_values_are_taken(run, ranks):
    result = run("pc_probe", "-probe refresh -pc_type adi", ranks=ranks)
    assert result.number("old values difference") > 1e-4
    assert result.number("refresh difference") == 0


def test_host_vectors_with_any_matrix(run):
    result = run("pc_probe", "-probe host -pc_type adi")
    assert result.number("host difference") < 1e-13
    assert result.number("mixed difference") < 1e-13


@pytest.mark.parametrize("solver", LINE_SOLVERS)
def test_every_line_solver_inside(run, solver):
    plain = counted(probe(run, "-n 30,20 -ksp_type adi -ksp_rtol 1e-8"))
    result = probe(run, f"-n 30,20 -ksp_type adi -ksp_rtol 1e-8 -pc_adi_line_solver {solver} -ksp_view")
    assert counted(result)[:2] == plain[:2]
    assert f"lines along x: 30 rows, {solver} on the host" in result.output


# ----------------------------------------------------------------------------------------------------------------------- masked domains


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("shape", ["square", "circle"])
def test_masked_domains_are_of_order_two(run, shape, ranks):
    errors = []
    for n in (16, 32, 64):
        result = probe(run, f"-n {n + 4},{n + 4} -shape {shape} -ksp_type adi -ksp_rtol 1e-10", ranks=ranks)
        assert counted(result)[0] == "CONVERGED_RTOL" and counted(result)[1] <= 15
        errors.append(result.number("error"))
    if shape == "square":
        assert errors == pytest.approx([2.53e-3, 5.90e-4, 1.42e-4], rel=0.01)
    assert all(math.log2(a / b) > 1.9 for a, b in zip(errors, errors[1:])), errors


# ----------------------------------------------------------------------------------------------------------------------- KSPADI


def test_monitors_norms_and_looking_every_few_iterations(run):
    options = "-n 20,20 -ksp_type adi -ksp_rtol 1e-8 -ksp_monitor -pc_adi_cycle 1"
    each, third = probe(run, options), probe(run, options + " -ksp_adi_check_every 3")
    norms = [dict(re.findall(r"^ *(\d+) KSP Residual norm (\S+)", result.output, re.M)) for result in (each, third)]
    assert all(int(k) % 3 == 0 for k in norms[1])
    assert {k: v for k, v in norms[0].items() if k in norms[1]}.items() <= norms[1].items()
    assert 0 <= counted(third)[1] - counted(each)[1] < 3
    change = probe(run, options + " -ksp_norm_type preconditioned")
    assert counted(change)[0] == "CONVERGED_RTOL" and "Preconditioned" not in change.output.split("iterations")[0].splitlines()[-1]
    none = probe(run, "-n 20,20 -ksp_type adi -ksp_norm_type none -ksp_max_it 7")
    assert counted(none)[:2] == ("CONVERGED_ITS", 7) and counted(none)[2] < 1e-6
    assert counted(probe(run, options + " -ksp_max_it 4"))[:2] == ("DIVERGED_ITS", 4)
    assert counted(probe(run, options + " -ksp_max_it 4 -ksp_adi_check_every 3"))[:2] == ("DIVERGED_ITS", 4)


def test_guesses_and_restarts(run):
    once = counted(probe(run, "-n 20,20 -ksp_type adi -guess -ksp_rtol 1e-9"))
    again = counted(probe(run, "-n 20,20 -ksp_type adi -guess -ksp_max_it 2 -solves 6 -ksp_rtol 1e-9"))
    assert once[0] == again[0] == "CONVERGED_RTOL"
    assert again[2] < 1e-8


@pytest.mark.parametrize("option", ["", "-pc_type adi", "-pc_type none"])
def test_ksp_takes_pcadi_and_its_options(run, option):
    output = probe(run, f"-n 20,20 -ksp_type adi {option} -pc_adi_cycle 5 -ksp_view").output
    assert "type: adi" in output.split("PC Object")[1] and shifts(output) == 5
    assert "convergence looked at every 1" in output


def test_ksp_refuses_another_pc(run):
    failed = probe(run, "-n 20,20 -ksp_type adi -pc_type jacobi", expect=None)
    assert failed.code != 0
    assert "KSPADI always uses PCADI, but -pc_type jacobi was given" in failed.output


def test_divergence_ends_sanely(run):
    options = "-n 20,30 -corners 0.9 -pc_adi_shifts 0.01 -ksp_type adi"
    assert counted(probe(run, options))[0] == "DIVERGED_DTOL"
    assert "the shifts of PCADI make the iteration diverge" in probe(run, options + " -info :ksp").output
    failed = probe(run, options + " -ksp_error_if_not_converged", expect=None)
    assert failed.code != 0
    assert "the shifts of PCADI make the iteration diverge" in failed.output


@pytest.mark.parametrize("ranks", [1, 2])
def test_more_digits_than_there_are_end_soon(run, ranks):
    """Strong couplings without values at their ends: eight digits of the residual are below the rounding of A x."""
    problem = f"-n 257,33 {ends_of('dn')} -strength 1,1e6"
    direct = counted(probe(run, f"{problem} -ksp_type preonly -pc_type {'lu' if ranks == 1 else 'bcr'}", ranks=ranks))[2]
    reason, its, residual = counted(probe(run, f"{problem} -ksp_type adi -ksp_rtol 1e-8", ranks=ranks))
    assert reason == "DIVERGED_BREAKDOWN" and its <= 15
    assert 1e-8 < residual < 2 * direct
    assert "is the rounding of A x" in probe(run, f"{problem} -ksp_type adi -ksp_rtol 1e-8 -info :ksp", ranks=ranks).output
    assert counted(probe(run, f"{problem} -ksp_type adi -ksp_rtol 1e-5", ranks=ranks))[0] == "CONVERGED_RTOL"


def test_slow_iterations_go_on(run):
    """A residual that shrinks slowly, or stays while it is large, is no rounding."""
    assert counted(probe(run, "-n 64,64 -pc_adi_cycle 1 -ksp_type adi -ksp_rtol 1e-12"))[0] == "CONVERGED_RTOL"
    assert counted(probe(run, "-n 20,30 -pc_adi_shifts 1e6 -ksp_type adi -ksp_max_it 20"))[0] == "DIVERGED_ITS"


# ------------------------------------------------------------------------------------------------------------------- wrong input


@pytest.mark.parametrize("ranks, bad", [(1, "nan"), (1, "inf"), (1, "0"), (3, "nan"), (3, "0")])
@pytest.mark.parametrize("solver", ["-pc_type adi", "-ksp_type adi", "-pc_type adi -pc_adi_symmetric -ksp_type cg"])
def test_bad_values_fail_the_pc_on_all_ranks(run, ranks, bad, solver):
    assert counted(probe(run, f"-n 12,13 -bad {bad} {solver}", ranks=ranks))[0] == "DIVERGED_PC_FAILED"


def test_bad_values_can_be_errors(run):
    for bad, message in (("nan", "PCADI's matrix has a NaN or an infinity in it"), ("0", "zero pivot: PCADI's matrix has a row of zeros")):
        failed = probe(run, f"-n 12,13 -bad {bad} -pc_type adi -ksp_error_if_not_converged", expect=None)
        assert failed.code != 0
        assert message in failed.output


@pytest.mark.parametrize(
    "options, message",
    [
        ("-pc_adi_type strang", "strang"),
        ("-pc_adi_shifts 1,-2", "-pc_adi_shifts: shift 2 is -2., and shifts must be positive and finite"),
        ("-pc_adi_shifts 0", "shift 1 is 0., and shifts must be positive and finite"),
        ("-pc_adi_cycle -1", "-pc_adi_cycle -1: a cycle has 1 to 256 shifts"),
        ("-pc_adi_iterations 0", "-pc_adi_iterations 0: at least one cycle is needed"),
        ("-pc_adi_bounds 4,1", "-pc_adi_bounds 4.,1.: expected lower <= upper, both finite"),
        ("-pc_adi_bounds 1", "-pc_adi_bounds: give two numbers, or two for each direction, not 1"),
        ("-pc_adi_bounds 0,1,0,1", "-pc_adi_bounds: the lower bounds add up to 0"),
        ("-pc_adi_bounds 1,2,1,2,1,2", "-pc_adi_bounds: give two numbers, or two for each of the 2 directions of this grid"),
        ("-pc_adi_line_solver gauss", "gauss"),
        ("-pc_adi_line_solver toeplitz", "toeplitz"),
        ("-lines 0 -corners 1", "this matrix does not split into directions"),
        ("-dm_mat_type baij", "PCADI works on AIJ matrices and this one is of type seqbaij"),
        ("-ksp_type adi -ksp_adi_check_every 0", "-ksp_adi_check_every 0: must be at least 1"),
    ],
)
def test_wrong_options_say_what_to_do(run, options, message):
    failed = probe(run, f"-n 12,13 -pc_type adi {options}", expect=None)
    assert failed.code != 0, failed.output
    assert message in failed.output


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "kind, message",
    [("unassembled", "PCADI needs an assembled matrix"), ("layout", "PCADI requires equal local row and column sizes on every rank")],
)
def test_matrices_that_cannot_be_used(run, ranks, kind, message):
    failed = run("pc_probe", f"-probe {kind} -pc_type adi", ranks=ranks, expect=None)
    assert failed.code != 0
    assert message in failed.output


def test_without_a_grid(run):
    failed = run("ex2", "-pc_type adi", expect=None)
    assert failed.code != 0
    assert "PCADI needs a grid and none is known for this matrix" in failed.output


@programs.needs_petsc4py
@pytest.mark.parametrize("line_solver", ["auto", "thomas", "cr", "wide", "pivoted"])
def test_rings_with_convection_have_their_transpose(line_solver):
    result = programs.python(Path(__file__).parent / "programs" / "ring_transpose.py", f"-pc_adi_line_solver {line_solver}")
    assert result.number("difference") < 1e-3, result.output  # conditions are about 1e11


def test_given_shifts_and_bounds_are_used_and_shown(run):
    output = probe(run, "-n 12,13 -pc_type adi -pc_adi_shifts 2,0.5 -ksp_view").output
    assert "shifts (given, 2 in a cycle): 2. 0.5" in output
    output = probe(run, "-n 12,13 -pc_type adi -pc_adi_bounds 1,4 -pc_adi_cycle 1 -ksp_view").output
    assert "bounds of the parts (given): x [1., 4.] y [1., 4.]" in output
    assert "shifts (Wachspress and Jordan, 1 in a cycle): 2." in output
    output = probe(run, "-n 12,13 -pc_type adi -pc_adi_bounds_method gershgorin -ksp_view").output
    assert "bounds of the parts (gershgorin): x [0.0581" in output


@pytest.mark.parametrize("solver", ["-pc_type adi", "-ksp_type adi"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_nothing_of_petscs_memory_is_left(run, solver, ranks):
    output = probe(run, f"-n 12,13 {solver} -malloc_debug -malloc_dump", ranks=ranks).output
    assert "bytes" not in output and len(output.splitlines()) <= 2, output


def test_help_lists_the_options(run):
    output = " ".join(probe(run, "-n 5,5 -ksp_type adi -help").output.split())
    for option in ("type", "shifts", "cycle", "iterations", "bounds", "bounds_method", "line_solver", "symmetric", "keep_factors"):
        assert f"-pc_adi_{option} " in output or f"-pc_adi_{option}:" in output, option
    assert "-ksp_adi_check_every" in output
