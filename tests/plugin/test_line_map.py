"""Lines that a user gives: an IS or a PetscSection on the matrix, or a file."""

import pytest


def lines(result):
    return [line for line in result.output.splitlines() if line.startswith("[") and ("] lines" in line or "] none" in line)]


def probe(run, options, **keywords):
    return run("map_probe", options, load=False, **keywords)


@pytest.mark.parametrize("ranks, options, expected", [
    (1, "", ["[0] none"]),
    (1, "-is_0 3,1,-1,-1,5,0", ["[0] lines 3 1 ; 5 0"]),
    (1, "-is_0 -1,2,-7", ["[0] lines 2"]),
    (2, "-is_0 1,0 -is_1 11,6,-1,8", ["[0] lines 1 0", "[1] lines 5 0 ; 2"]),
    (2, "-is_1 7,8", ["[0] lines", "[1] lines 1 2"]),
    (2, "-is_0 3,8,9,-1,5,4", ["[0] lines 5 4 ; 3 | joined -1<3>8", "[1] lines 2 3 | joined 3<2>-1"]),
    (2, "-is_0 7,6 -is_1 11,0,10", ["[0] lines 0 | joined 11<0>10", "[1] lines 1 0 ; 5 ; 4 | joined -1<5>0 0<4>-1"]),
    (1, "-section_0 2,0,3", ["[0] lines 0 1 ; 2 3 4"]),
    (2, "-section_0 6 -section_1 1,2", ["[0] lines 0 1 2 3 4 5", "[1] lines 0 ; 1 2"]),
])
def test_objects_on_the_matrix(run, ranks, options, expected):
    assert lines(probe(run, options, ranks=ranks)) == expected


FILE = """# lines from wall to wall
3 4\t5 8 7   # goes to the second rank

0,1 , 2
9 6
"""


def test_file(run, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text(FILE)
    assert lines(probe(run, f"-n 10 -pc_line_file {path}")) == ["[0] lines 3 4 5 8 7 ; 0 1 2 ; 9 6"]
    expected = ["[0] lines 3 4 5 ; 0 1 2 | joined -1<3>8", "[1] lines 2 1 ; 3 0 | joined 5<2>-1"]
    assert lines(probe(run, f"-n 6 -pc_line_file {path}", ranks=2)) == expected
    path.write_bytes(b"1 2\r\n3")
    assert lines(probe(run, f"-pc_line_file {path}")) == ["[0] lines 1 2 ; 3"]


def test_a_file_whose_lines_come_back(run, tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("0 2 1 5\n3\n")
    assert lines(probe(run, f"-n 2 -pc_line_file {path}", ranks=3)) == [
        "[0] lines 0 ; 1 | joined -1<0>2 2<1>5", "[1] lines 0 ; 1 | joined 0<0>1", "[2] lines 1 | joined 1<1>-1"]


def test_an_object_goes_before_the_file(run, tmp_path):
    assert lines(probe(run, f"-is_0 1,2 -pc_line_file {tmp_path}/none")) == ["[0] lines 1 2"]


@pytest.mark.parametrize("ranks, options, message", [
    (1, "-is_0 3,1,-1,3", "row 3 is in the line map twice"),
    (2, "-is_0 3,1 -is_1 7,9,7", "row 7 is in the line map twice"),
    (2, "-is_0 3,12", "row 12 of the line map is not in the matrix, whose rows are 0 to 11"),
    (2, "-is_0 3,8 -is_1 8,4", "row 8 is in the line map twice"),
    (2, "-section_0 3 -section_1 2,5", "row 12 of the line map is not in the matrix"),
    (2, "-section_0 3,4", "row 6 of the line map is on another rank"),
    (2, "-other", "must be an IS or a PetscSection"),
    (2, "-pc_line_file /nowhere/lines", "the line map '/nowhere/lines' cannot be read"),
    (1, "-pc_line_file /", "the line map '/' cannot be read"),
    (1, "-is_0 -1", "the line map names no row"),
    (2, "-is_0 -1,-1 -is_1 -1", "the line map names no row"),
    (1, "-section_0 0", "the line map names no row"),
])
def test_wrong_maps(run, ranks, options, message):
    failed = probe(run, options, ranks=ranks, expect=None)
    assert failed.code != 0
    assert message in failed.output
    assert lines(failed) == []  # on no rank


@pytest.mark.parametrize("text, message", [
    ("1 2\n3 x\n", "', line 2: expected row numbers"),
    ("1 2 -3\n", "', line 1: expected row numbers"),
    ("", "the line map names no row"),
    ("# none\n\n", "the line map names no row"),
    ("1.5\n", "', line 1: expected row numbers"),
    ("99999999999999999999\n", "', line 1: expected row numbers"),
    ("1 2\n7 12", "row 12 of the line map is not in the matrix"),
    ("1 2\n7 8\n8", "row 8 is in the line map twice"),
])
@pytest.mark.parametrize("ranks", [1, 2])
def test_wrong_files(run, tmp_path, text, message, ranks):
    path = tmp_path / "lines.txt"
    path.write_text(text)
    failed = probe(run, f"-n {12 // ranks} -pc_line_file {path}", ranks=ranks, expect=None)
    assert failed.code != 0
    assert message in failed.output
