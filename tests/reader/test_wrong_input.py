"""Every wrong input gets one sentence that names what is wrong, no stack of PETSc's, and exit code 1."""

import gzip

import pytest

from conftest import run_many, write_market_file

REAL = "%%MatrixMarket matrix coordinate real general\n"
SYMMETRIC = "%%MatrixMarket matrix coordinate real symmetric\n"
SKEW = "%%MatrixMarket matrix coordinate real skew-symmetric\n"
PATTERN = "%%MatrixMarket matrix coordinate pattern general\n"
ARRAY = "%%MatrixMarket matrix array real general\n"
GOOD = REAL + "2 2 3\n1 1 4\n2 1 1\n2 2 3\n"

WRONG_FILES = {
    "empty file": ("", "is an empty file"),
    "no header": ("2 2 1\n1 1 1\n", "line 1: '2 2 1' is no Matrix Market header; it should read like"),
    "a web page": ("<!DOCTYPE html>\n<html>\n", "line 1: '<!DOCTYPE html>' is no Matrix Market header"),
    "binary": ("\x00\x01" * 5000, "line 1: '????"),
    "short header": ("%%MatrixMarket matrix coordinate real\n1 1 1\n1 1 1\n", "is no Matrix Market header"),
    "unknown format": (GOOD.replace("coordinate", "co-ordinates"), "unknown format 'co-ordinates'"),
    "unknown field": (GOOD.replace("real", "rational"), "unknown field 'rational'"),
    "unknown symmetry": (GOOD.replace("general", "generous"), "unknown symmetry 'generous'"),
    "complex": (GOOD.replace("real", "complex"), "is complex; only real, integer and pattern matrices can be solved here: use the weft_mm of a build for complex scalars"),
    "pattern array": (ARRAY.replace("real", "pattern") + "1 1\n1\n", "an array has values"),
    "skew pattern": ("%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 1\n2 1\n", "a pattern has no signs"),
    "header alone": (REAL, "ends before the line with the matrix's sizes"),
    "comments alone": (REAL + "% nothing\n\n", "ends before the line with the matrix's sizes"),
    "bad size line": (REAL + "2 two 3\n", "line 2: '2 two 3' is no size line: expected 'rows columns entries'"),
    "two sizes": (REAL + "2 2\n1 1 1\n", "line 2: '2 2' is no size line"),
    "four sizes": (REAL + "2 2 1 1\n1 1 1\n", "is no size line"),
    "negative size": (REAL + "-2 -2 1\n1 1 1\n", "a size is negative"),
    "huge size": (REAL + "3000000000 3000000000 1\n1 1 1\n", "too large"),
    "overflowing size": (REAL + "99999999999999999999 1 1\n", "is no size line"),
    "cut off": (GOOD[: GOOD.rindex("2 2 3")], "promises 3 entries, the file ends after 2"),
    "cut within a line": (GOOD[: GOOD.rindex(" 3\n")], "line 5: '2 2' is no entry: expected 'row column value'"),
    "too many entries": (GOOD + "1 2 1\n", "line 6: '1 2 1' is one entry more than the 3"),
    "one entry much later": (GOOD + "% comment\n" * 50000 + "1 2 1\n", "line 50006: '1 2 1' is one entry more than the 3"),
    "letters in an entry": (GOOD.replace("2 1 1", "2 x 1"), "line 4: '2 x 1' is no entry: expected 'row column value'"),
    "too many words": (GOOD.replace("2 1 1", "2 1 1 9"), "line 4: '2 1 1 9' is no entry"),
    "zero bytes in an entry": (GOOD.replace("2 1 1", "2 1 1\0\0 9"), "line 4: '2 1 1?? 9' holds a zero byte: the file is damaged"),
    "half a Fortran exponent": (GOOD.replace("2 1 1", "2 1 1.0D+"), "line 4: '2 1 1.0D+' is no entry"),
    "two Fortran exponents": (GOOD.replace("2 1 1", "2 1 1.0D1D1"), "is no entry"),
    "beyond CHOLMOD's range": (GOOD.replace("2 1 1", "2 1 -1.2e308"), "line 4: '2 1 -1.2e308' holds a value beyond 1e308, which CHOLMOD reads as infinite"),
    "an overflowing sum": (GOOD.replace("2 2 3", "2 2 4", 1).replace("2 1 1", "2 1 9e307\n2 1 9.9e307"), "holds several entries at one place whose sum is not a finite number"),
    "rows without entries": (REAL + "2147483647 2147483647 1\n1 1 1\n", "is singular: it has 1 entries for 2147483647 rows"),
    "rows without entries, symmetric": (SYMMETRIC + "50000000 50000000 2\n1 1 1\n2 1 1\n", "is singular: it has 2 entries for 50000000 rows"),
    "entries that no file could hold": (REAL + "2147483647 2147483647 2147483647\n1 1 1\n", "promises 2147483647 entries, and 85 bytes cannot hold them"),
    "a large empty array": (ARRAY + "2147483647 2147483647\n1\n", "bytes cannot hold them"),
    "a large rectangular one": (REAL + "2147483647 1 1\n1 1 1\n", "is rectangular (2147483647 x 1)"),
    "complex hermitian": (GOOD.replace("real general", "complex hermitian"), "is complex; only real, integer and pattern"),
    "row that is no integer": (GOOD.replace("2 1 1", "1.5 1 1"), "line 4: '1.5 1 1' is no entry"),
    "pattern with values": (PATTERN + "1 1 1\n1 1 1\n", "is no entry: expected 'row column'"),
    "real without values": (REAL + "1 1 1\n1 1\n", "is no entry: expected 'row column value'"),
    "not a number": (GOOD.replace("1 1 4", "1 1 nan"), "line 3: '1 1 nan' holds a value that is not a finite number"),
    "infinite": (GOOD.replace("1 1 4", "1 1 1e999"), "not a finite number"),
    "row too large": (GOOD.replace("2 1 1", "3 1 1"), "line 4: '3 1 1' names row 3; the rows go from 1 to 2"),
    "column too large": (GOOD.replace("2 1 1", "2 7 1"), "names column 7; the columns go from 1 to 2"),
    "zero-based": (GOOD.replace("1 1 4", "0 0 4"), "names row 0"),
    "both triangles": (SYMMETRIC + "2 2 3\n1 1 4\n2 1 1\n1 2 1\n", "line 5: '1 2 1' is above the diagonal and others are below"),
    "skew with a diagonal": (SKEW + "2 2 2\n2 1 1\n2 2 5\n", "line 4: '2 2 5' is on the diagonal, which is zero"),
    "rectangular symmetric": (SYMMETRIC + "3 2 1\n1 1 1\n", "is rectangular, but the header says symmetric"),
    "long line": (REAL + "%" * 2000 + "\n1 1 1\n1 1 1\n", "is longer than the 1024 characters"),
    "array cut off": (ARRAY + "2 2\n1\n2\n3\n", "promises 4 entries, the file ends after 3"),
    "array with two columns a line": (ARRAY + "2 2\n1 2\n3 4\n", "is no entry: expected one 'value'"),
    "rectangular": (REAL + "3 2 1\n1 1 1\n", "is rectangular (3 x 2); only square"),
    "rectangular array": (ARRAY + "1 2\n1\n2\n", "is rectangular (1 x 2)"),
    "0 x 0": (REAL + "0 0 0\n", "is empty: 0 x 0 without entries"),
    "0 x 0 array": (ARRAY + "0 0\n", "is empty: 0 x 0 without entries"),
    "no entries": (REAL + "3 3 0\n", "is empty: 3 x 3 without entries"),
    "empty row": (REAL + "3 3 4\n1 1 1\n3 3 1\n1 2 1\n3 1 1\n", "is singular: row 2 has no non-zero entry"),
    "empty column": (REAL + "3 3 4\n1 1 1\n3 3 1\n2 1 1\n1 3 1\n", "is singular: column 2 has no non-zero entry"),
    "row of zeros": (REAL + "2 2 3\n1 1 1\n1 2 1\n2 2 0\n", "is singular: row 2 has no non-zero entry"),
    "row that cancels": (REAL + "2 2 4\n1 1 1\n1 2 1\n2 2 5\n2 2 -5\n", "is singular: row 2 has no non-zero entry"),
}


def expect_refusal(outcome, words):
    assert outcome.code == 1, outcome
    assert len(outcome.complaints) == 1 and words in outcome.complaints[0], outcome
    assert "PETSC ERROR" not in outcome.out + outcome.err
    assert "option set" not in outcome.out


# How the file is written and on how many ranks it is read: all cases plain on one rank, some of them otherwise.
WAYS = [(case, "plain", 1) for case in WRONG_FILES]
WAYS += [(case, "gzip", 1) for case in ("letters in an entry", "cut off", "too many entries", "0 x 0")]
WAYS += [(case, "plain", 2) for case in ("letters in an entry", "cut off", "empty row", "rectangular", "no header")]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    jobs = []
    for case, form, ranks in WAYS:
        folder = tmp_path_factory.mktemp("wrong")
        file = write_market_file(folder / ("A.mtx" if form == "plain" else "A.mtx.gz"), WRONG_FILES[case][0])
        jobs.append((folder, [file.name], ranks))
    return dict(zip(WAYS, run_many(jobs)))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way)))
def test_wrong_file(outcomes, way):
    expect_refusal(outcomes[way], WRONG_FILES[way[0]][1])
    assert outcomes[way].complaints[0].startswith("weft_mm: A.mtx")


@pytest.mark.parametrize("ranks", [1, 2])
def test_missing_file(weft_mm, ranks):
    expect_refusal(weft_mm("nowhere.mtx", ranks=ranks), "cannot open nowhere.mtx: No such file or directory")


def test_folder(weft_mm, tmp_path):
    expect_refusal(weft_mm(tmp_path), "Is a directory")


@pytest.mark.parametrize("kept", [0.5, "all but the check sum"])
def test_cut_gzip(weft_mm, matrices, tmp_path, kept):
    whole = (matrices / "HB__sherman1.mtx.gz").read_bytes()
    cut = tmp_path / "cut.mtx.gz"
    cut.write_bytes(whole[:-4] if isinstance(kept, str) else whole[: int(len(whole) * kept)])
    expect_refusal(weft_mm(cut), "cut.mtx.gz is cut off or damaged (it ends too early); fetch it again")


def test_damaged_gzip(weft_mm, write, tmp_path):
    damaged = bytearray(gzip.compress(GOOD.encode()))
    damaged[-8] ^= 1  # the check sum
    path = tmp_path / "damaged.mtx.gz"
    path.write_bytes(damaged)
    expect_refusal(weft_mm(path), "is cut off or damaged (")


#: What other programs write, beside the same in the words that CHOLMOD knows.
OTHER_WORDS = {
    "Fortran": (REAL + "2 2 3\n1 1 .4d1\n2 1 1.0D+00\n2 2 3.Q0\n", GOOD),
    "Fortran without a letter": (GOOD.replace("2 1 1", "2 1 1.0-105"), GOOD.replace("2 1 1", "2 1 1.0e-105")),
    "unsigned": (GOOD.replace("real", "unsigned-integer"), GOOD.replace("real", "integer")),
    "double": (GOOD.replace("real", "double"), GOOD),
    "hermitian": (SYMMETRIC.replace("symmetric", "hermitian") + "2 2 3\n1 1 4\n2 1 1\n2 2 3\n", SYMMETRIC + "2 2 3\n1 1 4\n2 1 1\n2 2 3\n"),
    "letters of another size": (GOOD.replace("%%MatrixMarket matrix", "%%matrixmarket Matrix"), GOOD),
    "a byte order mark": ("\ufeff" + GOOD, GOOD),
    "ends of lines": (GOOD.replace("\n", "\r\n"), GOOD),
    "large": (GOOD.replace("2 1 1", "2 1 9.9e307"), GOOD.replace("2 1 1", "2 1 99e306")),
}


@pytest.mark.parametrize("text, same", OTHER_WORDS.values(), ids=OTHER_WORDS.keys())
def test_what_other_programs_write(weft_mm, write, tmp_path, text, same):
    write(text, "A.mtx.gz")
    write(same, "B.mtx")
    ours, plain = (weft_mm(name, "-ksp_type", "preonly", "-pc_type", "lu", "-ksp_view_mat", "ascii:" + name + ".txt") for name in ("A.mtx.gz", "B.mtx"))
    assert ours.code == plain.code == 0, ours
    assert ours.out.replace("A.mtx.gz", "B.mtx").splitlines()[0] == plain.out.splitlines()[0]
    assert (tmp_path / "A.mtx.gz.txt").read_text() == (tmp_path / "B.mtx.txt").read_text()


RIGHT_HAND_SIDES = {
    "missing": (None, "right-hand side: cannot open b.mtx: No such file or directory (-rhs takes ones, random, solution or a file)"),
    "too short": (ARRAY + "1 1\n1\n", "right-hand side: b.mtx is 1 x 1; this matrix needs 2 x 1"),
    "large and hollow": (REAL + "2147483647 1 1\n1 1 1\n", "right-hand side: b.mtx is 2147483647 x 1; this matrix needs 2 x 1"),
    "a row": (ARRAY + "1 2\n1\n1\n", "right-hand side: b.mtx is 1 x 2; this matrix needs 2 x 1"),
    "two columns": (ARRAY + "2 2\n1\n1\n1\n1\n", "right-hand side: b.mtx is 2 x 2; this matrix needs 2 x 1"),
    "broken": (ARRAY + "2 1\n1\none\n", "right-hand side: b.mtx, line 4: 'one' is no entry"),
    "zero": (ARRAY + "2 1\n0\n0\n", "the right-hand side is zero"),
}


@pytest.mark.parametrize("text, words", RIGHT_HAND_SIDES.values(), ids=RIGHT_HAND_SIDES.keys())
def test_wrong_right_hand_side(weft_mm, write, text, words):
    if text is not None:
        write(text, "b.mtx")
    expect_refusal(weft_mm(write(GOOD), "-rhs", "b.mtx"), words)


WRONG_USAGE = {
    "no matrix": (["-pc_type", "none"], "no matrix: give the file as the first word, or after -f"),
    "matrix swallowed": (["-ksp_monitor", "A.mtx"], "no matrix: give the file as the first word, or after -f"),
    "compare without sets": (["A.mtx", "-compare"], "-compare needs sets of options"),
    "compare with empty sets": (["A.mtx", "-compare", " ; ;"], "-compare needs sets of options"),
    "compare without options": (["A.mtx", "-compare", "-pc_type ilu; jacobi"], "the set 'jacobi' does not begin with an option"),
    "rhs without a value": (["A.mtx", "-rhs"], "-rhs needs a value"),
    "json not writable": (["A.mtx", "-json", "no/such/folder.json"], "cannot write no/such/folder.json: No such file or directory"),
}


@pytest.mark.parametrize("arguments, words", WRONG_USAGE.values(), ids=WRONG_USAGE.keys())
def test_wrong_usage(weft_mm, write, arguments, words):
    write(GOOD)
    expect_refusal(weft_mm(*arguments), words)


def test_usage(weft_mm):
    bare, helped = weft_mm(), weft_mm("-help")
    assert (bare.code, helped.code) == (1, 0)
    for text in (bare.err, helped.out):
        assert text.startswith("Usage: weft_mm FILE.mtx[.gz]")
        for option in ("-f FILE", "-rhs WHAT", "-compare SETS", "-json FILE", "Exit code"):
            assert option in text
