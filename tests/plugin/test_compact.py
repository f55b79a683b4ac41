"""Compact finite differences: examples/compact with its options file, and lines that share a matrix given by itself."""

import math

import pytest
from compact_fields import compact, derivatives, fields, furthest, rounding
from compact_reference import differentiate, schemes, waves


def orders(run, options, sizes):
    """What the errors of the last two sizes say of the order: the largest, the mean square, the largest in the middle."""
    coarse, fine = ([row for row in derivatives(compact(run, f"-dim 1 -da_grid_x {size} {options}"))][0] for size in sizes)
    return tuple(math.log2(coarse[key] / fine[key]) for key in ("most", "mean_square", "middle"))


def test_orders_of_the_first_derivative(run):
    assert orders(run, "", (129, 257)) == pytest.approx((3, 3.5, 4), abs=0.25)
    assert orders(run, "-compact_order 6", (65, 129)) == pytest.approx((3, 3.5, 6), abs=0.25)
    assert orders(run, "-compact_periodic", (64, 128))[0] == pytest.approx(4, abs=0.05)
    assert orders(run, "-compact_periodic -compact_order 6", (32, 64))[0] == pytest.approx(6, abs=0.1)


def test_orders_of_the_second_derivative_and_the_filter(run):
    assert orders(run, "-compact_derivative second -compact_periodic", (64, 128))[0] == pytest.approx(4, abs=0.05)
    assert orders(run, "-compact_derivative second -compact_periodic -compact_order 6", (32, 64))[0] == pytest.approx(6, abs=0.1)
    assert orders(run, "-compact_derivative second -compact_order 4", (129, 257))[0] == pytest.approx(3, abs=0.3)
    # A filter takes away what its order lets it.
    assert orders(run, "-compact_derivative filter -compact_periodic", (32, 64))[0] == pytest.approx(4, abs=0.1)
    assert orders(run, "-compact_derivative filter -compact_periodic -compact_order 6", (32, 64))[0] == pytest.approx(6, abs=0.1)


GRIDS = {1: "-dim 1 -da_grid_x 61", 2: "-dim 2 -da_grid_x 19 -da_grid_y 40", 3: "-da_grid_x 19 -da_grid_y 33 -da_grid_z 14"}


@pytest.mark.parametrize("options", ["", "-compact_order 6", "-compact_periodic -compact_derivative second", "-compact_derivative filter -compact_order 6"])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_any_number_of_ranks(run, options, dim, tmp_path):
    one = list(fields(run, f"{GRIDS[dim]} {options}", tmp_path))
    assert [row["axis"] for row, _ in one] == ["x", "y", "z"][:dim]
    for ranks in (2, 3, 8) if options == "" else (3,):
        for (row, values), (_, expected) in zip(fields(run, f"{GRIDS[dim]} {options}", tmp_path, ranks=ranks), one, strict=True):
            assert furthest(values, expected) < rounding(row)


#: Boxes along z of 1 to 8 ranks, no two of a row alike.
BOXES = ["420", "150,270", "90,200,130", "80,130,60,150", "100,60,110,70,80", "60,80,70,90,65,55", "50,65,55,70,60,75,45", "45,60,50,65,48,52,55,45"]


@pytest.mark.parametrize("way", ["-z_pc_line_kernel_tolerance 1e-16", "-z_pc_line_kernel_tolerance 0", "-compact_one_pass"])
def test_unequal_boxes_of_one_to_eight_ranks_are_equal_to_rounding(run, way, tmp_path):
    grid = f"-da_grid_x 5 -da_grid_y 4 -da_grid_z 420 {way} -da_processors_x 1 -da_processors_y 1"
    ((_, expected),) = fields(run, f"{grid} -compact_along z", tmp_path)
    for ranks in range(2, 9):
        ((row, values),) = fields(run, f"{grid} -compact_along z -compact_boxes_z {BOXES[ranks - 1]}", tmp_path, ranks=ranks)
        assert row["one_pass"] == (way == "-compact_one_pass")
        assert furthest(values, expected) < rounding(row), ranks


@pytest.mark.parametrize("tolerance, boxes, says", [("1e-16", "50,70,60", "ranks tell their neighbours only"), ("0", "50,70,60", "ranks of a line solve for its ends"),
                                                    ("1e-16", "50,12,58", "ranks of a line solve for its ends")])
def test_the_view_says_how_ranks_are_coupled(run, tolerance, boxes, says, tmp_path):
    """Neighbours only where what crosses a box from one side to the other is below the tolerance; else exactly, without a word of the user's."""
    ranks, nodes = boxes.count(",") + 1, sum(map(int, boxes.split(",")))
    grid = f"-dim 1 -da_grid_x {nodes} -x_pc_line_kernel_tolerance {tolerance}"
    assert says in compact(run, f"{grid} -compact_boxes_x {boxes} -x_ksp_view", ranks=ranks).output
    ((_, expected),) = fields(run, grid, tmp_path)
    ((row, values),) = fields(run, f"{grid} -compact_boxes_x {boxes}", tmp_path, ranks=ranks)
    assert furthest(values, expected) < rounding(row)


@pytest.mark.parametrize("scheme", schemes(), ids=str)
@pytest.mark.parametrize("way, ranks", [("", 1), ("", 3), ("-compact_one_pass", 1), ("-compact_one_pass", 2)])
def test_closures_are_those_of_the_reference(run, scheme, way, ranks, tmp_path):
    """Rows near ends and inside, against a plain solve with the published tables."""
    nodes = 141
    ((row, values),) = fields(run, f"-dim 1 -da_grid_x {nodes} {scheme.options} {way}", tmp_path, ranks=ranks)
    expected = differentiate(scheme, waves(nodes), 1 / (nodes - 1))
    most = max(sum(map(abs, row.weights)) for row in (scheme.inner, *scheme.head))
    assert furthest(values, expected) < 4 * 2.2e-16 * float(most) * nodes**scheme.derivative


@pytest.mark.parametrize("ranks", [1, 3])
def test_an_assembled_matrix_gives_the_same(run, ranks):
    given = derivatives(compact(run, "-compact_order 6", ranks=ranks))
    assembled = derivatives(compact(run, "-compact_order 6 -compact_assembled", ranks=ranks))
    general = derivatives(compact(run, "-compact_order 6 -compact_assembled -x_pc_line_kernel auto -y_pc_line_kernel auto -z_pc_line_kernel thomas", ranks=ranks))
    for a, b, c in zip(given, assembled, general):
        assert a["most"] == pytest.approx(b["most"], rel=1e-9) == pytest.approx(c["most"], rel=1e-9)


@pytest.mark.parametrize("options", ["", "-compact_order 6", "-compact_order 6 -compact_derivative second", "-compact_order 6 -compact_periodic", "-compact_derivative filter -compact_alpha 0.3"])
def test_one_pass_gives_the_same(run, options):
    """On whole lines and on lines that cross up to four ranks, along x, y and z, in unequal boxes."""
    for grid, processors in (("-dim 1 -da_grid_x 200", "{0}"), ("-dim 2 -da_grid_x 9 -da_grid_y 203", "1 {0}"), ("-da_grid_x 6 -da_grid_y 5 -da_grid_z 201", "1 1 {0}")):
        expected = derivatives(compact(run, f"{grid} {options} -compact_along {'xyz'[processors.count('1')]}"))
        for ranks in (1, 2, 3, 4):
            given = " ".join(f"-da_processors_{axis} {count}" for axis, count in zip("xyz", processors.format(ranks).split()))
            swept = derivatives(compact(run, f"{grid} {given} {options} -compact_one_pass -compact_along {'xyz'[processors.count('1')]}", ranks=ranks))
            assert len(swept) == len(expected) == 1 and swept[0]["one_pass"] and not expected[0]["one_pass"]
            for key in ("most", "mean_square"):
                assert swept[0][key] == pytest.approx(expected[0][key], rel=1e-6)  # second derivatives round by 1e-16 / h^2


@pytest.mark.parametrize("options, ranks", [("-dim 1", 1), ("-dim 2 -compact_order 6 -compact_assembled", 3), ("-compact_derivative second -compact_periodic", 2)])
def test_the_solver_needs_no_options_file(run, options, ranks):
    given, default = (derivatives(result) for result in (compact(run, options, ranks=ranks), run("compact", options, ranks=ranks)))
    assert [row["most"] for row in given] == [row["most"] for row in default]
    view = run("compact", f"{options} -x_ksp_view", ranks=ranks).output
    assert "type: line" in view and "kernel: toeplitz" in view


@pytest.mark.parametrize(
    "options, load, message",
    [
        ("", False, ""),  # it is linked to libweft, and registers PCLINE itself
        ("-x_pc_type none", True, "so g is no derivative: leave -x_pc_type out"),
        ("-compact_assembled -x_pc_type jacobi", False, "so g is no derivative"),
        ("-compact_assembled -x_pc_type none -x_ksp_type richardson -x_ksp_max_it 1 -x_ksp_convergence_test skip", False, "so g is no derivative"),
        ("-compact_assembled -x_pc_type lu", False, ""),
        ("-compact_assembled -x_pc_type jacobi -x_ksp_type gmres", False, ""),
        ("-compact_one_pass -da_grid_x 200", False, ""),
    ],
)
def test_a_solver_that_does_not_solve_is_an_error(run, options, load, message):
    result = run("compact", f"-dim 1 {options}", load=load, expect=None)
    assert (result.code != 0) == bool(message) and message in " ".join(result.output.split()), result.output
    if not message:
        assert derivatives(result)[0]["most"] < 0.1


def test_the_way_of_messages_is_told(run):
    one, two = (compact(run, "-dim 1", ranks=ranks) for ranks in (1, 2))
    assert "messages between 2 ranks: from host to host" in two.output and "messages between" not in one.output
    assert [derivatives(result)[0]["messages"] for result in (one, two)] == ["none", "host"]


def test_one_pass_gives_way_to_the_solver(run):
    """Where couplings reach too far, and where boxes are too short for what the neighbours need."""
    for options, ranks in (("-dim 1 -da_grid_x 200 -compact_derivative filter", 1), ("-dim 1 -da_grid_x 90", 3)):
        given, swept = (derivatives(compact(run, f"{options} {way}", ranks=ranks))[0] for way in ("", "-compact_one_pass"))
        assert not swept["one_pass"] and swept["most"] == pytest.approx(given["most"], rel=1e-9)


@pytest.mark.parametrize("options", ["", "-compact_one_pass -dim 2 -da_grid_x 40 -da_grid_y 130 -da_processors_x 1"])
def test_gradient_divergence_and_laplacian(run, options):
    result = compact(run, f"-case operators -compact_periodic -compact_order 6 {options}", ranks=2)
    assert result.number("gradient, x: error") < 2e-7
    assert result.number("divergence of the gradient: error") < 1e-5
    assert result.number("Laplacian: error") < 3e-6


def test_a_pulse_keeps_its_shape(run, tmp_path):
    result = compact(run, f"-case pulse -dim 2 -da_grid_x 64 -da_grid_y 64 -compact_order 6 -pulse_filter_every 20 -output {tmp_path}/pulse", ranks=2)
    assert result.number("error") < 1e-4
    rows = [[float(word) for word in line.split(",")] for line in (tmp_path / "pulse.csv").read_text().splitlines()[1:]]
    assert len(rows) == 257 and all(energy == pytest.approx(exact, rel=1e-4) for _, _, energy, exact in rows)
    assert (tmp_path / "pulse.vts").stat().st_size > 0 and (tmp_path / "pulse.bin").stat().st_size >= 64 * 64 * 8


def test_the_log_shows_the_steps_of_a_derivative(run):
    """Halo, stencil and solve; in that products, the reduced systems and the pieces of lines that cross ranks."""
    output = compact(run, "-dim 1 -da_grid_x 400 -repeat 1 -log_view", ranks=2).output.split("x, solver\n")[1]  # that stage's events
    calls = {name: int(rows[-1].split()[1]) for name in ("CompactHalo", "CompactStencil", "CompactSolve", "PCLineProducts", "PCLineReduced", "PCLinePiece")
             if (rows := [line for line in output.splitlines() if line.startswith(name) and line.split()[1] != "1"])}
    assert set(calls) == {"CompactHalo", "CompactStencil", "CompactSolve", "PCLineProducts", "PCLineReduced", "PCLinePiece"}, output[-4000:]
    assert calls["PCLineProducts"] == calls["PCLineReduced"] == calls["PCLinePiece"] == calls["CompactSolve"] == calls["CompactStencil"] / 2 == calls["CompactHalo"] / 2


@pytest.mark.parametrize("options", ["", "-compact_periodic", "-compact_periodic -dim 2"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_even_coordinates_are_taken(run, options, ranks):
    compact(run, f"{options} -compact_stretch 0", ranks=ranks)


@pytest.mark.parametrize("ranks", [1, 2])
def test_the_profile_has_each_step(run, ranks):
    swept, solved = derivatives(compact(run, "-dim 1 -da_grid_x 400 -repeat 2 -compact_profile -compact_both_ways", ranks=ranks))
    assert (swept["way"], solved["way"]) == ("one pass", "solver")
    assert set(swept["steps"]) == {"halo", "sweep"} and set(solved["steps"]) == {"halo", "stencil", "piece"} | ({"faces", "reduced"} if ranks > 1 else set())
    for row in (swept, solved):  # steps are means, seconds the least: they make up most of it at least
        assert sum(row["steps"].values()) > 0.3 * 1e3 * row["seconds"], row


def test_the_log_shows_the_one_pass(run):
    output = compact(run, "-dim 1 -da_grid_x 400 -compact_one_pass -log_view", ranks=2).output
    assert any(line.startswith("CompactSweep") for line in output.splitlines()) and not any(line.startswith("CompactSolve") for line in output.splitlines())


@pytest.mark.parametrize("order, largest, at", [(4, 1.732, 0.667), (6, 1.989, 0.722)])
def test_the_modified_wavenumber(run, order, largest, at):
    rows = [tuple(map(float, line.split())) for line in compact(run, f"-case wavenumber -compact_order {order}").output.splitlines() if line[:1].isdigit()]
    k, modified = max(rows, key=lambda row: row[1])
    assert modified == pytest.approx(largest, abs=1e-3) and k / math.pi == pytest.approx(at, abs=0.02)


@pytest.mark.parametrize(
    "options, ranks, message",
    [
        ("-compact_order 5", 1, "schemes of order 4 and 6 are offered, not of order 5"),
        ("-compact_derivative filter -compact_alpha 0.6", 1, "the filter's parameter lies between"),
        ("-dim 1 -da_grid_x 8 -compact_order 6", 4, "is shorter than the stencil"),
        ("-dim 1 -da_grid_x 2", 1, "is shorter than the stencil"),
        ("-dim 1 -da_grid_x 3", 1, "cannot be factored: with so few nodes it may be singular; take more of them along x"),
        ("-dim 2 -compact_stretch 0.3", 2, "map the coordinates onto it"),
        ("-dim 1 -da_grid_x 33 -compact_boxes_x 17,16 -compact_gap 0.1", 2, "map the coordinates onto it"),
        ("-dim 1 -da_grid_x 33 -compact_boxes_x 20,20", 2, "wnership range"),
        ("-dim 1 -da_grid_x 33 -compact_gap 0.1", 1, "map the coordinates onto it"),
        ("-compact_profile", 1, "add -repeat 5, say"),
        ("-compact_along xw", 1, "name directions, of x, y and z"),
        ("-dim 4", 1, "grids have 1, 2 or 3 dimensions"),
        ("-case pulse -dim 1 -output /nowhere/at/all", 1, "/nowhere/at/all.csv"),
        ("-x_pc_line_kernel thomas", 1, "it is solved by -pc_line_kernel toeplitz (or auto), not by thomas"),
        ("-x_pc_line_direction auto", 1, "say along which direction by -pc_line_direction (x|y|z)"),
        ("-da_grid_x 30 -x_pc_line_direction y", 2, "has 30 rows and 30 columns, and the grid has 33 nodes along y"),
    ],
)
def test_wrong_input_says_what_to_do(run, options, ranks, message):
    failed = compact(run, options, ranks=ranks, expect=None)
    assert failed.code != 0
    assert message in " ".join(failed.output.split())
