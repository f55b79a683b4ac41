"""Runs PETSc programs that know nothing of Weft, with the library that was built."""

import functools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
import one_machine  # noqa: E402

BUILD = Path(os.environ["WEFT_BUILD"])
LIBRARY = BUILD / "lib" / "libweft.so"
MPIEXEC = os.environ.get("WEFT_MPIEXEC") or "mpiexec"

ENVIRONMENT = one_machine.environment(without=("PETSC_OPTIONS", "OMP_NUM_THREADS"))
# Has tests/plugin/programs/two_solves.c count the arrays that Kokkos allocates, which calls the tool, and the program asks it.
COUNTS_ALLOCATIONS = dict.fromkeys(("KOKKOS_TOOLS_LIBS", "LD_PRELOAD"), str(BUILD / "lib" / "liballocations.so"))


def allocations(result):
    """(before the second solve, in it), as two_solves has counted them."""
    return tuple(int(count) for count in re.search(r"arrays allocated before the second solve: (\d+), in it: (\d+)", result.output).groups())


def setting(name, otherwise):
    """What CMake was told of an option; `otherwise` where a build came without its cache."""
    cache = BUILD / "CMakeCache.txt"
    found = re.search(rf"^{name}:\w+=(.*)$", cache.read_text(), re.MULTILINE) if cache.exists() else None
    return found.group(1) if found else otherwise


class Run:
    """A finished run: its output and what tests ask of it."""

    def __init__(self, process):
        self.code = process.returncode
        self.output = process.stdout

    def iterations(self):
        found = re.findall(r"CONVERGED_\w+ iterations (\d+)", self.output)
        assert found, self.output
        return int(found[-1])

    def number(self, pattern):
        found = re.search(pattern + r"\s*([-+.\deE]+|nan|inf)", self.output)
        assert found, self.output
        return float(found.group(1))


@functools.cache
def option_lists():
    """{option: [choices]} of all preconditioners, from what the library prints under -help."""
    found = {}
    for kind in ("line", "adi", "bcr", "boxmg", "crout"):
        text = execute("ex50", f"-da_grid_x 5 -da_grid_y 5 -pc_type {kind} -help", expect=None).output
        for option, choices in re.findall(rf"^ +-(pc_{kind}_\w+).*\(choose one of\) ([-\w ]+) \(", text, re.MULTILINE):
            found[option] = choices.split()
    return found


def tridiagonal_kernels():
    """The names of the library's tridiagonal methods."""
    return [kernel for kernel in option_lists()["pc_line_kernel"] if kernel != "auto"]


def petsc4py_release():
    """The release of this Python's petsc4py as "3.18"; empty where there is none."""
    program = "import petsc4py; print(petsc4py.__version__)"
    version = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return ".".join(version.strip().split(".")[:2])


needs_petsc4py = pytest.mark.skipif(
    petsc4py_release() != ".".join(os.environ["WEFT_PETSC_VERSION"].split(".")[:2]),
    reason="this Python has no petsc4py for the PETSc that Weft was built with",
)


#: Debian's SLEPc lies beside its PETSc, and its slepc4py has to be told where.
SLEPC = {"SLEPC_DIR": os.environ.get("WEFT_PETSC_PREFIX", "").replace("petsc", "slepc")}


def needs_slepc4py(package, environment=None):
    """Skips a test where this Python has no slepc4py for the PETSc that Weft was built with."""
    program = "import slepc4py; slepc4py.init(); from slepc4py import SLEPc"
    found = subprocess.run([sys.executable, "-c", program], stderr=subprocess.DEVNULL, env=dict(ENVIRONMENT, **SLEPC, **(environment or {})))
    return pytest.mark.skipif(found.returncode != 0, reason=f"no slepc4py here (Debian: {package})")


def python(program, options="", ranks=1, environment=None, expect=0, timeout=300):
    """Runs a Python file, which hands its arguments to petsc4py.init, with options and the library in PETSC_OPTIONS."""
    command = [MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
    command += [sys.executable, str(program), *options.split()]
    with tempfile.TemporaryDirectory(prefix="weft") as folder:
        process = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            env=dict(ENVIRONMENT, TMPDIR=folder, PETSC_OPTIONS=f"-dll_append {LIBRARY}", **(environment or {})),
        )
    if expect is not None:
        assert process.returncode == expect, process.stdout
    return Run(process)


def execute(program, options="", ranks=1, load=True, environment=None, expect=0):
    """Runs BUILD/bin/PROGRAM with options; load puts -dll_append in front. expect None takes any exit code."""
    command = [str(BUILD / "bin" / program)]
    if ranks > 1:
        command = [MPIEXEC, "-n", str(ranks)] + command
    if load:
        command += ["-dll_append", str(LIBRARY)]
    with tempfile.TemporaryDirectory(prefix="weft") as folder:  # jobs at the same time must not share Open MPI's session folder
        process = subprocess.run(
            command + options.split(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            env=dict(ENVIRONMENT, TMPDIR=folder, **(environment or {})),
        )
    if expect is not None:
        assert process.returncode == expect, process.stdout
    return Run(process)

