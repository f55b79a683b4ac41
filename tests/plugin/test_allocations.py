"""In a solve nothing is allocated: a tool of Kokkos counts its arrays in a second solve of tests/plugin/programs/two_solves.c."""

import programs
import pytest
from test_tutorials import grid

MULTIGRID = "-pc_type mg -pc_mg_levels 3 -pc_mg_galerkin both -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 2 -mg_levels_pc_type line -ksp_type cg"


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("options", ["-pc_type boxmg", "-pc_type boxmg -pc_boxmg_cycle f", "-pc_type boxmg -pc_boxmg_precision single", "-pc_type boxmg -pc_boxmg_smoother points",
                                     "-pc_type boxmg -pc_boxmg_smoother planes",
                                     "-pc_type line", "-pc_type line -pc_line_sweeps 2", MULTIGRID, f"{MULTIGRID} -mg_levels_pc_line_ordering zebra", "-pc_type bcr",
                                     f"{MULTIGRID} -mg_coarse_ksp_type preonly -mg_coarse_pc_type bcr"])
def test_nothing_in_a_second_solve(run, options, ranks):
    problem = "-dim 3" if "planes" in options else grid(65, 65)
    before, within = programs.allocations(run("two_solves", f"{problem} {options}", ranks=ranks, environment=programs.COUNTS_ALLOCATIONS))
    assert before > 0 and within == 0
