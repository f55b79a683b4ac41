"""Compact differences of complex fields: by libweft_compact from petsc4py, by a program in C, and by the program compact."""

import math
import os
import subprocess
from pathlib import Path

import complex_petsc
import programs
import pytest
from compact_fields import compact, derivatives
from complex_petsc import needs_petsc4py

TESTS = Path(__file__).parents[1]
CASES = Path(__file__).parent / "programs" / "compact_cases.py"


def case(name, options="", ranks=1):
    return programs.python(CASES, f"-case {name} {options}", ranks=ranks, environment=complex_petsc.PETSC).output


@needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("way, says", [("-rows 29 -x_ksp_view", "type: shell"), ("-rows 190 -compact_one_pass -log_view", "CompactSweep"), ("-rows 29 -compact_assembled -x_ksp_view", "aij")])
def test_parts_of_random_fields_have_the_derivatives_of_the_reference(way, says, ranks):
    """Every order, along every direction, on lines and on rings; the ranks cut them, and four ranks the lines beside each other too."""
    output = case("derivatives", way, ranks)
    assert output.count(": alike") == 36 and says in output, output


@needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("options", ["-rows 30", "-rows 170 -compact_one_pass"])
def test_two_derivatives_share_messages(options, ranks):
    assert case("again", options, ranks).count(": alike") == 6


@needs_petsc4py
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("options", ["-rows 30", "-rows 170 -compact_one_pass"])
def test_real_and_imaginary_parts_do_not_mix(options, ranks):
    assert case("parts", options, ranks).count(": alike") == 6


def compiled(program, petsc):
    """mpicc's outcome for the consumer in C, with the headers and libraries of this build and those of a PETSc."""
    environment = dict(os.environ, PKG_CONFIG_PATH=str(Path(petsc) / "lib" / "pkgconfig"))
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout.split()
    libraries = programs.BUILD / "lib"
    command = ["mpicc", "-Wall", "-Wextra", "-Werror", str(TESTS / "package" / "consumer" / "derivative.c"), "-o", str(program), f"-I{programs.BUILD}/include"]
    return subprocess.run([*command, f"-L{libraries}", f"-Wl,-rpath,{libraries}:{petsc}/lib", "-lweft_compact", "-lweft", *flags, "-lm"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_program_in_c(ranks, tmp_path):
    """Its waves are real, and so are their derivatives: errors are those that the program compact finds."""
    done = compiled(tmp_path / "derivative", complex_petsc.PETSC["PETSC_DIR"])
    assert done.returncode == 0, done.stdout
    grid = "-dim 2 -da_grid_x 29 -da_grid_y 40"
    output = programs.execute(tmp_path / "derivative", grid, ranks=ranks, load=False).output
    for what in ("first", "second"):
        for order in (4, 6):
            for row in derivatives(compact(programs.execute, f"{grid} -compact_derivative {what} -compact_order {order}")):
                (error,) = (float(line.split()[-1]) for line in output.splitlines() if line.startswith(f"{what} {order} along {row['axis']}: error"))
                assert error == pytest.approx(row["most"], rel=1e-5)


real = next(Path("/usr/lib/petscdir").glob("petsc3*/*-real"), None)


@pytest.mark.skipif(not real, reason="no PETSc with real scalars here (Debian: libpetsc-real-dev)")
def test_a_program_with_real_scalars_is_refused_by_the_header(tmp_path):
    done = compiled(tmp_path / "derivative", real)
    assert done.returncode != 0 and "Weft takes complex numbers in double precision: compile with a PETSc configured --with-scalar-type=complex" in done.stdout


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("options, order", [("-compact_order 4", 4), ("-compact_order 6", 6), ("-compact_order 6 -compact_one_pass", 6), ("-compact_derivative filter", 4)])
def test_orders_of_the_program(options, order, ranks):
    coarse, fine = (derivatives(compact(programs.execute, f"-dim 1 -compact_periodic -da_grid_x {size} {options}", ranks=ranks))[0] for size in (64, 128))
    assert math.log2(coarse["most"] / fine["most"]) == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize("ranks", [1, 3])
def test_gradient_divergence_and_laplacian(ranks):
    coarse, fine = (compact(programs.execute, f"-case operators -dim 2 -da_grid_x {size} -da_grid_y {size}", ranks=ranks) for size in (33, 65))
    for what in ("gradient, x: error", "gradient, y: error", "divergence of the gradient: error", "Laplacian: error"):
        assert fine.number(what) < 0.3 * coarse.number(what)


def test_the_pulse_is_written(tmp_path):
    output = compact(programs.execute, f"-case pulse -dim 2 -output {tmp_path}/pulse").output
    assert float(output.split("error ")[1].split(",")[0]) < 0.01
    assert (tmp_path / "pulse.bin").stat().st_size == 8 + 16 * 33 * 33 and not (tmp_path / "pulse.vts").exists()
