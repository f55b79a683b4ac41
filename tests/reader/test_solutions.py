"""Every kind of file is solved, and the solution compared with one computed from the same numbers without weft_mm."""

import gzip
import itertools
import random

import numpy
import pytest

SIZE = 7
DIRECT = ["-ksp_type", "preonly", "-pc_type", "lu", "-ksp_view_solution", "ascii:x.txt:ascii_matlab"]
ITERATIVE = ["-ksp_type", "gmres", "-pc_type", "none", "-ksp_rtol", "1e-13", "-ksp_gmres_restart", "50", "-ksp_view_solution", "ascii:x.txt:ascii_matlab"]


def entries_of(field, symmetry):
    """A well-conditioned matrix of that kind as the entries that its file stores, {(row, column): value}, zero-based."""
    chance = random.Random(1)
    stored = {}
    for row, column in itertools.product(range(SIZE), repeat=2):
        near = abs(row - column) in ((1, 6) if field == "pattern" else (1, 3))
        if row == column and symmetry != "skew-symmetric":
            stored[row, column] = 1 if field == "pattern" else 12 + row
        elif near and (symmetry == "general" or row > column):
            stored[row, column] = 1 if field == "pattern" else chance.randint(1, 3) if field == "integer" else chance.uniform(-1, 1)
    if symmetry == "skew-symmetric":  # of even order, for those of odd order are singular
        stored = {place: value for place, value in stored.items() if SIZE - 1 not in place}
    if field == "pattern" and symmetry == "general":
        del stored[0, 1], stored[4, 3]  # so that it is not symmetric by accident
    return stored


def expanded(stored, symmetry, size):
    matrix = numpy.zeros((size, size))
    for (row, column), value in stored.items():
        matrix[row, column] += value
        if row != column and symmetry != "general":
            matrix[column, row] += -value if symmetry == "skew-symmetric" else value
    return matrix


def text_of(stored, field, symmetry, size):
    lines = [f"%%MatrixMarket matrix coordinate {field} {symmetry}", "% a comment", "", f"{size} {size} {len(stored)}"]
    lines += [f"{row + 1} {column + 1}" + ("" if field == "pattern" else f" {value!r}") for (row, column), value in stored.items()]
    return "\n".join(lines) + "\n"


def solution(tmp_path):
    """PETSc's vector in Matlab's form, the one with all digits: the lines that are numbers."""
    numbers = []
    for line in (tmp_path / "x.txt").read_text().splitlines():
        try:
            numbers.append(float(line))
        except ValueError:
            pass
    return numpy.array(numbers)


KINDS = [kind for kind in itertools.product(("real", "integer", "pattern"), ("general", "symmetric", "skew-symmetric")) if kind != ("pattern", "skew-symmetric")]


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("field, symmetry", KINDS)
def test_kinds(weft_mm, write, tmp_path, field, symmetry, ranks):
    stored = entries_of(field, symmetry)
    size = SIZE - 1 if symmetry == "skew-symmetric" else SIZE
    matrix = expanded(stored, symmetry, size)
    assert numpy.linalg.cond(matrix) < 1e3
    outcome = weft_mm(write(text_of(stored, field, symmetry, size)), *ITERATIVE, ranks=ranks)
    assert outcome.code == 0, outcome.err
    numpy.testing.assert_allclose(solution(tmp_path), numpy.linalg.solve(matrix, numpy.ones(size)), rtol=1e-9, atol=1e-12)
    assert f"{size} x {size}, {numpy.count_nonzero(matrix)} non-zeros, {field} {symmetry}" in outcome.out


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
def test_arrays(weft_mm, write, tmp_path, symmetry):
    size = 4
    chance = numpy.random.default_rng(2)
    matrix = chance.uniform(1, 2, (size, size)) + 5 * numpy.eye(size)
    if symmetry == "symmetric":
        matrix = matrix + matrix.T
    if symmetry == "skew-symmetric":
        matrix = matrix - matrix.T
    first = {"general": lambda column: 0, "symmetric": lambda column: column, "skew-symmetric": lambda column: column + 1}[symmetry]
    values = [matrix[row, column] for column in range(size) for row in range(first(column), size)]
    text = f"%%MatrixMarket matrix array real {symmetry}\n{size} {size}\n" + "".join(f"{float(value)!r}\n" for value in values)
    assert weft_mm(write(text), *ITERATIVE).code == 0
    numpy.testing.assert_allclose(solution(tmp_path), numpy.linalg.solve(matrix, numpy.ones(size)), rtol=1e-9)


def test_upper_triangle_is_a_symmetric_matrix_too(weft_mm, write, tmp_path):
    lower = entries_of("real", "symmetric")
    upper = {(column, row): value for (row, column), value in lower.items()}
    assert weft_mm(write(text_of(upper, "real", "symmetric", SIZE)), *DIRECT).code == 0
    numpy.testing.assert_allclose(solution(tmp_path), numpy.linalg.solve(expanded(lower, "symmetric", SIZE), numpy.ones(SIZE)), rtol=1e-9)


def test_entries_at_one_place_are_summed(weft_mm, write, tmp_path):
    assert weft_mm(write("%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 3\n2 2 4\n1 1 2\n"), *DIRECT).code == 0
    numpy.testing.assert_allclose(solution(tmp_path), [0.2, 0.25])


def test_layout_of_the_text_does_not_matter(weft_mm, write, tmp_path):
    text = "%%MatrixMarket MATRIX Coordinate REAL General\r\n%c\r\n\r\n  2\t2 2\r\n\r\n% between\r\n 1  1 +5.0e-1 \r\n2 2 .25"
    assert weft_mm(write(text), *DIRECT).code == 0
    numpy.testing.assert_allclose(solution(tmp_path), [2, 4])


def test_compressed_is_plain(weft_mm, matrices, write, tmp_path):
    packed = matrices / "HB__orsirr_1.mtx.gz"
    plain = write(gzip.decompress(packed.read_bytes()).decode())
    solutions = []
    for file in (packed, plain):
        assert weft_mm(file, *DIRECT).code == 0
        solutions.append(solution(tmp_path))
    assert len(solutions[0]) == 1030
    numpy.testing.assert_array_equal(*solutions)


def market_matrix(path):
    lines = [line.split() for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    body = [line for line in lines if not line[0].startswith("%")]
    stored = {(int(row) - 1, int(column) - 1): float(value) for row, column, value in body[1:]}
    return expanded(stored, lines[0][4], int(body[0][0]))


@pytest.mark.parametrize("ranks", [1, 2])
def test_right_hand_sides(weft_mm, matrices, write, tmp_path, ranks):
    file = matrices / "HB__gr_30_30.mtx.gz"
    matrix = market_matrix(file)
    direct = DIRECT if ranks == 1 else ["-ksp_type", "cg", "-ksp_rtol", "1e-13", *DIRECT[-2:]]
    found = {}
    given = numpy.linspace(-1, 1, 900)
    write("%%MatrixMarket matrix array real general\n900 1\n" + "".join(f"{float(value)!r}\n" for value in given), "b.mtx.gz")
    for kind in ("ones", "random", "solution", "b.mtx.gz"):
        outcome = weft_mm(file, "-rhs", kind, *direct, ranks=ranks)
        assert outcome.code == 0 and f"right-hand side: {kind}" in outcome.out
        found[kind] = solution(tmp_path)
    numpy.testing.assert_allclose(matrix @ found["ones"], numpy.ones(900), rtol=1e-8)
    numpy.testing.assert_allclose(matrix @ found["b.mtx.gz"], given, atol=1e-9)
    # Random: the right-hand side of "random" is the solution of "solution"; in [-1, 1), and not all the same.
    numpy.testing.assert_allclose(matrix @ found["random"], found["solution"], atol=1e-8)
    assert -1 <= found["solution"].min() < -0.9 and 0.9 < found["solution"].max() < 1
    assert abs(found["solution"].mean()) < 0.1


def test_right_hand_side_in_coordinates(weft_mm, write, tmp_path):
    write("%%MatrixMarket matrix coordinate real general\n2 1 1\n2 1 3\n", "b.mtx")
    assert weft_mm(write("%%MatrixMarket matrix array real general\n2 2\n2\n0\n1\n2\n"), "-rhs", "b.mtx", *DIRECT).code == 0
    numpy.testing.assert_allclose(solution(tmp_path), [-0.75, 1.5])


def test_random_does_not_depend_on_the_ranks(weft_mm, matrices, tmp_path):
    solutions = []
    for ranks in (1, 2):
        weft_mm(matrices / "HB__gr_30_30.mtx.gz", "-rhs", "random", "-ksp_type", "cg", "-pc_type", "jacobi", "-ksp_rtol", "1e-13", *DIRECT[-2:], ranks=ranks)
        solutions.append(solution(tmp_path))
    numpy.testing.assert_allclose(*solutions, rtol=1e-9)
