"""PETSc's tutorials, untouched: -pc_type line alone, under multigrid, on 1, 2 and 4 ranks."""

import pytest

ANISOTROPIC = [(33, 257), (33, 513), (17, 1025)]
MULTIGRID = "-pc_type mg -pc_mg_levels 4 -pc_mg_galerkin both -ksp_rtol 1e-8 -ksp_converged_reason"


def grid(*sizes):
    return " ".join(f"-da_grid_{axis} {size}" for axis, size in zip("xyz", sizes))


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("options", ["", "-pc_line_kernel pcr", "-pc_line_sweeps 2 -pc_line_omega 0.9"])
def test_ex2_rows_in_their_own_order(run, ranks, options):
    result = run("ex2", f"-m 30 -n 20 -pc_type line -ksp_rtol 1e-10 {options}", ranks=ranks)
    assert result.number("Norm of error") < 1e-6


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("ordering", ["jacobi", "zebra"])
@pytest.mark.parametrize("direction", ["x", "y", "z", "auto"])
def test_ex45_in_three_dimensions(run, ranks, ordering, direction):
    result = run(
        "ex45",
        f"{grid(9, 13, 11)} -pc_type line -pc_line_ordering {ordering} -pc_line_direction {direction} -ksp_rtol 1e-10 -ksp_converged_reason",
        ranks=ranks,
    )
    assert result.number("Residual norm") < 1e-7
    assert result.iterations() < 60


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ex50_as_multigrid_smoother(run, ranks):
    for sizes in [(129, 129), (33, 513), (17, 1025)]:
        default = run("ex50", f"{grid(*sizes)} {MULTIGRID}", ranks=ranks).iterations()
        line = run("ex50", f"{grid(*sizes)} {MULTIGRID} -mg_levels_pc_type line", ranks=ranks).iterations()
        assert line <= 7 if ranks == 1 else line <= 20
        if sizes == (17, 1025):
            assert line < default / 2


@pytest.mark.parametrize("sizes", ANISOTROPIC)
def test_fewer_iterations_than_jacobi_and_sor(run, sizes):
    counts = {
        pc: run("ex50", f"{grid(*sizes)} -ksp_type cg -ksp_rtol 1e-8 -ksp_max_it 20000 -ksp_converged_reason -pc_type {pc}").iterations()
        for pc in ("line", "sor", "jacobi")
    }
    assert counts["line"] < counts["sor"] < counts["jacobi"]


def test_kernels_and_threads_agree(run):
    options = f"{grid(17, 257)} -pc_type line -ksp_rtol 1e-10 -ksp_monitor -ksp_converged_reason"
    thomas = run("ex50", f"{options} -pc_line_kernel thomas")
    pcr = run("ex50", f"{options} -pc_line_kernel pcr")
    threads = run("ex50", options, environment={"OMP_NUM_THREADS": "3"})
    assert thomas.iterations() == pcr.iterations()
    assert threads.output == run("ex50", options).output


def test_colours_do_not_depend_on_the_ranks(run):
    """Lines along y cut across no rank when the ranks split x: zebra then gives the same iteration on any number of them."""
    options = f"{grid(24, 15)} -pc_type line -pc_line_direction y -pc_line_ordering zebra -ksp_type richardson -ksp_max_it 5 -ksp_monitor_true_residual -da_processors_y 1"
    history = [run("ex50", f"{options} -da_processors_x {ranks}", ranks=ranks).output for ranks in (1, 2, 4)]
    residuals = [[float(line.split()[-1]) for line in text.splitlines() if "true resid" in line] for text in history]
    assert len(residuals[0]) == 6
    for other in residuals[1:]:
        assert other == pytest.approx(residuals[0], rel=1e-8)


def test_view_says_what_was_found(run):
    output = run("ex45", f"{grid(9, 13, 11)} -pc_type line -ksp_view").output
    for line in (
        "type: line",
        "ordering jacobi (auto: zebra is for Richardson's iteration), sweeps 1 forward, omega 1.",
        "lines from a grid, in its stiff directions",
        "grid: 3-dimensional with 1 component a node",
        "lines along y: 99 of at most 13 rows",
        "kernel: toeplitz (auto) on the host",
    ):
        assert line in output, output
    options = "-pc_type line -pc_line_direction y -pc_line_kernel pcr -da_processors_x 1 -da_processors_y 2 -da_processors_z 1 -ksp_view"
    output = run("ex45", f"{grid(9, 13, 11)} {options}", ranks=2).output
    for line in ("lines along y: 99 of at most 13 rows across ranks", "kernel: pcr on the host"):
        assert line in output, output
    output = run("ex45", f"{grid(9, 13, 11)} {options} -pc_line_ranks cut", ranks=2).output
    assert "lines along y: 198 of at most 7 rows, cut where ranks meet" in output, output
    output = run("ex2", "-pc_type line -ksp_view").output
    assert "lines from the strongest couplings of the matrix" in output
    output = run("ex2", "-pc_type line -pc_line_source rows -ksp_view").output
    assert "lines: 1 of at most 56 rows" in output
    assert "lines from the rows in their order" in output


def test_auto_takes_the_stiff_direction_on_each_level(run):
    output = run("ex50", f"{grid(33, 513)} {MULTIGRID} -mg_levels_pc_type line -ksp_view").output
    assert output.count("lines along y:") == 3
    output = run("ex50", f"{grid(513, 33)} {MULTIGRID} -mg_levels_pc_type line -ksp_view").output
    assert output.count("lines along x:") == 3


def test_all_options_are_used_and_misspelt_ones_are_named(run):
    good = run("ex2", "-pc_type line -pc_line_kernel pcr -pc_line_sweeps 1 -pc_line_omega 1 -pc_line_ordering jacobi -options_left").output
    assert "pc_line" not in good.split("There are")[-1], good
    assert "pc_line_sweeeps" in run("ex2", "-pc_type line -pc_line_sweeeps 2 -options_left").output.split("WARNING")[-1]


def test_log_view_counts_the_work(run):
    output = run("ex45", f"{grid(17, 17, 17)} -pc_type line -log_view :/dev/stdout").output
    for event in ("PCSetUp", "PCApply"):
        row = next(line for line in output.splitlines() if line.startswith(event))
        assert int(row.split()[1]) > 0
    flops = next(line for line in output.splitlines() if line.startswith("PCApply")).split()
    assert float(flops[5]) > 0, flops
