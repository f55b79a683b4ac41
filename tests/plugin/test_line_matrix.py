"""Lines of a grid that share one matrix, which the user gives by itself (composed as "weft_line")."""

import pytest

LINE = "-pc_type line -pc_line_direction"


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("options", [f"-n 9,40 -direction 1 {LINE} y", f"-n 33,8 {LINE} x -pc_line_kernel toeplitz", f"-n 40,5 -ring 1,0 {LINE} x", f"-n 12,31 -direction 1 -dof 2 {LINE} y",
                                     f"-n 4,60 -direction 1 {LINE} y -da_processors_x 1", f"-n 4,4 {LINE} x"])
def test_lines_are_solved(run, options, ranks):
    assert run("line_probe", options, ranks=ranks).number("residual") < 1e-14


@pytest.mark.parametrize(
    "options, ranks, message",
    [
        ("-wrong inside", 2, "row 20 of the matrix of one line, composed as \"weft_line\", differs from those before it: only the first and the last 4 rows may"),
        ("-wrong wide", 2, "row 20 of the matrix of one line, composed as \"weft_line\", has entries beside its neighbours"),
        ("-wrong size", 1, "has 39 rows and 39 columns, and the grid has 40 nodes along y"),
        ("-wrong dense", 1, "is to be of type seqaij and is seqdense"),
        ("-wrong missing", 2, "some ranks have composed a matrix of one line as \"weft_line\" and some have not"),
        ("-pc_line_kernel wide", 1, "it is solved by -pc_line_kernel toeplitz (or auto), not by wide"),
        ("-pc_line_direction xy", 1, "say along which direction by -pc_line_direction (x|y|z)"),
        ("-dof 2 -pc_line_components together", 1, "the unknowns of a node have lines of their own"),
    ],
)
def test_wrong_ones_are_refused(run, options, ranks, message):
    failed = run("line_probe", f"-n 9,40 -direction 1 {LINE} y {options}", ranks=ranks, expect=None)
    assert failed.code != 0
    assert message in " ".join(failed.output.split())


def test_without_a_grid(run):
    failed = run("line_probe", "-wrong grid -pc_type line", expect=None)
    assert failed.code != 0
    assert "composed as \"weft_line\", and no grid is known" in " ".join(failed.output.split())
