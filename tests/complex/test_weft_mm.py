"""weft_mm under a PETSc with complex scalars: what it reads, what it refuses, and that it solves, beside numpy and values computed by hand."""

import csv
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy
import programs
import pytest
from market_runs import run_many, weft_mm, write, write_market_file  # noqa: F401

SIZE = 8
pytestmark = pytest.mark.skipif(programs.setting("WEFT_EXAMPLES", "ON") == "OFF", reason="built without examples")
SOLVE = ["-ksp_type", "gmres", "-pc_type", "none", "-ksp_rtol", "1e-13", "-ksp_gmres_restart", "50"]
KEPT = ["-ksp_view_mat", "binary:A.bin", "-ksp_view_rhs", "binary:b.bin", "-ksp_view_solution", "binary:x.bin"]


def vector(path):
    """PETSc's binary form: big-endian, with a class number and the size."""
    return numpy.frombuffer(path.read_bytes(), ">c16", offset=8).astype(complex)


def dense(path):
    """A matrix in PETSc's binary form: a class number, rows, columns, non-zeros; the rows' lengths, the columns, the values."""
    data = path.read_bytes()
    _, rows, columns, nonzeros = numpy.frombuffer(data, ">i4", 4)
    lengths, places = numpy.split(numpy.frombuffer(data, ">i4", rows + nonzeros, 16), [rows])
    matrix = numpy.zeros((rows, columns), complex)
    matrix[numpy.repeat(numpy.arange(rows), lengths), places] = numpy.frombuffer(data, ">c16", nonzeros, 16 + 4 * (rows + nonzeros))
    return matrix


def coordinates(symmetry, entries, size, field="complex"):
    """entries: (row, column, text of the value), from 1."""
    lines = "".join(f"{row} {column} {value}\n" for row, column, value in entries)
    return f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% made by a test\n{size} {size} {len(entries)}\n{lines}"


# The whole matrix by hand, the lower triangle in the file.
LOWER = [(2, 1, "1 2"), (3, 1, "3 -4"), (3, 2, "0 6"), (4, 3, "7 0"), (4, 1, "-1 1")]
BY_HAND = {
    "symmetric": [[2 + 1j, 1 + 2j, 3 - 4j, -1 + 1j], [1 + 2j, 5, 6j, 0], [3 - 4j, 6j, -3j, 7], [-1 + 1j, 0, 7, 4]],
    "hermitian": [[2, 1 - 2j, 3 + 4j, -1 - 1j], [1 + 2j, 5, -6j, 0], [3 - 4j, 6j, -3, 7], [-1 + 1j, 0, 7, 4]],
    "skew-symmetric": [[0, -1 - 2j, -3 + 4j, 1 - 1j], [1 + 2j, 0, -6j, 0], [3 - 4j, 6j, 0, -7], [-1 + 1j, 0, 7, 0]],
}
DIAGONAL = {
    "symmetric": [(1, 1, "2 1"), (2, 2, "5 0"), (3, 3, "0 -3"), (4, 4, "4 0")],
    "hermitian": [(1, 1, "2 0"), (2, 2, "5 0.0"), (3, 3, "-3 -0"), (4, 4, "4 0")],
    "skew-symmetric": [(2, 2, "0 0")],
}


STORED = {"symmetric": 14, "hermitian": 14, "skew-symmetric": 11}  # of both triangles; the last with a zero that its file writes down


def same(found, expected):
    numpy.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("stored", ["lower", "upper"])
@pytest.mark.parametrize("symmetry", BY_HAND)
def test_one_triangle_stands_for_both(weft_mm, write, tmp_path, symmetry, stored, ranks):
    matrix = numpy.array(BY_HAND[symmetry])
    if stored == "upper":  # the same file with its places mirrored is another matrix where mirroring is not all
        matrix = matrix.T
    entries = [(row, column, value) if stored == "lower" else (column, row, value) for row, column, value in DIAGONAL[symmetry] + LOWER]
    outcome = weft_mm(write(coordinates(symmetry, entries, 4)), *SOLVE, *KEPT, ranks=ranks)
    assert outcome.code == 0, outcome
    assert f"4 x 4, {STORED[symmetry]} non-zeros, complex {symmetry};" in outcome.out
    numpy.testing.assert_array_equal(dense(tmp_path / "A.bin"), matrix)
    same(vector(tmp_path / "x.bin"), numpy.linalg.solve(matrix, numpy.ones(4)))


@pytest.mark.parametrize("symmetry", ["general", *BY_HAND])
def test_arrays(weft_mm, write, tmp_path, symmetry):
    matrix = numpy.array(BY_HAND.get(symmetry, BY_HAND["symmetric"]), dtype=complex)
    if symmetry == "general":
        matrix[0, 3] = 9 - 2j
    first = {"general": lambda column: 0, "skew-symmetric": lambda column: column + 1}.get(symmetry, lambda column: column)
    values = [matrix[row, column] for column in range(4) for row in range(first(column), 4)]
    text = f"%%MatrixMarket matrix array complex {symmetry}\n4 4\n" + "".join(f"{value.real!r} {value.imag!r}\n" for value in values)
    outcome = weft_mm(write(text), *SOLVE, *KEPT)
    assert outcome.code == 0, outcome
    numpy.testing.assert_array_equal(dense(tmp_path / "A.bin"), matrix)
    same(vector(tmp_path / "x.bin"), numpy.linalg.solve(matrix, numpy.ones(4)))


def value_of(field, chance):
    if field == "complex":
        return complex(*chance.uniform(-1, 1, 2))
    return {"real": chance.uniform(-1, 1), "integer": int(chance.integers(1, 9)), "pattern": 1}[field]


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize(
    "field, symmetry", [("complex", "general"), ("real", "general"), ("real", "hermitian"), ("real", "skew-symmetric"), ("integer", "symmetric"), ("pattern", "general")]
)
def test_every_field(weft_mm, write, tmp_path, field, symmetry, ranks):
    chance = numpy.random.default_rng(1)
    matrix, entries = numpy.zeros((SIZE, SIZE), complex), []
    for row, column in itertools.product(range(SIZE), repeat=2):
        if abs(row - column) not in (0, 1, 3) or (symmetry != "general" and row < column) or (symmetry == "skew-symmetric" and row == column):
            continue
        if field == "pattern" and (row, column) in ((0, 1), (5, 2)):  # so that it is not symmetric by accident, nor singular
            continue
        value = value_of(field, chance) + (5 if row == column and field != "pattern" else 0)
        text = f"{value.real!r} {value.imag!r}" if field == "complex" else "" if field == "pattern" else f"{value!r}"
        entries.append((row + 1, column + 1, text))
        matrix[row, column] = value
        if symmetry != "general":
            matrix[column, row] = -value if symmetry == "skew-symmetric" else value
    assert numpy.linalg.cond(matrix) < 1e3
    outcome = weft_mm(write(coordinates(symmetry, entries, SIZE, field), "A.mtx.gz"), *SOLVE, *KEPT, ranks=ranks)
    assert outcome.code == 0, outcome
    told = "symmetric" if symmetry == "hermitian" else symmetry  # of real values the same
    assert f"{SIZE} x {SIZE}, {numpy.count_nonzero(matrix)} non-zeros, {field} {told};" in outcome.out
    numpy.testing.assert_array_equal(dense(tmp_path / "A.bin"), matrix)
    same(vector(tmp_path / "x.bin"), numpy.linalg.solve(matrix, numpy.ones(SIZE)))


def test_what_other_programs_write(weft_mm, write, tmp_path):
    entries = [(1, 1, "1.0D+00 -2.5Q-1"), (2, 1, "1.5+2 .5"), (2, 2, "-3d0 4.0-101"), (1, 2, "1e0 +2"), (1, 2, "1 -5")]  # two at one place: their sum
    assert weft_mm(write(coordinates("general", entries, 2).replace("\n", "\r\n")), *SOLVE, *KEPT).code == 0
    numpy.testing.assert_array_equal(dense(tmp_path / "A.bin"), [[1 - 0.25j, 2 - 3j], [150 + 0.5j, -3 + 4e-101j]])


@pytest.mark.parametrize("ranks", [1, 3])
def test_right_hand_sides(weft_mm, write, tmp_path, ranks):
    size = 40
    matrix = numpy.diag(numpy.linspace(4, 5, size) + 2j) + numpy.diag(numpy.full(size - 1, 1j), -1) + numpy.diag(numpy.ones(size - 1), 1)
    entries = [(row + 1, column + 1, f"{matrix[row, column].real!r} {matrix[row, column].imag!r}") for row, column in zip(*numpy.nonzero(matrix))]
    write(coordinates("general", entries, size))
    given = numpy.linspace(-1, 1, size) + 1j * numpy.linspace(3, 2, size)
    write(f"%%MatrixMarket matrix array complex general\n{size} 1\n" + "".join(f"{value.real!r} {value.imag!r}\n" for value in given), "b.mtx.gz")
    write(f"%%MatrixMarket matrix array real general\n{size} 1\n" + "".join(f"{value.real!r}\n" for value in given), "real.mtx")
    write(f"%%MatrixMarket matrix coordinate complex general\n{size} 1 2\n3 1 0 -2\n{size} 1 1 1\n", "places.mtx")
    sides = {}
    for kind in ("ones", "random", "solution", "b.mtx.gz", "real.mtx", "places.mtx"):
        outcome = weft_mm("A.mtx", "-rhs", kind, *SOLVE, *KEPT, ranks=ranks)
        assert outcome.code == 0 and f"right-hand side: {kind}" in outcome.out, outcome
        sides[kind] = vector(tmp_path / "b.bin")
        same(vector(tmp_path / "x.bin"), numpy.linalg.solve(matrix, sides[kind]))
    numpy.testing.assert_array_equal(sides["ones"], numpy.ones(size))
    numpy.testing.assert_array_equal(sides["b.mtx.gz"], given)
    numpy.testing.assert_array_equal(sides["real.mtx"], given.real)
    assert {place: sides["places.mtx"][place] for place in numpy.nonzero(sides["places.mtx"])[0]} == {2: -2j, size - 1: 1 + 1j}
    same(sides["solution"], matrix @ sides["random"])
    for part in (sides["random"].real, sides["random"].imag):
        assert -1 <= part.min() < -0.8 and 0.8 < part.max() < 1 and abs(part.mean()) < 0.3
    assert abs(numpy.corrcoef(sides["random"].real, sides["random"].imag)[0, 1]) < 0.5


def banded(size, diagonal, below, above):
    """Entries of a tridiagonal matrix, as texts."""
    entries = [(row, row, diagonal) for row in range(1, size + 1)]
    return entries + [(row + 1, row, below) for row in range(1, size)] + ([(row, row + 1, above) for row in range(1, size)] if above else [])


#: What -describe finds whatever the header says, by hand: the spectrum of tridiag(b, a, conj(b)) lies within a +- 2 |b|.
STRUCTURES = {
    "Hermitian and positive": (coordinates("hermitian", banded(9, "3 0", "1 1", ""), 9), "Hermitian, definite: positive,", (False, True, "positive")),
    "Hermitian and negative": (coordinates("general", banded(9, "-3 0", "1 1", "1 -1"), 9), "Hermitian, definite: negative,", (False, True, "negative")),
    "Hermitian and indefinite": (coordinates("hermitian", banded(9, "2 0", "1 1", ""), 9), "Hermitian, definite: no,", (False, True, "no")),
    # Its twin with transposed couplings is positive; with its real parts alone it would be too.
    "complex symmetric": (coordinates("symmetric", banded(9, "3 0", "1 1", ""), 9), "symmetric, definite: no,", (True, False, "no")),
    "a shifted Laplacian": (coordinates("symmetric", banded(9, "3 1", "-1 0", ""), 9), "symmetric, definite: no,", (True, False, "no")),
    "real values": (coordinates("general", banded(9, "3 0", "-1 0", "-1 0"), 9), "symmetric and Hermitian, definite: positive,", (True, True, "positive")),
    "a real file": (coordinates("symmetric", banded(9, "3", "-1", ""), 9, "real"), "symmetric and Hermitian, definite: positive,", (True, True, "positive")),
    "a pattern alone": (coordinates("general", banded(9, "3 0", "1 1", "2 1"), 9), "symmetric in its pattern, definite: no,", (False, False, "no")),
    "skew": (coordinates("skew-symmetric", [(row + 1, row, "1 1") for row in range(1, 8)], 8), "symmetric in its pattern, definite: no,", (False, False, "no")),
}


@pytest.mark.parametrize("text, words, expected", STRUCTURES.values(), ids=STRUCTURES.keys())
def test_describe(weft_mm, write, tmp_path, text, words, expected):
    outcome = weft_mm(write(text), "-describe", "-json", "d.json")
    assert outcome.code == 0 and words in outcome.out, outcome
    found = json.loads((tmp_path / "d.json").read_text())
    assert (found["structure"]["symmetric"], found["structure"]["hermitian"], found["structure"]["definite"]) == expected
    assert found["matrix"]["field"] == text.split()[3] and found["matrix"]["symmetry"] == text.split()[4]


def no_constant(name):
    raise AssertionError(f"{name} is no JSON")


SETS = ["-pc_type ilu", "-pc_type crout", "-pc_type crout -pc_crout_pattern full", "-pc_type line -pc_line_source rows", "-pc_type icc"]


def test_compare(weft_mm, write, tmp_path):
    outcome = weft_mm(write(coordinates("symmetric", banded(60, "3 1", "-1 0.5", ""), 60)), "-dll_append", programs.LIBRARY, "-ksp_rtol", "1e-10", "-compare", "; ".join(SETS), "-rhs", "random")
    assert outcome.code == 0, outcome
    document = json.loads((tmp_path / "weft_mm.json").read_text(), parse_constant=no_constant)
    assert document["matrix"]["field"] == "complex" and document["matrix"]["symmetry"] == "symmetric"
    assert [row["options"] for row in document["results"]] == SETS
    for row in document["results"]:
        assert row["solved"] and 0 <= row["residual"] < 1e-8 and row["iterations"] <= 2, row  # all are exact on a line, a Hermitian icc would not be


@pytest.mark.parametrize("ranks", [1, 3])
def test_conjugate_gradients_for_hermitian_ones(weft_mm, write, ranks):
    write(coordinates("hermitian", banded(50, "4 0", "1 1", ""), 50))
    assert weft_mm("A.mtx", "-ksp_type", "cg", "-pc_type", "jacobi", "-ksp_rtol", "1e-10", "-ksp_max_it", "40", ranks=ranks).code == 0


SOURCE = Path(os.environ["WEFT_SOURCE"])


def test_shipped_matrices(tmp_path):
    folder = SOURCE / "matrices" / "complex"
    with open(folder / "manifest.csv", newline="") as file:
        manifest = list(csv.DictReader(file))
    assert [row["file"] for row in manifest] == sorted(path.name for path in folder.glob("*.mtx.gz")) and len(manifest) == 3
    outcomes = run_many([(tmp_path, [folder / row["file"], "-ksp_rtol", "1e-8", "-pc_type", "ilu", "-ksp_gmres_restart", "400"], 1) for row in manifest])
    for row, outcome in zip(manifest, outcomes):
        assert outcome.code == 0, outcome
        assert f"{row['file']}: {row['rows']} x {row['columns']}, {row['nonzeros']} non-zeros, complex {row['symmetry']};" in outcome.out, outcome
        assert row["suitesparse_name"].replace("/", "__") + ".mtx.gz" == row["file"] and row["values"] == "complex" and row["licence"] == "CC-BY 4.0"


MADE = {name: "symmetric" for name in ("helmholtz-plane", "helmholtz-space", "shifted-laplacian", "schroedinger", "maxwell")}
MADE |= {"plasma": "Hermitian", "anderson": "Hermitian", "wilson": "symmetric in its pattern", "circuit": "unsymmetric", "damped-pencil": "unsymmetric"}


def test_made_matrices(tmp_path):
    """Files of another program, scipy's: that weft_mm finds in them the structure that their kind has."""
    pytest.importorskip("scipy")
    subprocess.run([sys.executable, SOURCE / "scripts" / "complex_matrices.py", tmp_path], check=True)
    assert sorted(path.stem for path in tmp_path.glob("*.mtx")) == sorted(MADE)
    for name, outcome in zip(MADE, run_many([(tmp_path, [f"{name}.mtx", "-describe"], 1) for name in MADE])):
        assert outcome.code == 0 and f"non-zeros, {MADE[name]}, definite: no," in outcome.out, outcome


GOOD = coordinates("general", [(1, 1, "4 1"), (2, 1, "1 -1"), (2, 2, "3 0")], 2)
HERMITIAN = coordinates("hermitian", [(1, 1, "4 0"), (2, 1, "1 -1"), (2, 2, "3 0")], 2)
ARRAY = "%%MatrixMarket matrix array complex general\n"

WRONG_FILES = {
    "one value": (GOOD.replace("1 -1", "1"), "line 5: '2 1 1' is no entry: expected 'row column real imaginary'"),
    "three values": (GOOD.replace("1 -1", "1 -1 2"), "line 5: '2 1 1 -1 2' is no entry: expected 'row column real imaginary'"),
    "as programs print them": (GOOD.replace("1 -1", "(1,-1)"), "line 5: '2 1 (1,-1)' is no entry"),
    "real with two values": (GOOD.replace("complex", "real"), "line 4: '1 1 4 1' is no entry: expected 'row column value'"),
    "array with one value a line": (ARRAY + "1 1\n1\n", "line 3: '1' is no entry: expected 'real imaginary'"),
    "NaN in a real part": (GOOD.replace("1 -1", "nan 1"), "line 5: '2 1 nan 1' holds a value that is not a finite number"),
    "NaN in an imaginary part": (GOOD.replace("1 -1", "1 nan"), "line 5: '2 1 1 nan' holds a value that is not a finite number"),
    "infinite": (GOOD.replace("1 -1", "1 -1e999"), "not a finite number"),
    "beyond CHOLMOD's range": (GOOD.replace("1 -1", "1 -1.2e308"), "holds a value beyond 1e308, which CHOLMOD reads as infinite"),
    "an overflowing sum": (GOOD.replace("2 2 3\n", "2 2 4\n").replace("2 1 1 -1", "2 1 0 9e307\n2 1 0 9.9e307"), "whose sum is not a finite number"),
    "half a Fortran exponent": (GOOD.replace("1 -1", "1 1.0D+"), "line 5: '2 1 1 1.0D+' is no entry"),
    "Hermitian diagonal": (HERMITIAN.replace("2 2 3 0", "2 2 3 1e-30"), "line 6: '2 2 3 1e-30' is on the diagonal, whose imaginary part is zero in a Hermitian matrix"),
    "Hermitian array": (ARRAY.replace("general", "hermitian") + "3 3\n1 0\n2 2\n3 3\n4 0\n5 5\n6 6\n", "line 8: '6 6' is on the diagonal, whose imaginary part"),
    "skew diagonal": (coordinates("skew-symmetric", [(2, 1, "1 1"), (2, 2, "0 5")], 2), "line 5: '2 2 0 5' is on the diagonal, which is zero in a skew-symmetric matrix"),
    "both triangles": (HERMITIAN.replace("2 2 3\n", "2 2 4\n") + "1 2 1 1\n", "line 7: '1 2 1 1' is above the diagonal and others are below: a hermitian file stores one triangle only"),
    "rectangular Hermitian": ("%%MatrixMarket matrix coordinate complex hermitian\n3 2 1\n1 1 1 0\n", "is rectangular, but the header says hermitian"),
    "unknown field": (GOOD.replace("complex", "rational"), "unknown field 'rational'; known are real, complex, integer and pattern"),
    "unknown symmetry": (GOOD.replace("general", "unitary"), "unknown symmetry 'unitary'; known are general, symmetric, hermitian and skew-symmetric"),
    "cut off": (GOOD[: GOOD.rindex("2 2 3")], "promises 3 entries, the file ends after 2"),
    "entries that no file could hold": (GOOD.replace("2 2 3\n", "2147483647 2147483647 2147483647\n"), "bytes cannot hold them"),
    "row that cancels": (GOOD.replace("2 2 3\n", "2 2 4\n").replace("1 1 4 1\n", "1 1 4 1\n1 1 -4 -1\n"), "is singular: row 1 has no non-zero entry"),
}


def expect_refusal(outcome, words):
    assert outcome.code == 1, outcome
    assert len(outcome.complaints) == 1 and words in outcome.complaints[0], outcome
    assert "PETSC ERROR" not in outcome.out + outcome.err and "option set" not in outcome.out


WAYS = [(case, 1) for case in WRONG_FILES] + [("Hermitian diagonal", 3), ("one value", 3)]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    jobs = []
    for case, ranks in WAYS:
        folder = tmp_path_factory.mktemp("wrong")
        write_market_file(folder / "A.mtx", WRONG_FILES[case][0])
        jobs.append((folder, ["A.mtx"], ranks))
    return dict(zip(WAYS, run_many(jobs)))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way)))
def test_wrong_file(outcomes, way):
    expect_refusal(outcomes[way], WRONG_FILES[way[0]][1])
    assert outcomes[way].complaints[0].startswith("weft_mm: A.mtx")


def test_wrong_right_hand_side(weft_mm, write):
    write(ARRAY + "2 1\n1 1\n1\n", "b.mtx")
    expect_refusal(weft_mm(write(GOOD), "-rhs", "b.mtx"), "right-hand side: b.mtx, line 4: '1' is no entry: expected 'real imaginary'")


def test_usage(weft_mm):
    helped = weft_mm("-help")
    assert helped.code == 0 and "Solves A x = b for a square complex, real, integer or pattern matrix in Matrix Market form." in helped.out
