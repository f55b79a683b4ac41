"""PCBOXMG on a GPU: the iterations of the host, nothing crosses between host and device during a solve, and nothing is allocated."""

import os
import re

import programs
import pytest
from device_types import ON_DEVICE
from test_device import grid, on_device

SETTINGS = ["", "-pc_boxmg_cycle w", "-pc_boxmg_cycle f", "-pc_boxmg_smoother points", "-pc_boxmg_smoother alternating", "-pc_boxmg_precision single", "-pc_boxmg_coarse lines",
            "-pc_boxmg_interpolation linear -pc_boxmg_sweeps 2"]
PROBLEMS = ["-n 300", "-n 65,40", "-n 33,257 -stretch 0,1", "-n 17,12,30 -diagonals", "-n 40,33 -ring 1,1"]


def transfers(output, pattern):
    to_device, to_host = re.search(pattern, output).groups()
    return float(to_device), float(to_host)


@on_device
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_boxmg_no_transfers_in_a_hundred_applications(run, types, problem, settings):
    output = run("pc_probe", f"-probe transfers -values_symmetric -pc_type boxmg {problem} {settings} {types}").output
    assert transfers(output, r"transfers to device (\S+), to host (\S+);") == (0, 0), output


@on_device
@pytest.mark.parametrize("settings", SETTINGS)
def test_boxmg_nothing_crosses_and_nothing_is_allocated_in_a_whole_solve(run, types, settings):
    """The first solve brings the right-hand side and captures the graph of the coarser levels; a second one brings and makes nothing more."""
    solves = run("two_solves", f"{grid(129, 97)} -ksp_type cg -ksp_view -pc_type boxmg {settings} {types}", environment=programs.COUNTS_ALLOCATIONS)
    assert ON_DEVICE in solves.output
    # the numbers that CG waits for are counted by themselves
    assert transfers(solves.output, r"transfers in the second solve: to device (\S+), to host (\S+)") == (0, 0), solves.output
    before, within = programs.allocations(solves)
    assert before > 0 and within == 0


@on_device
def test_boxmg_iterations_of_the_host(run, types):
    for program, options in [
        ("ex45", grid(33, 20, 17)),
        ("ex50", grid(65, 40)),
        ("ex50", grid(17, 1025)),
        ("ex29", "-da_refine 5 -rho 100"),
        ("ex45", f"{grid(17, 17, 17)} -ksp_type fcg -pc_boxmg_precision single"),
        ("channel", f"-picture {os.environ['WEFT_SOURCE']}/examples/channel/bodies.pgm -ksp_type cg"),
    ]:
        options += " -pc_type boxmg -pc_boxmg_coarsest 100 -ksp_rtol 1e-8 -ksp_converged_reason"  # a device inverts larger grids by itself
        # single precision rounds another way there
        more = 1 if "single" in options else 0
        assert abs(run(program, f"{options} {types}").iterations() - run(program, options).iterations()) <= more


@on_device
@pytest.mark.parametrize("settings", SETTINGS)
def test_boxmg_transpose_is_the_adjoint(run, types, settings):
    for problem in PROBLEMS:
        difference = run("pc_probe", f"-pc_type boxmg {problem} {settings} {types}").number("adjoint difference")
        assert difference < (1e-5 if "single" in settings else 1e-11)


@on_device
def test_boxmg_new_values_and_host_vectors(run, types):
    refresh = run("pc_probe", f"-probe refresh -pc_type boxmg -n 19,8,7 {types}")
    assert refresh.number("old values difference") > 1e-4
    assert refresh.number("refresh difference") < 1e-12
    host = run("pc_probe", f"-probe host -pc_type boxmg -n 20,21 {types}")
    assert host.number("host difference") < 1e-12
    assert host.number("mixed difference") < 1e-12


@on_device
@pytest.mark.parametrize("ranks", [2, 3])
def test_boxmg_on_several_ranks(run, types, ranks):
    options = f"{grid(65, 40)} -pc_type boxmg -pc_boxmg_coarsest 100 -ksp_converged_reason"
    assert run("ex50", f"{options} {types}", ranks=ranks).iterations() == run("ex50", options).iterations()


@on_device
@pytest.mark.parametrize("cut", ["-da_processors_x 1 -da_processors_y 2", "-da_processors_x 2 -da_processors_y 1"])
@pytest.mark.parametrize("settings", ["", "-pc_boxmg_precision single", "-ksp_type richardson"])
def test_boxmg_turns_lines_on_several_ranks(run, types, cut, settings):
    """Strong lines along y run along x on a device, in boxes that hold them whole, where ranks cut them and where they do not."""
    problem = f"-da_grid_x 129 -da_grid_y 257 -k 1,1e3 -pc_type boxmg -pc_boxmg_share 100 -ksp_type cg -ksp_rtol 1e-8 -repeat 2 -setups 3 {settings}"
    here, alone = run("diffusion", f"{problem} {types} {cut}", ranks=2), run("diffusion", f"{problem} {types}")
    assert here.number("true residual") < 1e-7
    assert abs(here.number("after") - alone.number("after")) <= 1
