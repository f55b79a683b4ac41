"""Crout factors on a GPU: what they are on the host, and nothing crosses between host and device during a solve."""

import os
import re
from pathlib import Path

import pytest
from device_types import KIND, MATRIX, ON_DEVICE, TYPES

on_device = pytest.mark.parametrize("types", TYPES.values(), ids=TYPES.keys())
SOLVER = "-pc_factor_mat_solver_type crout"
SETTINGS = ["", "-pc_crout_levels 1", "-pc_crout_pattern full", "-pc_crout_pattern threshold", "-pc_crout_trisolve jacobi", "-pc_crout_trisolve isai",
            "-pc_crout_trisolve syncfree -pc_crout_method exact", "-pc_crout_precision single"]


@on_device
@pytest.mark.parametrize("options", ["-pc_type ilu", "-pc_type ilu -pc_factor_levels 1", "-pc_type ilu -pc_factor_mat_ordering_type rcm"])
def test_nearly_as_many_iterations_as_petscs_on_the_host(run, types, options):
    for program, size in (("ex50", "-da_grid_x 65 -da_grid_y 65"), ("ex45", "-da_grid_x 17 -da_grid_y 17 -da_grid_z 17")):
        command = f"{size} {options} -ksp_rtol 1e-8 -ksp_converged_reason"
        assert run(program, f"{command} {SOLVER} {types}").iterations() <= 1.1 * run(program, command).iterations() + 2


@on_device
@pytest.mark.parametrize("settings", SETTINGS)
def test_no_transfers_in_a_hundred_applications(run, types, settings):
    output = run("pc_probe", f"-probe transfers -pc_type crout -n 13,17,30 {settings} {types}").output
    to_device, to_host = re.search(r"transfers to device (\S+), to host (\S+);", output).groups()
    assert float(to_device) == 0 and float(to_host) == 0, output


@on_device
@pytest.mark.parametrize("settings", SETTINGS)
def test_transpose_is_the_adjoint(run, types, settings):
    for problem in ("-n 40", "-n 13,11,7", "-n 5,6,7 -dof 2"):
        difference = run("pc_probe", f"-pc_type crout {settings} {problem} {types}").number("adjoint difference")
        assert difference < (1e-5 if "single" in settings else 1e-12)


@on_device
@pytest.mark.parametrize("problem", ["-n 1", "-n 777", "-n 40,9", "-n 5,6,7 -dof 2"])
@pytest.mark.parametrize("trisolve", ["auto", "levels", "syncfree"])
def test_full_pattern_is_a_direct_solver(run, types, problem, trisolve):
    options = f"-probe exact -pc_type crout -pc_crout_pattern full -pc_crout_trisolve {trisolve} {problem} {types}"
    assert run("pc_probe", options).number("exact difference") < 1e-11


@on_device
def test_new_values_and_host_vectors(run, types):
    refresh = run("pc_probe", f"-probe refresh -pc_type crout -pc_crout_pattern full {types}")
    assert refresh.number("old values difference") > 1e-3
    assert refresh.number("refresh difference") < 1e-12
    host = run("pc_probe", f"-probe host -pc_type crout {types}")
    assert host.number("host difference") < 1e-13
    assert host.number("mixed difference") < 1e-13


@on_device
@pytest.mark.parametrize("diagonal", ["nan", "inf"])
def test_what_is_not_finite_fails_the_pc(run, types, diagonal):
    output = run("pc_probe", f"-probe pivot -pc_type crout -diagonal {diagonal} {types}").output
    assert "DIVERGED_PC_FAILED FACTOR_" in output
    assert "then FACTOR_NOERROR" in output


@pytest.mark.parametrize("factor", ["lu", "cholesky"])
@pytest.mark.parametrize("storage", [f"-mat_type {MATRIX}", "-mat_type aijkokkos", f"-matrix_type seqdense{KIND}"])
def test_all_solves_of_the_factors(run, factor, storage):
    result = run("factor_probe", f"-probe solve -factor {factor} -n 90 {storage}")
    for name in ("residual", "transposed residual", "adjoint", "MatMatSolve", "MatMatSolve with gaps", "MatMatSolveTranspose", "MatSolveAdd"):
        assert result.number(f"{name} difference") < 1e-11, result.output
    assert ON_DEVICE in result.output


@on_device
@pytest.mark.parametrize("pc", ["-pc_type crout", f"-pc_type bjacobi -sub_pc_type ilu -sub_{SOLVER[1:]}"])
def test_two_ranks(run, types, pc):
    options = f"-da_grid_x 65 -da_grid_y 65 {pc} -ksp_rtol 1e-8 -ksp_converged_reason"
    assert run("ex50", f"{options} {types}", ranks=2).iterations() <= 1.1 * run("ex50", options, ranks=2).iterations() + 2


@pytest.mark.parametrize("solver", ["-pc_type crout", f"-pc_type ilu {SOLVER}"])
def test_what_petsc_keeps_on_the_host_stays_there(run, solver):
    matrix = Path(os.environ["WEFT_SOURCE"]) / "matrices" / "HB__sherman3.mtx.gz"
    for program, problem, bound in (("ex50", f"-da_grid_x 65 -da_grid_y 65 {TYPES[KIND]}", "-dm_bind_below 10000"),
                                    ("weft_mm", f"{matrix} -mat_type {MATRIX}", "-mat_bind_below 10000")):
        command = f"{problem} {solver} -ksp_rtol 1e-8 -ksp_view -ksp_converged_reason -log_view -log_view_gpu_time"
        device, host = run(program, command), run(program, f"{command} {bound}")
        assert ON_DEVICE in device.output
        assert "on the host" in host.output and "on the device" not in host.output
        for event in ("PCApply", "VecMAXPY"):
            columns = [line for line in host.output.splitlines() if line.startswith(event + " ")][0].split()
            assert float(columns[-5]) == 0 == float(columns[-3]), columns  # counts of copies to the device and to the host
