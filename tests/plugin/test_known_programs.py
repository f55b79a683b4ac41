"""PETSc's nonlinear, time-dependent and elastic tutorials, untouched: with each type of matrix that they offer, on 1, 2 and 4 ranks and over more
than one Newton or time step, they give the answer of PETSc's own solver."""

import array
import functools
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import programs
import pytest

TIGHT = "-snes_rtol 1e-9 -ksp_rtol 1e-10"
# name: program, its problem, how it shows its solution, types of matrices
PROGRAMS = {
    "Bratu": ("snes_ex5", f"-da_grid_x 14 -da_grid_y 11 {TIGHT}", "snes", ("aij", "baij")),
    "Bratu in 3-D": ("snes_ex14", f"-da_grid_x 8 -da_grid_y 7 -da_grid_z 6 {TIGHT}", "snes", ("aij", "baij", "sbaij")),
    "p-Laplacian": ("snes_ex15", f"-da_grid_x 12 -da_grid_y 12 -p 1.6 -lambda 1 {TIGHT}", "snes", ("aij", "baij")),
    "cavity": ("snes_ex19", f"-da_grid_x 7 -da_grid_y 7 -lidvelocity 20 -grashof 100 {TIGHT}", "snes", ("aij", "baij")),
    "ice sheet": ("snes_ex48", f"-M 4 -N 4 -P 3 {TIGHT}", "snes", ("aij", "baij", "sbaij")),
    "heat": ("ts_ex13", f"-da_grid_x 9 -da_grid_y 9 -ts_max_steps 3 {TIGHT}", "ts", ("aij", "baij", "sbaij")),
    "elasticity with a sponge": ("ex49", "-mx 8 -my 8 -c_str 3 -sponge_t 2 -sponge_w 4 -sponge_E0 1 -sponge_E1 100 -no_view -elas_ksp_rtol 1e-11 "
                                 "-elas_ksp_max_it 4000", "elas_ksp", ("aij",)),
    "elasticity of trilinear elements": ("ex55", "-ne 7 -ksp_rtol 1e-11 -ksp_max_it 4000", "ksp", ("aij",)),
}
CASES = [(name, kind, ranks) for name, (_, _, _, kinds) in PROGRAMS.items() for kind in kinds for ranks in (1, 2, 4)]


def solution(name, kind, ranks, solver):
    program, problem, shows, _ = PROGRAMS[name]
    prefix = "elas_" if shows == "elas_ksp" else ""
    solver = solver.replace("-pc_", f"-{prefix}pc_").replace("-ksp_", f"-{prefix}ksp_")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "solution"
        programs.execute(program, f"{problem} -dm_mat_type {kind} -{shows}_view_solution binary:{file} {solver} -malloc_debug", ranks=ranks)
        words = array.array("d", file.read_bytes()[8:])  # after the kind and the length
    words.byteswap()
    return words.tolist()


@functools.lru_cache(maxsize=None)
def answer(name, ranks):
    return solution(name, "aij", ranks, "-pc_type lu" if ranks == 1 else "-pc_type bjacobi")


def check(name, kind, ranks, solver):
    # A DMDA shows its vectors in one order, whatever the number of ranks; those of the linear programs know of none.
    right = answer(name, ranks if PROGRAMS[name][2].endswith("ksp") else 1)
    found = solution(name, kind, ranks, f"-ksp_type gmres -ksp_gmres_restart 100 {solver}")
    assert len(found) == len(right) > 0
    assert max(abs(a - b) for a, b in zip(found, right)) < 1e-6 * max(map(abs, right))


@pytest.mark.parametrize("name, kind, ranks", CASES)
def test_answers_are_the_default_solvers(name, kind, ranks):
    check(name, kind, ranks, "-pc_type line")


# Types that do not take all of the programs: adi, bcr and boxmg want one unknown a node.
SCALAR = ("Bratu", "Bratu in 3-D", "heat")
OTHERS = [(solver, name, kind) for name, (_, _, _, kinds) in PROGRAMS.items() for kind in kinds for solver in ("crout", "crout -pc_crout_pattern full") if kind != "baij"]
OTHERS += [(solver, name, "aij") for name in SCALAR for solver in ("adi", "bcr", "boxmg")]


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("solver, name, kind", OTHERS)
def test_so_are_those_of_other_types(solver, name, kind, ranks):
    check(name, kind, ranks, f"-pc_type {solver}")


@pytest.mark.skipif(not shutil.which("valgrind"), reason="no valgrind")
@pytest.mark.parametrize("program, problem, ranks", [("snes_ex19", "-da_grid_x 5 -da_grid_y 5 -dm_mat_type baij", 2), ("snes_ex48", "-M 3 -N 3 -P 2 -dm_mat_type sbaij", 1)])
def test_the_memory_of_programs_is_theirs(program, problem, ranks):
    """A colouring of the Jacobian keeps pointers into the matrix that a preconditioner copies."""
    command = [programs.MPIEXEC, "-n", str(ranks)] if ranks > 1 else []
    command += ["valgrind", "--undef-value-errors=no", "-q", str(programs.BUILD / "bin" / program), "-dll_append", str(programs.LIBRARY)]
    command += f"{problem} -snes_converged_reason -snes_rtol 1e-8 -pc_type line".split()
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, env=programs.ENVIRONMENT)
    assert result.returncode == 0, result.stdout
    assert not re.search(r"Invalid (read|write|free)", result.stdout), result.stdout
    assert int(re.search(r"CONVERGED_\w+ iterations (\d+)", result.stdout).group(1)) > 1


FACTORS = "-pc_type bjacobi -sub_pc_type icc -sub_pc_factor_mat_solver_type crout -sub_pc_factor_mat_ordering_type natural"  # of AIJ and SBAIJ


@programs.needs_petsc4py
@pytest.mark.parametrize("kind, solver", [*((kind, "-pc_type line") for kind in ("aij", "baij", "sbaij")), ("aij", FACTORS), ("sbaij", FACTORS)])
@pytest.mark.parametrize("bs", [1, 2, 3])
@pytest.mark.parametrize("ranks", [1, 2])
def test_new_values_of_matrices_of_blocks(ranks, kind, bs, solver):
    """What PETSc makes of SeqSBAIJ when it converts it again into the same matrix is another matrix."""
    output = programs.python(Path(__file__).with_name("programs") / "new_values.py", f"-kind {kind} -bs {bs} {solver}", ranks=ranks).output
    differences = [float(line.split()[-1]) for line in output.splitlines() if line.startswith("round")]
    assert len(differences) == 10 and max(differences) < 1e-12, output
