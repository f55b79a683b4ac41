"""libweft_compact, as a program in C outside the repository meets it: weft_compact.h, pkg-config or CMake, and no option of Weft's."""

import math
import re
import shutil
from pathlib import Path

import programs
import pytest
from compact_fields import compact, derivatives
from installed import command, installed_library, pkg_config_path, rpath

CONSUMER = Path(__file__).resolve().parent / "consumer"
LINE = re.compile(r"^(first|again|second|filter) (\d) along (\w): error (\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def program(prefix, tmp_path_factory):
    path = tmp_path_factory.mktemp("derivative") / "derivative"
    flags = command("pkg-config", "--cflags", "--libs", "weft-compact", PKG_CONFIG_PATH=pkg_config_path(prefix)).split()
    command("mpicc", "-Wall", "-Wextra", "-Werror", str(CONSUMER / "derivative.c"), "-o", str(path), *flags, "-lm", rpath(installed_library(prefix).parent))
    return path


@pytest.fixture
def called(program):
    return lambda options, ranks=1: command(*([programs.MPIEXEC, "-n", str(ranks)] if ranks > 1 else []), str(program), *options.split())


def errors(output):
    """{(what, order, axis): error}"""
    return {(what, int(order), axis): float(error) for what, order, axis, error in LINE.findall(output)}


#: Grids that any of 1, 2 and 4 ranks can have.
GRIDS = {1: "-dim 1 -da_grid_x 61", 2: "-dim 2 -da_grid_x 29 -da_grid_y 40", 3: "-da_grid_x 19 -da_grid_y 33 -da_grid_z 24"}


@pytest.mark.parametrize("dim", GRIDS)
@pytest.mark.parametrize("options", ["", "-periodic"])
def test_errors_are_those_of_the_example_on_any_ranks(run, called, dim, options):
    """Of the same waves, by the program that the library comes from."""
    grid = GRIDS[dim]
    found = {ranks: errors(called(f"{grid} {options}", ranks)) for ranks in (1, 2, 4)}
    assert all(len(of) == 8 * dim for of in found.values())
    periodic = options.replace("-periodic", "-compact_periodic")
    for what in ("first", "second"):
        for order in (4, 6):
            for row in derivatives(compact(run, f"{grid} {periodic} -compact_derivative {what} -compact_order {order}")):
                for of in found.values():
                    assert of[what, order, row["axis"]] == pytest.approx(row["most"], rel=1e-5)
                    assert of["again", order, row["axis"]] == pytest.approx(row["most"], rel=1e-5) or what == "first"


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_orders_of_accuracy(called, ranks):
    """Largest errors: of the rows near ends, third order, or of the scheme on rings."""
    for options, sizes, orders in (("", (129, 257), {("first", 4): 3, ("first", 6): 3, ("second", 4): 3}),
                                   ("-periodic", (32, 64), {("first", 4): 4, ("first", 6): 6, ("second", 4): 4, ("second", 6): 6, ("filter", 4): 4, ("filter", 6): 6})):
        coarse, fine = (errors(called(f"-dim 1 -da_grid_x {size} {options}", ranks)) for size in sizes)
        for (what, order), expected in orders.items():
            assert math.log2(coarse[what, order, "x"] / fine[what, order, "x"]) == pytest.approx(expected, abs=0.3), (what, order)


@pytest.mark.parametrize("options", ["-coordinates", "-coordinates -periodic", "-compact_one_pass", "-compact_one_pass -periodic", "-compact_assembled", "-mixed",
                                     "-compact_assembled -x_pc_type lu -x_pc_factor_mat_solver_type petsc"])
def test_ways_and_vectors_give_the_same(called, options):
    ranks = 1 if "lu" in options else 2
    given, other = (errors(called(f"-dim 1 -da_grid_x 400 {words}", ranks)) for words in ("-periodic" if "-periodic" in options else "", options))
    # What the rounding of values of about 1 leaves unknown of a derivative, and a filter's error is of that size.
    assert all(other[key] == pytest.approx(error, rel=1e-3, abs={"first": 1e-12, "filter": 1e-14}.get(key[0], 1e-9)) for key, error in given.items())


def test_options_of_the_solver_are_taken(called):
    view = called("-dim 1 -da_grid_x 400 -x_ksp_view", 2)
    assert "type: line" in view and "kernel: toeplitz" in view and "ranks tell their neighbours only" in view


def test_options_have_the_prefix_of_the_grid(called):
    assert "kernel: toeplitz" in called("-dim 1 -prefix flow_ -flow_x_ksp_view")
    given, other = (called(f"-dim 1 -da_grid_x 400 -prefix flow_ -{prefix}compact_one_pass -log_view") for prefix in ("", "flow_"))
    assert "CompactSweep" not in given and "CompactSweep" in other


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    "wrong, message",
    [
        ("dm", "this DM is of type shell: give a DMDA"),
        ("setup", "the DMDA is not set up: call DMSetUp() first"),
        ("unknowns", "one unknown a node, and the DMDA has 2: take a DMDA of one (DMDACreateCompatibleDMDA())"),
        ("direction", "direction 1: a DMDA of dimension 1 has the directions 0 to 0 (0 is x)"),
        ("boundary", "boundary along x is MIRROR"),
        ("scheme", "invalid WeftCompactScheme 7: take WEFT_COMPACT_FIRST_4"),
        ("spacing", "give the distance of two nodes"),
        ("nan", "give the distance of two nodes"),
        ("coordinates", "map the coordinates onto it"),
        ("order", "filters of order 4 and 6 are offered, not of order 5"),
        ("alpha", "alpha is 0.6, and must lie between -1/2 and 1/2"),
        ("beside", "this WeftCompact is not created yet, or destroyed: WeftCompactCreate() makes one"),
        ("long", "du is not distributed as the DMDA's vectors are: create it by DMCreateGlobalVector()"),
        ("shifted", "du is not distributed as the DMDA's vectors are"),
        ("same", "u and du are the same Vec"),
        ("again", "needs a derivative made by WeftCompactCreateBeside()"),
        ("destroyed", "WeftCompactApply(): this WeftCompact is not created yet, or destroyed"),
    ],
)
def test_wrong_calls_say_what_to_do_on_all_ranks(called, wrong, message, ranks):
    output = called(f"-dim 1 -da_grid_x 40 -wrong {wrong}", ranks)
    for rank in range(ranks):
        (said,) = re.findall(f"^rank {rank}: (.*)$", output, re.MULTILINE)
        assert message in said, output


def test_a_local_vector_is_refused(called):
    assert called("-dim 1 -da_grid_x 40 -wrong local", 2).count("du is not distributed as the DMDA's vectors are") == 2


@pytest.mark.parametrize(
    "options, ranks, message",
    [
        ("-da_grid_x 2", 1, "is shorter than the stencil"),
        ("-da_grid_x 3", 1, "take more of them along x"),
        ("-da_grid_x 8", 4, "is shorter than the stencil"),
        ("-da_grid_x 40 -x_pc_line_kernel thomas", 2, "it is solved by -pc_line_kernel toeplitz (or auto), not by thomas"),
        ("-da_grid_x 40 -x_pc_type none", 2, "so g is no derivative"),
    ],
)
def test_grids_and_options_that_do_not_do(called, options, ranks, message):
    output = called(f"-dim 1 {options} -wrong any", ranks)
    assert len(re.findall(rf"^rank \d: .*{re.escape(message)}", output, re.MULTILINE)) == ranks, output


@pytest.mark.parametrize("options", ["", "-compact_one_pass -da_grid_x 400", "-compact_assembled"])
def test_what_fails_on_one_rank_fails_on_all(called, options):
    """Each call of a set-up that can fail, in turn."""
    for at in range(1, 40):
        output = called(f"-dim 1 -da_grid_x 60 {options} -wrong any -weft_fail_rank 1 -weft_fail_at {at}", 3)
        failed = len(re.findall(r"^rank \d: (?:rank 1 failed: )?made to fail", output, re.MULTILINE))
        assert failed in (0, 3), output
        if failed == 0:
            assert output.count("no error") == 3, output
            break
    assert at > 3


def test_complex_numbers_are_refused_by_the_header(prefix, tmp_path):
    flags = command("pkg-config", "--cflags", "weft-compact", PKG_CONFIG_PATH=pkg_config_path(prefix)).split()
    output = command("mpicc", "-fsyntax-only", "-DPETSC_USE_COMPLEX=1", str(CONSUMER / "derivative.c"), *flags, code=1)
    assert "Weft takes real numbers in double precision: compile with a PETSc configured --with-scalar-type=real" in output


@pytest.mark.parametrize("language, suffix, target", [("C", "c", "Weft::compact"), ("CXX", "cxx", "weft::compact")])
def test_the_cmake_package_has_it_too(prefix, tmp_path, language, suffix, target):
    shutil.copy(CONSUMER / "derivative.c", tmp_path / f"derivative.{suffix}")
    (tmp_path / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.22)\nproject(derivative LANGUAGES {language})\nfind_package(Weft REQUIRED)\n"
                                             f"add_executable(derivative derivative.{suffix})\ntarget_link_libraries(derivative {target} m)\n")
    command("cmake", "-S", str(tmp_path), "-B", str(tmp_path / "build"), f"-DWeft_ROOT={prefix}")
    command("cmake", "--build", str(tmp_path / "build"))
    assert len(errors(command(str(tmp_path / "build" / "derivative"), "-dim", "1"))) == 8
