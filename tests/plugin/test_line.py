"""Directions, orders, ranks, blocks and precisions of PCLINE."""

import random
import re

import pytest

EVERYWHERE = [
    "",  # the stiff direction
    "-pc_line_direction xyz -pc_line_ordering zebra",
    "-pc_line_direction yz -pc_line_sweep backward",
    "-pc_line_direction xy -pc_line_ordering multicolor -diagonals",
    "-pc_line_direction x -ring 1,0,1 -pc_line_ordering zebra",
    "-pc_line_direction xyz -ring 1,1,1 -pc_line_ordering multicolor -pc_line_sweep symmetric -diagonals -pc_line_sweeps 2",
    "-pc_line_direction xz -pc_line_plane_cycles 2",
    "-pc_line_direction y -dof 2",
    "-couple -dof 2 -pc_line_ordering zebra -pc_line_sweep symmetric",
    "-couple -dof 3 -n 9,8,7 -ring 1,1,0 -pc_line_direction xy -pc_line_ordering multicolor -diagonals",
    "-n 40,17 -ring 0,1 -pc_line_direction xy",
    "-n 61 -ring 1",
    "-n 2,6,2 -ring 1,1,1 -pc_line_direction xyz",
]


def norms(result):
    return result.number("(?m)^norm"), result.number("transposed norm")


@pytest.mark.parametrize("options", EVERYWHERE)
def test_exact_lines_do_not_depend_on_the_ranks(run, options):
    one = run("pc_probe", f"-probe norm -pc_type line {options}")
    for ranks in (2, 3, 4):
        several = run("pc_probe", f"-probe norm -pc_type line {options}", ranks=ranks)
        assert norms(several) == pytest.approx(norms(one), rel=1e-11)


@pytest.mark.parametrize("options", ["-n 300", "-n 20,50 -pc_line_direction y", "-n 5,6,40 -pc_line_direction xyz -pc_line_ordering zebra", "-n 31 -ring 1", "-n 40,5 -ring 1 -pc_line_direction x"])
def test_constant_lines_do_not_depend_on_the_ranks(run, options):
    general = run("pc_probe", f"-probe norm -constant -pc_type line {options}")
    for ranks in (1, 2, 3, 4):
        constant = run("pc_probe", f"-probe norm -constant -pc_type line -pc_line_kernel toeplitz -view {options}", ranks=ranks)
        assert norms(constant) == pytest.approx(norms(general), rel=1e-11)
    refreshed = run("pc_probe", f"-probe refresh -constant -pc_type line -pc_line_kernel toeplitz {options}", ranks=3)
    assert refreshed.number("refresh difference") == 0


def test_cut_lines_do(run):
    options = "-probe norm -pc_type line -n 300 -pc_line_ranks"
    assert norms(run("pc_probe", f"{options} exact", ranks=3)) != pytest.approx(norms(run("pc_probe", f"{options} cut", ranks=3)), rel=1e-3)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("options", EVERYWHERE)
def test_transpose_of_every_order_is_the_adjoint(run, ranks, options):
    assert run("pc_probe", f"-probe adjoint -pc_type line {options}", ranks=ranks).number("adjoint difference") < 1e-12


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("problem", ["-n 31 -ring 1", "-n 9,40 -ring 0,1 -stretch 0,1", "-n 4,5,30 -stretch 0,0,1 -ring 0,0,1"])
@pytest.mark.parametrize("kernel", ["auto", "thomas", "wide", "cr"])
def test_one_sweep_solves_rings(run, ranks, problem, kernel):
    assert run("pc_probe", f"-probe exact -pc_type line -pc_line_kernel {kernel} {problem}", ranks=ranks).number("exact difference") < 1e-11


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_one_sweep_solves_lines_across_ranks(run, ranks):
    result = run("pc_probe", "-probe exact -pc_type line -n 4,200 -stretch 0,1", ranks=ranks)
    assert result.number("exact difference") < 1e-12


@pytest.mark.parametrize(
    "options, symmetric",
    [
        ("-pc_line_direction x", True),
        ("-pc_line_direction xy", False),
        ("-pc_line_direction xy -pc_line_sweep symmetric", True),
        ("-pc_line_ordering zebra -pc_line_sweep symmetric", True),
        ("-pc_line_ordering zebra", False),
        ("-pc_line_direction xyz -pc_line_ordering multicolor -pc_line_sweep symmetric -diagonals", True),
        ("-pc_line_direction xy -pc_line_plane_cycles 1 -pc_line_sweep symmetric -pc_line_sweeps 2", True),
        ("-couple -dof 3", True),
    ],
)
def test_which_orders_keep_a_matrix_symmetric(run, options, symmetric):
    difference = run("pc_probe", f"-probe symmetric -values_symmetric -pc_type line {options}", ranks=2).number("symmetric difference")
    assert difference < 1e-12 if symmetric else difference > 1e-8


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("options", ["-pc_line_ordering jacobi", "-pc_line_ordering zebra", "-pc_line_ordering jacobi -pc_line_direction xyz -pc_line_sweeps 2", "-pc_line_omega 0.7"])
def test_richardson_is_the_sweeps(run, ranks, options):
    result = run("pc_probe", f"-probe richardson -pc_type line {options}", ranks=ranks)
    assert result.number("zero richardson difference") < 1e-12
    assert result.number("guess richardson difference") < 1e-12


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("options", ["", "-pc_line_ordering zebra", "-pc_line_precision single", "-dof 2 -couple"])
def test_columns_are_solved_like_vectors(run, ranks, options):
    output = run("pc_probe", f"-probe columns -pc_type line {options}", ranks=ranks).output
    differences = [float(line.split()[-1]) for line in output.splitlines() if line.startswith("columns difference")]
    # a multiple of a column is rounded another way to single precision
    assert len(differences) == 3 and max(differences) < (1e-6 if "single" in options else 1e-13)


def test_stiff_directions_are_found(run):
    def view(options, ranks=1):
        return run("pc_probe", f"-pc_type line {options} -view", ranks=ranks).output

    for ranks in (1, 2):
        assert "lines along x:" in view("-n 20,20 -stretch 10,1", ranks) and "along y" not in view("-n 20,20 -stretch 10,1", ranks)
        assert "lines along y:" in view("-n 20,20 -stretch 1,10", ranks)
        assert "lines along z:" in view("-n 9,9,9 -stretch 1,1,10", ranks)


@pytest.mark.parametrize("problem", ["-n 100 -dof 2", "-n 30,30 -dof 4 -stretch 0,1", "-n 4,5,30 -dof 8 -stretch 0,0,1", "-n 50 -dof 5 -pc_line_components together"])
def test_one_sweep_solves_lines_of_blocks(run, problem):
    options = f"-probe exact -pc_type line -couple {problem}"
    for ranks in (1, 2, 3):
        result = run("pc_probe", options + " -view", ranks=ranks)
        assert result.number("exact difference") < 1e-12
        assert ("of blocks across ranks" if ranks > 1 else "of blocks") in result.output and "cut" not in result.output
    assert run("pc_probe", options + " -pc_line_components apart").number("exact difference") > 1e-2
    cut = run("pc_probe", options + " -pc_line_ranks cut -view", ranks=3)
    assert cut.number("exact difference") > 1e-6 and "of blocks, cut where ranks meet" in cut.output


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("problem", ["-n 31 -dof 2 -ring 1", "-n 4,40 -dof 3 -ring 0,1 -stretch 0,1", "-n 3,4,12 -dof 8 -stretch 0,0,1 -ring 0,0,1"])
def test_one_sweep_solves_rings_of_blocks(run, ranks, problem):
    assert run("pc_probe", f"-probe exact -pc_type line -couple {problem}", ranks=ranks).number("exact difference") < 1e-11
    refreshed = run("pc_probe", f"-probe refresh -pc_type line -couple {problem} -pc_line_ordering zebra", ranks=ranks)
    assert refreshed.number("refresh difference") == 0


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_bad_pivot_of_blocks_fails_all_ranks(run, ranks):
    output = run("pc_probe", "-probe pivot -pc_type line -couple -n 40 -dof 3 -pc_line_components together -diagonal nan -info :pc", ranks=ranks).output
    assert "DIVERGED_PC_FAILED FACTOR_NUMERIC_ZEROPIVOT" in output and "then FACTOR_NOERROR" in output
    assert "pivot of a line in row 119" in output


def test_unknowns_that_do_not_couple_have_lines_of_their_own(run):
    assert "each on lines of its own" in run("pc_probe", "-n 50 -dof 3 -pc_type line -view").output


@pytest.mark.parametrize("ranks", [1, 2])
def test_single_precision_is_nearly_double(run, ranks):
    options = f"-probe exact -pc_type line -n 60,4 -stretch 1,0 {'-pc_line_ranks cut -da_processors_x 1' if ranks > 1 else ''}"
    difference = run("pc_probe", options + " -pc_line_precision single", ranks=ranks).number("exact difference")
    assert 1e-9 < difference < 1e-5


def test_single_precision_costs_no_iterations(run):
    options = "-da_grid_x 33 -da_grid_y 513 -pc_type mg -da_refine 0 -mg_levels_pc_type line -ksp_converged_reason"
    double = run("ex50", options).iterations()
    assert abs(run("ex50", options + " -mg_levels_pc_line_precision single").iterations() - double) <= 1


def test_damping_is_estimated(run):
    # lines of an isotropic problem: the largest eigenvalue is near 2
    view = run("ex50", "-da_grid_x 40 -da_grid_y 40 -pc_type line -pc_line_estimate_omega -ksp_view -ksp_max_it 5")
    assert view.number("omega") == pytest.approx(2 / 3, rel=0.05)
    assert "(estimated)" in view.output


@pytest.mark.parametrize("ranks", [1, 2])
def test_block_matrices(run, ranks):
    baij = run("pc_probe", "-probe norm -pc_type line -n 12,9 -dof 3 -couple -dm_mat_type baij", ranks=ranks)
    aij = run("pc_probe", "-probe norm -pc_type line -n 12,9 -dof 3 -couple", ranks=ranks)
    assert norms(baij) == pytest.approx(norms(aij), rel=1e-12)
    assert run("pc_probe", "-probe refresh -pc_type line -dof 2 -couple -dm_mat_type baij", ranks=ranks).number("refresh difference") == 0


@pytest.mark.parametrize("options", ["-pc_type bjacobi -sub_pc_type line", "-pc_type asm -sub_pc_type line", "-pc_type composite -pc_composite_pcs line,jacobi",
                                     "-pc_type redistribute -redistribute_ksp_type gmres -redistribute_pc_type line",
                                     "-pc_type telescope -telescope_pc_type line", "-pc_type gamg -mg_levels_pc_type line", "-pc_type ksp -ksp_pc_type line"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_inside_other_preconditioners(run, ranks, options):
    result = run("ex50", f"-da_grid_x 40 -da_grid_y 30 -ksp_type fgmres -ksp_rtol 1e-8 -ksp_converged_reason {options}", ranks=ranks)
    assert result.iterations() < 200


@pytest.mark.parametrize("smoother", ["richardson -mg_levels_pc_line_ordering zebra", "chebyshev"])
@pytest.mark.parametrize("galerkin", ["none", "both"])
def test_on_every_level_of_multigrid(run, smoother, galerkin):
    options = (f"-da_grid_x 17 -da_grid_y 257 -pc_type mg -pc_mg_levels 4 -pc_mg_galerkin {galerkin} -mg_levels_ksp_type {smoother} -mg_levels_ksp_max_it 1 "
               "-mg_levels_pc_type line -ksp_type fgmres -ksp_rtol 1e-8 -ksp_converged_reason")
    for ranks in (1, 2):
        assert run("ex50", options, ranks=ranks).iterations() <= 10


def test_planes_where_lines_do_not_suffice(run):
    options = ("-n 17,17,17 -values_symmetric -stretch 1,30,100 -probe exact -pc_type line -pc_line_ordering zebra -pc_line_sweeps 3 ")
    lines = run("pc_probe", options + "-pc_line_direction z").number("exact difference")
    planes = run("pc_probe", options + "-pc_line_direction yz -pc_line_plane_cycles 4").number("exact difference")
    assert planes < lines


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("options", ["", "-pc_line_ordering zebra", "-pc_line_ordering zebra -pc_line_sweep symmetric -pc_line_sweeps 2", "-pc_line_precision single",
                                     "-pc_line_kernel wide"])
def test_lines_of_the_graph(run, ranks, options):
    result = run("pc_probe", f"-probe adjoint -pc_type line -pc_line_source graph -n 20,17 -stretch 20,1 {options} -view", ranks=ranks)
    assert result.number("adjoint difference") < (1e-5 if "single" in options else 1e-12)
    assert "lines from the strongest couplings of the matrix" in result.output


NATURAL = "-n 8,15 -da_processors_x 1"  # rows have the same numbers on any number of ranks


@pytest.mark.parametrize("ranks", [1, 2])
def test_lines_of_the_graph_follow_the_stiff_direction(run, ranks):
    for options in ("", " -pc_line_ranks cut"):
        grid = run("pc_probe", "-probe norm -pc_type line -n 40,30 -stretch 0,1" + options, ranks=ranks)
        graph = run("pc_probe", "-probe norm -pc_type line -pc_line_source graph -view -n 40,30 -stretch 0,1" + options, ranks=ranks)
        assert norms(graph) == pytest.approx(norms(grid), rel=1e-12)
        assert ("cut where ranks meet" in graph.output) == (ranks > 1 and options != "")


@pytest.mark.parametrize("values", ["-stretch 0,1", "-diagonals", "-values_symmetric", "-diagonals -pc_line_ordering zebra",
                                    "-stretch 0,1 -pc_line_ordering multicolor -pc_line_sweep symmetric -pc_line_sweeps 2"])
def test_lines_of_the_graph_do_not_depend_on_the_ranks(run, values):
    options = f"-pc_type line -pc_line_source graph {NATURAL} {values}"
    one = run("pc_probe", f"-probe norm {options} -view")
    for ranks in (2, 3, 4):
        several = run("pc_probe", f"-probe norm {options} -view", ranks=ranks)
        assert norms(several) == pytest.approx(norms(one), rel=1e-11)
        crossing = re.search(r"(lines: \d+ of at most \d+ rows), ([1-9]\d*) of them across ranks", several.output)
        assert crossing and crossing[1] in one.output, several.output
        assert run("pc_probe", f"-probe adjoint {options}", ranks=ranks).number("adjoint difference") < 1e-12
    refreshed = [run("pc_probe", f"-probe refresh {options}", ranks=ranks).number("refresh difference") for ranks in (1, 3)]
    assert refreshed[1] == pytest.approx(refreshed[0], rel=1e-6)


@pytest.mark.parametrize("options", ["-pc_line_ranks cut", "-pc_line_ordering zebra -pc_line_ranks cut", "-pc_line_precision single"])
def test_lines_of_the_graph_that_are_cut(run, options):
    result = run("pc_probe", f"-probe norm -pc_type line -pc_line_source graph -n 40,30 {options} -view", ranks=2)
    assert "rows, cut where ranks meet\n" in result.output or "rows in single precision, cut where ranks meet\n" in result.output


def write_lines(path, kind):
    numbers = list(range(8 * 15))
    if kind == "columns":
        rows = [numbers[i::8] for i in range(8)]
    else:  # as they come, so that lines go from rank to rank and back
        random.Random(7).shuffle(numbers)
        rows = [numbers[:3], numbers[3:40], numbers[40:41], numbers[41:100]]
    path.write_text("# a line of the file for each\n" + "\n".join(" ".join(map(str, line)) for line in rows) + "\n")
    return f"-pc_type line -pc_line_file {path} {NATURAL}"


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_lines_of_a_file(run, ranks, tmp_path):
    options = write_lines(tmp_path / "lines.txt", "columns")
    columns = run("pc_probe", f"-probe norm -pc_type line -pc_line_direction y {NATURAL}", ranks=ranks)
    mapped = run("pc_probe", f"-probe norm {options} -view", ranks=ranks)
    assert norms(mapped) == pytest.approx(norms(columns), rel=1e-11)
    assert "lines from a map of the user's" in mapped.output and "cut" not in mapped.output
    assert "lines: 8 of at most 15 rows" + (", 8 of them across ranks" if ranks > 1 else "") + "\n" in mapped.output


@pytest.mark.parametrize("ordering", ["jacobi", "zebra"])
@pytest.mark.parametrize("kind", ["columns", "scattered"])
def test_lines_of_a_file_do_not_depend_on_the_ranks(run, kind, ordering, tmp_path):
    options = f"{write_lines(tmp_path / 'lines.txt', kind)} -pc_line_ordering {ordering}"
    one = run("pc_probe", f"-probe norm {options} -pc_line_sweeps 2", ranks=1)
    for ranks in (2, 4):
        assert norms(run("pc_probe", f"-probe norm {options} -pc_line_sweeps 2", ranks=ranks)) == pytest.approx(norms(one), rel=1e-11)
        assert run("pc_probe", f"-probe adjoint {options}", ranks=ranks).number("adjoint difference") < 1e-12
    assert run("pc_probe", f"-probe refresh {options}", ranks=3).number("refresh difference") == 0
    output = run("pc_probe", f"-probe pivot {options} -diagonal nan -info :pc", ranks=3).output
    assert "DIVERGED_PC_FAILED FACTOR_NUMERIC_ZEROPIVOT" in output and "then FACTOR_NOERROR" in output and "pivot of a line in row 119" in output


@pytest.mark.parametrize("options", ["-pc_line_ranks cut", "-pc_line_precision single", "-pc_line_ranks cut -pc_line_ordering zebra",
                                     "-pc_line_precision single -pc_line_ordering multicolor"])
def test_how_many_lines_of_a_file_are_cut(run, options, tmp_path):
    result = run("pc_probe", f"-probe norm {write_lines(tmp_path / 'lines.txt', 'columns')} {options} -view", ranks=2)
    assert ", 8 of the map's cut where ranks meet\n" in result.output


def test_a_wrong_map_is_an_error(run, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("1 2 3 2\n")
    failed = run("pc_probe", f"-pc_type line -pc_line_file {path} -n 8,5", expect=None)
    assert failed.code != 0 and "row 2 is in the line map twice" in failed.output


def test_a_matrix_that_is_not_finite_fails_the_pc(run):
    for ranks in (1, 2):
        output = run("pc_probe", "-probe pivot -pc_type line -pc_line_source graph -diagonal nan", ranks=ranks).output
        assert "DIVERGED_PC_FAILED FACTOR_NUMERIC_ZEROPIVOT" in output and "then FACTOR_NOERROR" in output


@pytest.mark.parametrize("options", ["", "-pc_line_direction z -pc_line_omega 0.7", "-n 100", "-pc_line_source rows"])
def test_both_sides_of_a_symmetric_matrix(run, options):
    result = run("pc_probe", f"-probe halves -values_symmetric -pc_type line {options}")
    assert result.number("halves difference") < 1e-13
    assert result.number("adjoint difference") < 1e-13
    cut = run("pc_probe", f"-probe halves -values_symmetric -pc_type line -pc_line_ranks cut {options}", ranks=2)
    assert cut.number("halves difference") < 1e-13


@pytest.mark.parametrize("options, message", [("-pc_line_ordering zebra", "by one sweep over all lines"), ("-ring 1,1,1 -pc_line_direction x", "rings")])
def test_what_has_no_two_sides(run, options, message):
    failed = run("pc_probe", f"-probe halves -values_symmetric -pc_type line {options}", expect=None)
    assert failed.code != 0 and message in failed.output


def test_lines_without_roots_are_named(run):
    output = run("pc_probe", "-probe halves -values_symmetric -pc_type line -n 5,4 -diagonals -stretch -9,-9 -info :pc", expect=None).output
    assert "preconditioned from both sides: the pivot of row 0 is not positive" in output


def test_sor_is_left_alone_on_the_host(run):
    options = "-da_grid_x 20 -da_grid_y 20 -pc_type sor -ksp_converged_reason -ksp_view"
    replaced = run("ex50", options + " -weft_replace_sor")
    assert "type: sor" in replaced.output and "Warning" not in replaced.output
    assert replaced.iterations() == run("ex50", options).iterations()


@pytest.mark.parametrize("source, lines", [("grid", "a grid"), ("graph", "the strongest couplings"), ("rows", "the rows in their order")])
def test_a_failed_set_up_can_be_viewed(run, source, lines):
    output = run("pc_probe", f"-probe pivot -pc_type line -pc_line_source {source} -diagonal nan -ksp_view").output
    assert "DIVERGED_PC_FAILED" in output and f"lines from {lines}" in output and "then FACTOR_NOERROR" in output
