"""How the library comes into a program: by option and by environment, in the right PETSc and in no other."""

import os
import re
import subprocess
from pathlib import Path

import programs
import pytest

BUILD = Path(os.environ["WEFT_BUILD"])


def symbols(library, kind):
    output = subprocess.run(["nm", "-D", f"--{kind}-only", str(library)], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line.split()[-1].split("@")[0] for line in output.splitlines() if " A " not in line]  # A: the name of a version


def test_only_the_hook_and_the_setters_are_exported(library):
    exported = set(symbols(library, "defined"))
    assert exported == {
        "PetscDLLibraryRegister_weft",
        "KSPADIGetCheckEvery",
        "KSPADISetCheckEvery",
        "PCADIGetBounds",
        "PCADISetBounds",
        "PCADIGetBoundsMethod",
        "PCADISetBoundsMethod",
        "PCADIGetCycle",
        "PCADISetCycle",
        "PCADIGetIterations",
        "PCADISetIterations",
        "PCADIGetKeepFactors",
        "PCADISetKeepFactors",
        "PCADIGetLineSolver",
        "PCADISetLineSolver",
        "PCADIGetShifts",
        "PCADISetShifts",
        "PCADIGetSymmetric",
        "PCADISetSymmetric",
        "PCADIGetType",
        "PCADISetType",
        "PCBCRGetCheck",
        "PCBCRSetCheck",
        "PCBCRGetInverse",
        "PCBCRSetInverse",
        "PCBCRGetLevels",
        "PCBCRSetLevels",
        "PCBCRGetMethod",
        "PCBCRSetMethod",
        "PCBCRGetPrecision",
        "PCBCRSetPrecision",
        "PCBCRGetRadix",
        "PCBCRSetRadix",
        "PCBCRGetRequireSeparable",
        "PCBCRSetRequireSeparable",
        "PCBCRGetSeparableTolerance",
        "PCBCRSetSeparableTolerance",
        "PCBoxmgGetCoarse",
        "PCBoxmgSetCoarse",
        "PCBoxmgGetCoarsen",
        "PCBoxmgSetCoarsen",
        "PCBoxmgGetCoarsest",
        "PCBoxmgSetCoarsest",
        "PCBoxmgGetCycle",
        "PCBoxmgSetCycle",
        "PCBoxmgGetInterpolation",
        "PCBoxmgSetInterpolation",
        "PCBoxmgGetLevels",
        "PCBoxmgSetLevels",
        "PCBoxmgGetMonitor",
        "PCBoxmgSetMonitor",
        "PCBoxmgGetPrecision",
        "PCBoxmgSetPrecision",
        "PCBoxmgGetShare",
        "PCBoxmgSetShare",
        "PCBoxmgGetSmoother",
        "PCBoxmgSetSmoother",
        "PCBoxmgGetSweeps",
        "PCBoxmgSetSweeps",
        "PCCroutGetPattern",
        "PCCroutSetPattern",
        "PCCroutGetLevels",
        "PCCroutSetLevels",
        "PCCroutGetCheck",
        "PCCroutSetCheck",
        "PCCroutGetDropTolerance",
        "PCCroutSetDropTolerance",
        "PCCroutGetMostOperations",
        "PCCroutSetMostOperations",
        "PCCroutGetMethod",
        "PCCroutSetMethod",
        "PCCroutGetSweeps",
        "PCCroutSetSweeps",
        "PCCroutGetTolerance",
        "PCCroutSetTolerance",
        "PCCroutGetOmega",
        "PCCroutSetOmega",
        "PCCroutGetSections",
        "PCCroutSetSections",
        "PCCroutGetAsynchronous",
        "PCCroutSetAsynchronous",
        "PCCroutGetShift",
        "PCCroutSetShift",
        "PCCroutGetScaling",
        "PCCroutSetScaling",
        "PCCroutGetOrdering",
        "PCCroutSetOrdering",
        "PCCroutGetSymmetric",
        "PCCroutSetSymmetric",
        "PCCroutGetTriangularSolve",
        "PCCroutSetTriangularSolve",
        "PCCroutGetPrecision",
        "PCCroutSetPrecision",
        "PCCroutGetHistory",
        "PCLineGetComponents",
        "PCLineSetComponents",
        "PCLineGetDiagonalProducts",
        "PCLineSetDiagonalProducts",
        "PCLineGetDirection",
        "PCLineSetDirection",
        "PCLineGetEstimateOmega",
        "PCLineSetEstimateOmega",
        "PCLineGetFile",
        "PCLineSetFile",
        "PCLineGetCheck",
        "PCLineSetCheck",
        "PCLineSetFindAgain",
        "PCLineGetFindAgain",
        "PCLineGetKernel",
        "PCLineSetKernel",
        "PCLineGetKernelParameters",
        "PCLineSetKernelParameters",
        "PCLineGetOmega",
        "PCLineSetOmega",
        "PCLineGetOrdering",
        "PCLineSetOrdering",
        "PCLineGetPlaneCycles",
        "PCLineSetPlaneCycles",
        "PCLineGetPrecision",
        "PCLineSetPrecision",
        "PCLineGetRanks",
        "PCLineSetRanks",
        "PCLineGetSource",
        "PCLineSetSource",
        "PCLineGetSweep",
        "PCLineSetSweep",
        "PCLineGetSweeps",
        "PCLineSetSweeps",
    }


def test_kokkos_is_private_or_petscs(library):
    imported = [symbol for symbol in symbols(library, "undefined") if "Kokkos" in symbol]
    petsc_has_kokkos = "PetscKokkosInitializeCheck" in imported
    asked_for = programs.setting("WEFT_SHARED_KOKKOS", "OFF") == "ON"
    assert (petsc_has_kokkos or asked_for) == any("6Kokkos" in symbol for symbol in imported), imported


def test_petscs_help_lists_the_type_and_its_options(run):
    output = run("ex2", "-help -pc_type line").output
    types = next(line for line in output.splitlines() if "-pc_type" in line)
    assert "line" in types.replace("(", " ").replace(")", " ").split(), types
    for option in (
        "-pc_line_direction",
        "-pc_line_ordering",
        "-pc_line_kernel",
        "-pc_line_kernel_slice",
        "-pc_line_sweeps",
        "-pc_line_omega",
    ):
        assert option in output, output
    assert "directions of the lines on a grid (choose one of) x y z xy xz yz xyz auto (PCLineSetDirection)" in " ".join(output.split())


def test_help_lists_the_methods_of_the_library(run):
    lists = programs.option_lists()
    kernels = lists["pc_line_kernel"]
    assert kernels[0] == "thomas" and kernels[-1] == "auto" and len(kernels) > 5
    assert len(set(kernels)) == len(kernels)
    assert lists["pc_adi_line_solver"] == [kernel for kernel in kernels if kernel != "toeplitz"]
    unknown = run("ex2", "-pc_type line -pc_line_kernel gauss", expect=None)
    assert unknown.code != 0 and all(kernel in unknown.output for kernel in kernels)


def test_loading_alone_changes_nothing(run):
    assert run("ex2", "-ksp_view").output == run("ex2", "-ksp_view", load=False).output


def test_loading_through_the_environment(run, library):
    with_option = run("ex2", "-pc_type line -ksp_monitor")
    with_environment = run("ex2", "-ksp_monitor", load=False, environment={"PETSC_OPTIONS": f"-dll_append {library} -pc_type line"})
    assert with_environment.output == with_option.output


def test_all_symbols_resolve_at_load(run):
    run("ex2", "-pc_type line", environment={"LD_BIND_NOW": "1"})


def test_loading_twice_is_loading_once(run, library):
    other_name = library.parent / "other" / "libweft.so"
    other_name.parent.mkdir(exist_ok=True)
    if not other_name.exists():
        other_name.symlink_to(library)
    run("ex2", f"-dll_append {library},{other_name} -pc_type line", load=False)


def test_two_rounds_of_petsc(run):
    output = run("two_rounds", "-pc_type line").output
    assert output.split("\n")[:2] == ["CONVERGED_RTOL iterations 1"] * 2


@pytest.mark.parametrize(
    "shim, message",
    [
        ("other_version", f"libweft was built with PETSc {'.'.join(os.environ['WEFT_PETSC_VERSION'].split('.')[:2])} and this program runs PETSc 3.99"),
        ("other_scalar", "libweft was built with PETSc scalars of type DOUBLE and this program's are COMPLEX"),
        ("other_index", "libweft was built with PETSc indices of (32 bits and this program's have 64|64 bits and this program's have 32):"),
    ],
)
def test_another_petsc_is_refused(run, shim, message):
    refused = run("ex2", "-pc_type line", environment={"LD_PRELOAD": str(BUILD / "lib" / f"lib{shim}.so")}, expect=None)
    assert refused.code != 0
    assert re.search(message, refused.output), refused.output


# Debian's other PETScs, which stand beside the default one.
other_petscs = sorted(str(file.parent) for file in Path("/usr/lib/petscdir").glob("petsc*3.*/*/lib/pkgconfig/PETSc.pc") if str(file.parents[2]) != os.environ.get("WEFT_PETSC_PREFIX"))


@pytest.mark.skipif(not other_petscs, reason="no other PETSc here (Debian: libpetsc-complex-dev, libpetsc64-real-dev)")
@pytest.mark.parametrize("pkgconfig", other_petscs)
def test_a_real_other_petsc_refuses_the_library(run, library, tmp_path, pkgconfig):
    """Not a stand-in: a program of another release, with complex scalars or with indices of another size."""
    source = tmp_path / "program.c"
    source.write_text("#include <petscksp.h>\nint main(int argc, char **argv) { PetscCall(PetscInitialize(&argc, &argv, 0, 0)); return PetscFinalize(); }\n")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], stdout=subprocess.PIPE, text=True, check=True, env=dict(os.environ, PKG_CONFIG_PATH=pkgconfig)).stdout
    subprocess.run(["mpicc", str(source), "-o", str(tmp_path / "program"), *flags.split()], check=True)
    run(tmp_path / "program", load=False)
    refused = run(tmp_path / "program", expect=None)
    assert refused.code > 0, refused.output  # and no signal
    messages = [line for line in refused.output.splitlines() if "PETSC ERROR: libweft was built with PETSc" in line]
    assert len(messages) == 1, refused.output
    assert messages[0].endswith("build Weft with PETSC_DIR set to this PETSc")


@pytest.mark.parametrize("shim, named", [("clash", "PC type 'line'"), ("clash_solver", "MatSolverType 'crout'")])
def test_no_existing_type_is_overwritten(run, library, shim, named):
    clash = library.parent / f"lib{shim}.so"
    refused = run("ex2", f"-dll_append {clash},{library} -pc_type line", load=False, expect=None)
    assert refused.code != 0
    assert f"a {named} is registered already, and Weft overwrites none" in refused.output


@pytest.mark.parametrize("options", ["-pc_type adi", "-pc_type bcr", "-pc_type boxmg", "-pc_type crout", "-ksp_type adi", "-pc_type lu -pc_factor_mat_solver_type crout"])
def test_a_library_of_the_demo_says_what_to_type(run, library, options):
    failed = run("ex2", f"-dll_append {library.parent}/line_alone/libweft.so {options}", load=False, expect=None)
    assert failed.code != 0
    assert "this libweft was built without this type, as ./weft demo does to be quick: type ./weft build" in " ".join(failed.output.split())


def test_one_host_thread_unless_the_user_says_otherwise(run):
    view = "-pc_type line -ksp_view"
    output = run("ex2", view).output
    if "OpenMP" not in output:
        assert "(Serial, 1 thread)" in output
        return
    assert "(OpenMP, 1 thread)" in output
    assert "(OpenMP, 2 threads)" in run("ex2", view, environment={"OMP_NUM_THREADS": "2"}).output
    assert "Kokkos" not in output  # and no warning of its own


# Kokkos asks OpenMP how many threads there are by starting them all, and each spins until the next ones come.
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="this system does not list a process's threads")
@pytest.mark.parametrize(
    "options",
    ["-pc_type line", "-pc_type adi", "-pc_type bcr", "-pc_type boxmg", "-pc_type crout", "-pc_type lu -pc_factor_mat_solver_type crout", "-ksp_type adi"],
)
def test_a_first_set_up_starts_no_thread_and_costs_little_more_than_a_second(run, library, options):
    if "PetscKokkosInitializeCheck" in symbols(library, "undefined"):
        pytest.skip("this PETSc starts its own Kokkos")
    more = []
    for _ in range(3):  # the least disturbed one counts
        output = run("first_setup", options, environment={"OMP_WAIT_POLICY": "active"}).output
        first, second, before, after = map(float, re.search(r"first (\S+), second (\S+); threads: before (\d+), after (\d+)", output).groups())
        assert after == before, output
        more.append(first - second)
    assert min(more) < 3.0, more  # a spinning thread takes some 10 ms; the pages of code and memory that a first set-up touches, up to 1.3


def test_the_programs_own_threads_are_left_alone(run):
    assert "threads before 3, after 3" in run("host_threads", "-pc_type line").output
