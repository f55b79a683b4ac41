"""PCBCR on a GPU: exact there too, as many iterations as on the host, and nothing crosses during a solve."""

import re

import pytest
from device_types import ON_DEVICE
from test_device import grid, on_device

bcr_problems = pytest.mark.parametrize(
    "problem", ["-n 127,63", "-n 40,33 -ends fixed", "-n 30,41 -kind rows", "-n 17,18,19 -kind stretched", "-n 33,20 -kind random -ends onesided -shift 1"]
)


@on_device
@bcr_problems
def test_bcr_solves_on_the_device(run, types, problem):
    result = run("bcr_probe", f"-pc_type bcr -pc_bcr_require_separable {problem} -probe apply,adjoint,many,again -ksp_type preonly -ksp_view {types}")
    assert max(float(value) for value in re.findall(r"error (\S+)", result.output)) < 1e-12
    assert result.number("adjoint difference") < 1e-12
    assert max(float(value) for value in re.findall(r"column (\S+)", result.output)) < 1e-12
    assert ON_DEVICE in result.output


@on_device
@pytest.mark.parametrize("settings", ["-n 33,17", "-n 33,17,20", "-n 40,40 -pc_bcr_precision single"])
def test_bcr_no_transfers_in_a_hundred_applications(run, types, settings):
    output = run("pc_probe", f"-probe transfers -pc_type bcr {settings} {types}").output
    to_device, to_host = re.search(r"transfers to device (\S+), to host (\S+);", output).groups()
    assert float(to_device) == 0 and float(to_host) == 0, output


@on_device
def test_bcr_iterations_of_the_host(run, types):
    for program, options in [
        ("ex45", grid(33, 20, 17)),
        ("ex50", grid(65, 40)),
        ("ex29", "-da_refine 5 -rho 100"),
        ("bcr_probe", "-kind jump -n 65,65 -ends cells -ksp_type cg"),
        ("bcr_probe", "-kind stretched -n 65,65 -pc_bcr_precision single -ksp_type richardson -ksp_rtol 1e-11"),
    ]:
        options += " -pc_type bcr -ksp_converged_reason"
        # single precision rounds another way there
        more = 1 if "single" in options else 0
        assert run(program, f"{options} {types}").iterations() <= run(program, options).iterations() + more


@on_device
def test_bcr_new_values_and_host_vectors(run, types):
    refresh = run("pc_probe", f"-probe refresh -pc_type bcr {types}")
    assert refresh.number("old values difference") > 1e-4
    assert refresh.number("refresh difference") < 1e-14
    host = run("pc_probe", f"-probe host -pc_type bcr {types}")
    assert host.number("host difference") < 1e-12
    assert host.number("mixed difference") < 1e-12


@on_device
@pytest.mark.parametrize("ranks", [2, 3])
def test_bcr_on_several_ranks(run, types, ranks):
    options = f"{grid(65, 40)} -pc_type bcr -ksp_converged_reason"
    assert run("ex50", f"{options} {types}", ranks=ranks).iterations() <= 2
