"""-pc_type line with complex scalars, from petsc4py: against dense twins, on several ranks."""

import os
import re
import subprocess
from pathlib import Path

import complex_petsc
import programs
import pytest
from complex_petsc import needs_petsc4py

CASES = Path(__file__).parent / "programs" / "line_cases.py"


def case(name, options="", ranks=1):
    return programs.python(CASES, f"-case {name} {options}", ranks=ranks, environment=complex_petsc.PETSC).output


@needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("name, count", [("kernels", 40), ("constant", 4), ("space", 2), ("blocks", 8), ("single", 2), ("bilinear", 24), ("graph", 2)])
def test_line_solves_are_those_of_a_dense_twin(name, count, ranks):
    output = case(name, ranks=ranks)
    assert output.count(": alike") == count, output
    assert "apart" not in re.sub(r"unknowns apart", "", output), output


@needs_petsc4py
def test_both_sides_of_hermitian_lines():
    assert case("sides").count(": alike") == 2


@needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("solver", ["gmres", "bcgs", "richardson -pc_line_direction y -ksp_max_it 400", "fgmres -pc_line_ordering zebra"])
def test_waves_with_absorption(solver, ranks):
    output = case("helmholtz", f"-pc_type line -ksp_rtol 1e-9 -ksp_type {solver}", ranks)
    reason, iterations, residual = re.search(r"reason (-?\d+), iterations (\d+), residual (\S+)", output).groups()
    assert int(reason) > 0 and float(residual) < 1e-7, output
    assert int(iterations) == int(re.search(r"iterations (\d+)", case("helmholtz", f"-pc_type line -ksp_rtol 1e-9 -ksp_type {solver}")).group(1))


@needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_pivot_of_zero_is_told_to_petsc(ranks):
    assert "reason -11" in case("pivots", "-pc_line_direction x", ranks)  # KSP_DIVERGED_PC_FAILED


@needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2])
def test_what_is_no_number_is_no_solution(ranks):
    assert case("not_finite", ranks=ranks).splitlines() == ["good: reason 4", "NaN: reason -9", "infinite: reason -9", "opposite: reason -9"]  # KSP_CONVERGED_ITS, KSP_DIVERGED_NANORINF


def test_petscs_own_program():
    alone, lines = (programs.execute("ex50", f"-da_grid_x 33 -da_grid_y 33 -ksp_converged_reason -ksp_rtol 1e-9 -pc_type {pc}") for pc in ("jacobi", "line"))
    assert lines.iterations() < alone.iterations()


real = next(Path("/usr/lib/petscdir").glob("petsc3*/*-real"), None)


@pytest.mark.skipif(not real, reason="no PETSc with real scalars here (Debian: libpetsc-real-dev)")
def test_a_program_with_real_scalars_is_refused(tmp_path):
    source = tmp_path / "program.c"
    source.write_text("#include <petscksp.h>\nint main(int argc, char **argv) { PetscCall(PetscInitialize(&argc, &argv, 0, 0)); return PetscFinalize(); }\n")
    environment = dict(os.environ, PKG_CONFIG_PATH=str(real / "lib" / "pkgconfig"))
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout
    subprocess.run(["mpicc", str(source), "-o", str(tmp_path / "program"), *flags.split()], check=True)
    programs.execute(tmp_path / "program", load=False)
    refused = programs.execute(tmp_path / "program", expect=None)
    assert refused.code > 0, refused.output
    assert "build Weft with PETSC_DIR set to this PETSc" in refused.output
