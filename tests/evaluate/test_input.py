"""Wrong input: one sentence that says what is wrong, and exit code 2; and every right form of it."""

import gzip
import io
import tarfile

import pytest
from conftest import MARKET

from evaluate import InputError, cases, inputs, machine


@pytest.fixture
def listed(matrices):
    def write(name, text):
        (matrices / name).write_text(text)
        return matrices / name
    return write


def names(given, matrices):
    return sorted(inputs.find(given, matrices / "unpacked"))


def pack(path, *members):
    with tarfile.open(path, "w:gz") as tar:
        for name, text in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text.encode()))


def test_folders(matrices):
    (matrices / "HB__two.mtx.gz").write_bytes(gzip.compress(MARKET.encode()))
    (matrices / "HB__two_b.mtx").write_text(MARKET)  # its right-hand side
    (matrices / "notes.txt").write_text("")
    pack(matrices / "three.tar.gz", ("three/three_b.mtx", MARKET), ("three/three.mtx", MARKET))
    assert names(matrices, matrices) == ["HB/one", "HB/two", "three"]
    assert (matrices / "unpacked" / "three.mtx").read_text() == MARKET
    assert names(matrices / "HB__one.mtx", matrices) == ["HB/one"]


@pytest.mark.parametrize("name, text", [
    ("list.txt", "# mine\nHB/one   # a comment\n\n"), ("m.csv", "rows,file\n2,HB__one.mtx\n"), ("m.csv", "suitesparse_name\nHB/one\n"),
    ("m.json", '["HB/one"]'), ("m.json", '{"matrices": [{"file": "HB__one.mtx"}]}'), ("m.json", '[{"name": "HB/one"}]')])
def test_lists_and_manifests(matrices, listed, name, text):
    assert names(listed(name, text), matrices) == ["HB/one"]


@pytest.mark.parametrize("name, text, said", [
    ("list.txt", "HB/one\nHB/nosuch\n", "list.txt, line 2: there is no HB/nosuch"),
    ("list.txt", "# nothing\n", "lists no matrix"),
    ("m.csv", "rows,columns\n1,2\n", "one of them file, name or suitesparse_name"),
    ("m.csv", "file,rows\n,3\n", "line 2 names no matrix"),
    ("m.json", "{", "is no JSON"),
    ("m.json", '{"files": []}', "a manifest in JSON is a list"),
    ("m.json", "[3]", "entry 1 names no matrix"),
    ("m.json", "[]", "lists no matrix"),
    ("list.txt", "notes.md\n", "is no Matrix Market file: its first line is 'hello'"),
    ("list.txt", "complex.mtx\n", "its numbers are 'complex'"),
    ("list.txt", "bad.mtx\n", "is no Matrix Market file: its first line is '%%MatrixMarket matrix coordinates"),
    ("list.txt", "cut.mtx.gz\n", "cannot be read"),
    ("list.txt", "cut.tar.gz\n", "cannot be unpacked"),
    ("list.txt", "many.tar.gz\n", "holds several Matrix Market files"),
    ("list.txt", "HB/one\nsub/HB__one.mtx\n", "HB/one is there twice"),
])
def test_wrong_lists(evaluate, matrices, listed, name, text, said):
    (matrices / "notes.md").write_text("hello\n")
    (matrices / "complex.mtx").write_text(MARKET.replace("real", "complex"))
    (matrices / "bad.mtx").write_text(MARKET.replace("coordinate ", "coordinates "))
    (matrices / "cut.mtx.gz").write_bytes(b"\x1f\x8b\x08")
    (matrices / "cut.tar.gz").write_bytes(b"\x1f\x8b\x08")
    pack(matrices / "many.tar.gz", ("a/a.mtx", MARKET), ("a/b.mtx", MARKET))
    (matrices / "sub").mkdir()
    (matrices / "sub" / "HB__one.mtx").write_text(MARKET)
    with pytest.raises(InputError, match=".*") as error:
        names(listed(name, text), matrices)
    assert said in str(error.value)


def test_complex_matrices_are_for_a_solver_of_complex_numbers(matrices):
    (matrices / "A.mtx").write_text(MARKET.replace("real symmetric", "complex hermitian"))
    with pytest.raises(InputError, match="complex ones by a PETSc with complex scalars"):
        inputs.find(matrices, matrices, "real")
    for scalars in ("complex", ""):  # nothing is known of a PETSc that is not built yet
        assert list(inputs.find(matrices, matrices, scalars)) == ["A", "HB/one"]
    (matrices / "A.mtx").write_text(MARKET.replace("real", "quaternion"))
    with pytest.raises(InputError, match="its numbers are 'quaternion'"):
        inputs.find(matrices, matrices, "complex")


@pytest.mark.parametrize("name, told, scalars", [("debian", "", "real"), ("debian-complex", "", "complex"), ("own", "", ""), ("own-123", "complex", "complex"), ("debian-complex", "real", "real")])
def test_what_a_build_solves_in(tmp_path, name, told, scalars):
    if told:
        (tmp_path / name / "install").mkdir(parents=True)
        (tmp_path / name / "install" / "weft-config").write_text(f'[ "$1" = --scalars ] && echo {told}')
    assert machine.scalars(tmp_path / name) == scalars


@pytest.mark.parametrize("words, said", [
    (["--matrices", "nowhere"], "nowhere does not exist"),
    (["--matrices", "{empty}"], "holds no matrix"),
    (["--matrices", "{matrices}", "--types", "line,nosuch"], "there is no configuration of type 'nosuch'; there are adi, asm"),
    (["--types", ","], "--types names none"),
    (["--models", "nosuch"], "there is no family 'nosuch'"),
    (["--matrices", "{matrices}", "--configurations", "nowhere.json"], "nowhere.json does not exist"),
    (["--matrices", "{matrices}", "--grids", "nowhere.json"], "nowhere.json does not exist"),
    (["--time-limit", "soon"], "is no time"),
    (["--memory-limit", "lots"], "is no amount of memory"),
    (["--memory-limit", "5"], "is no amount of memory"),
    (["--jobs", "0"], "is no number from 1 on"),
    (["--rtol", "2"], "--rtol is between 0 and 1"),
    (["--matrices", "{matrices}", "--resume"], "holds no results to go on from"),
    (["--nosuch"], "unrecognized arguments"),
])
def test_wrong_words(evaluate, matrices, tmp_path, words, said):
    (tmp_path / "empty").mkdir()
    done = evaluate(*(word.format(matrices=matrices, empty=tmp_path / "empty") for word in words))
    assert done.returncode == 2, done.stderr
    assert said in " ".join(done.stderr.split()) and "Traceback" not in done.stderr


@pytest.mark.parametrize("text, said", [
    ("[]", "configurations are a list"), ("{}", "configurations are a list"), ("nothing", "is no JSON"), ('[{"name": "a"}]', "needs a name and options"),
    ('[{"name": "a", "options": "-pc_type ilu", "speed": 3}]', "nothing is known of 'speed'"), ('[{"name": "a", "options": "", "needs": "luck"}]', "needs is symmetric or definite"),
    ('[{"name": "a", "options": ""}, {"name": "a", "options": ""}]', "'a' is there twice"), ('[{"name": "a", "options": "", "kinds": ["planet"]}]', "kinds are matrix, gridded")])
def test_wrong_configurations(tmp_path, text, said):
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        cases.configurations(path)
    assert said in str(error.value)


@pytest.mark.parametrize("text, said", [
    ("{}", "grids are a list"), ("[3]", "entry 1: a grid needs its matrix and 1 to 3 numbers"), ('[{"matrix": "a"}]', "needs its matrix and 1 to 3 numbers"),
    ('[{"matrix": "a", "grid": "3 x 3"}]', "1 to 3 numbers"), ('[{"matrix": "a", "grid": "3,3", "rows": 9}]', "1 to 3 numbers"),
    ('[{"matrix": "a", "grid": "3,3", "components": "two"}]', "components is the number of rows of a node")])
def test_wrong_grids(tmp_path, matrices, text, said):
    path = tmp_path / "g.json"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        cases.matrices(matrices, tmp_path, path)
    assert said in str(error.value)


def test_grids_of_matrices(tmp_path, matrices):
    (matrices / "HB__sherman5.mtx").write_text(MARKET)
    (matrices / "mine.mtx").write_text(MARKET)
    path = tmp_path / "g.json"
    path.write_text('[{"matrix": "HB/one", "grid": "1,2"}, {"matrix": "mine", "grid": "1", "components": 2}]')
    assert {problem.name: problem.grid for problem in cases.matrices(matrices, tmp_path, path)} == {
        "HB/one": "-grid 1,2", "HB/sherman5": "-grid 16,23,3 -grid-components 3", "mine": "-grid 1 -grid-components 2"}


def test_the_shipped_configurations():
    found = cases.configurations()
    assert {"line", "crout", "adi", "bcr", "ilu", "icc", "sor", "jacobi", "lu", "gamg", "mg", "hypre"} <= {configuration.type for configuration in found}
    spd = cases.Problem("a", "matrix", facts={"symmetric": True, "definite": "positive"})
    other = cases.Problem("b", "matrix", facts={"symmetric": False, "definite": "no"})
    icc = next(configuration for configuration in found if configuration.type == "icc")
    line = next(configuration for configuration in found if configuration.name == "line")
    assert icc.fits(spd) and not icc.fits(other)
    assert line.full_options(spd) == "-ksp_type cg -pc_type line" and "gmres" in line.full_options(other)
    # CG is for Hermitian definite matrices, factors of half a matrix are for symmetric ones.
    hermitian = cases.Problem("d", "matrix", facts={"symmetric": False, "hermitian": True, "definite": "positive"})
    complex_symmetric = cases.Problem("e", "matrix", facts={"symmetric": True, "hermitian": False, "definite": "no"})
    indefinite = cases.Problem("f", "matrix", facts={"symmetric": True, "hermitian": True, "definite": "no"})
    assert [icc.fits(problem) for problem in (hermitian, complex_symmetric, indefinite)] == [False, True, False]
    assert "-ksp_type cg" in line.full_options(hermitian) and all("gmres" in of.full_options(complex_symmetric) for of in (line, icc))
    bcr = next(configuration for configuration in found if configuration.type == "bcr")
    gridded = cases.Problem("c", "matrix", grid="-grid 30,30", facts=spd.facts)
    assert not bcr.fits(spd) and bcr.fits(gridded)
    # The grid is part of what to paste where it is needed, and no case of before is another one.
    assert bcr.full_options(gridded) == "-grid 30,30 -ksp_type cg -pc_type bcr" and line.full_options(gridded) == line.full_options(spd)
    assert not any("-pc_type mg" in configuration.options and configuration.fits(gridded) for configuration in found)
    assert {model.name for model in cases.models() if model.quick} and all(model.facts["rows"] for model in cases.models())
