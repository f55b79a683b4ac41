"""The examples of waves: with the shifted Laplacian bcr takes the iterations of LU, on any ranks, and it draws what it finds; and resonances by SLEPc's
shift and invert."""

import importlib.util
import re
from pathlib import Path

import complex_petsc
import programs
import pytest
from complex_petsc import needs_petsc4py

EXAMPLE = Path(__file__).parents[2] / "examples" / "helmholtz" / "helmholtz.py"
RESONANCES = EXAMPLE.with_name("resonances.py")


def iterations(options, ranks=1):
    output = programs.python(EXAMPLE, f"-n 65 -waves 6 -ksp_type fgmres {options}", ranks=ranks, environment=complex_petsc.PETSC).output
    count, residual = re.search(r"(\d+) iterations, residual (\S+),", output).groups()
    assert "not converged" not in output and float(residual) < 2e-6, output
    return int(count)


@needs_petsc4py
@pytest.mark.parametrize("lens", [0, 0.2])
def test_the_shifted_laplacian_is_solved(lens):
    direct = iterations(f"-lens {lens} -pc_type lu")
    assert iterations(f"-lens {lens} -pc_type bcr") == direct
    assert iterations(f"-lens {lens} -pc_type bcr", ranks=3) == direct


@needs_petsc4py
@pytest.mark.skipif(not importlib.util.find_spec("matplotlib"), reason="no matplotlib here")
def test_it_draws(tmp_path):
    iterations(f"-pc_type bcr -picture {tmp_path}/waves.png")
    assert (tmp_path / "waves.png").read_bytes()[:4] == b"\x89PNG"


@needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 3])
def test_it_is_the_same_in_c(ranks):
    told = programs.execute("helmholtz", f"-options_file {EXAMPLE.with_name('bcr.opts')} -da_grid_x 65 -da_grid_y 65 -waves 6", ranks=ranks).output
    count, residual = re.search(r"CONVERGED_RTOL, iterations (\d+), residual (\S+),", told).groups()
    assert int(count) == iterations("-pc_type lu") and float(residual) < 2e-6, told


def resonances(options):
    """The eigenvalues that SLEPc finds, sorted, as waves along a side: real and imaginary parts."""
    output = programs.python(RESONANCES, f"-n 49 -waves 4 {options}", environment=complex_petsc.PETSC | programs.SLEPC).output
    found = re.findall(r"waves (\S+) (\S+) i, quality (\S+), error (\S+)", output)
    assert len(found) >= 4 and all(float(error) < 1e-8 and float(damped) > 0 for _, damped, _, error in found), output
    return [float(part) for pair in sorted((round(float(waves), 6), damped) for waves, damped, *_ in found[:4]) for part in pair]


@needs_petsc4py
@programs.needs_slepc4py("python3-slepc4py-complex3.18", complex_petsc.PETSC)
@pytest.mark.parametrize(
    "solver",
    [
        "-st_ksp_type preonly -st_pc_type lu -st_pc_factor_mat_solver_type crout",
        "-st_ksp_type preonly -st_pc_type crout -st_pc_crout_pattern full",
        "-st_ksp_type gmres -st_ksp_rtol 1e-12 -st_pc_type crout -st_pc_crout_levels 4",
    ],
)
def test_resonances_by_shift_and_invert(solver):
    assert resonances(solver) == pytest.approx(resonances("-st_ksp_type preonly -st_pc_type lu"), abs=2e-6)
