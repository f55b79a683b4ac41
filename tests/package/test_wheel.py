"""The wheel that ./weft package made, in a Python of its own beside the petsc4py of the system."""

import os
import subprocess
import zipfile
from pathlib import Path

import programs
import pytest

PACKAGES = Path(os.environ.get("WEFT_PACKAGES", "."))
WHEELS = list(PACKAGES.glob("weft-*.whl"))
PYTHON = os.environ.get("WEFT_PYTHON", "python3")
pytestmark = pytest.mark.skipif(not WHEELS, reason="./weft package makes the wheel")

SOLVE = """
n = 100
A = PETSc.Mat().createAIJ([n, n], nnz=3, comm=PETSc.COMM_SELF)
for i in range(n):
    for j, value in ((i - 1, -1.0), (i, 2.5), (i + 1, -1.0)):
        if 0 <= j < n:
            A[i, j] = value
A.assemble()
x, b = A.createVecs()
b.set(1.0)
ksp = PETSc.KSP().create(comm=PETSc.COMM_SELF)
ksp.setOperators(A)
ksp.getPC().setType("line")
ksp.solve(b, x)
print("solved", ksp.getIterationNumber(), ksp.getConvergedReason() > 0)
"""


def python(executable, program, code=0, **environment):
    process = subprocess.run([str(executable), "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=dict(programs.ENVIRONMENT, PYTHONPATH="", **environment))
    assert process.returncode == code, process.stdout
    return process.stdout


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    folder = tmp_path_factory.mktemp("python")
    subprocess.run([PYTHON, "-m", "venv", "--system-site-packages", "--without-pip", str(folder)], check=True)
    site = python(folder / "bin" / "python3", "import site; print(site.getsitepackages()[0])").strip()
    subprocess.run([str(PACKAGES / "tools" / "bin" / "pip"), "install", "-q", "--no-deps", "--no-index", "--target", site, str(WHEELS[0])], check=True)
    return folder / "bin" / "python3"


@pytest.fixture(scope="module")
def beside_petsc4py(clean):
    try:
        found = python(clean, "import petsc4py; print(petsc4py.__version__)").strip()
    except AssertionError:
        pytest.skip("no petsc4py here")
    if found.split(".")[:2] != os.environ["WEFT_PETSC_VERSION"].split(".")[:2]:
        pytest.skip(f"petsc4py here is {found}, for another PETSc")
    return clean


def test_the_wheel_holds_the_library_and_the_python_around_it():
    names = set(zipfile.ZipFile(WHEELS[0]).namelist())
    files = {name for name in names if not name.partition("/")[0].endswith(".dist-info")}
    (library,) = [name for name in files if "/lib/" in name]
    assert library.startswith("weft/lib/libweft.so.")
    assert files == {"weft/__init__.py", "weft/__main__.py", "weft/built.py", library}
    assert any(name.endswith("LICENSE") for name in names)
    assert WHEELS[0].name.split("-")[-3:-1] == ["py3", "none"]


@pytest.mark.parametrize("order", ["import weft\nfrom petsc4py import PETSc", "from petsc4py import PETSc\nimport weft", "import petsc4py\nimport weft\npetsc4py.init()\nfrom petsc4py import PETSc"])
def test_import_is_all_there_is_to_do(beside_petsc4py, order):
    assert "solved 1 True" in python(beside_petsc4py, order + SOLVE)


def test_the_options_of_the_environment_stay(beside_petsc4py):
    output = python(beside_petsc4py, "import weft\nfrom petsc4py import PETSc\nprint(PETSc.Options().getInt('mine'))" + SOLVE, PETSC_OPTIONS="-mine 7")
    assert "7\n" in output and "solved 1 True" in output


def test_the_option_for_other_programs(clean, run=subprocess.run):
    printed = python(clean, "import weft; print(weft.options())")
    assert run([str(clean), "-m", "weft"], stdout=subprocess.PIPE, text=True).stdout == printed
    output = run([str(programs.BUILD / "bin" / "ex2"), *printed.split(), "-pc_type", "line", "-ksp_view"], stdout=subprocess.PIPE, text=True, env=programs.ENVIRONMENT).stdout
    assert "type: line" in output


def test_petsc4py_of_another_release_is_refused(clean, tmp_path):
    (tmp_path / "petsc4py").mkdir()
    (tmp_path / "petsc4py" / "__init__.py").write_text("__version__ = '3.99.0'\n")
    output = python(clean, f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import weft", code=1)
    assert "ImportError: weft was built with PETSc " in output
    assert "this Python has petsc4py 3.99.0: build the wheel again with PETSC_DIR set to that petsc4py's PETSc" in output


scalars = subprocess.run(["sh", str(programs.BUILD / "install" / "weft-config"), "--scalars"], stdout=subprocess.PIPE, text=True).stdout.strip()
other_scalars = "complex" if scalars == "real" else "real"
other_petsc = next(Path("/usr/lib/petscdir").glob(f"petsc3*/*-{other_scalars}/lib/python3/dist-packages/petsc4py"), None)


def test_the_name_tells_scalars():
    assert ("-1complex-" in WHEELS[0].name) == (scalars == "complex")


@pytest.mark.skipif(not other_petsc, reason=f"no petsc4py for {other_scalars} scalars here (Debian: python3-petsc4py-{other_scalars})")
@pytest.mark.parametrize("order", ["import weft\nfrom petsc4py import PETSc", "from petsc4py import PETSc\nimport weft"])
def test_a_petsc_of_another_kind_is_refused(beside_petsc4py, order):
    output = python(beside_petsc4py, order + SOLVE, code=1, PETSC_DIR=str(other_petsc.parents[3]), PETSC_ARCH="")
    assert "this program runs another PETSc than the one" in output
    assert "solved" not in output
