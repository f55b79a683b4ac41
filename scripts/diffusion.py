"""Solves of examples/diffusion for scripts that compare methods: each to the same true residual, in a process of its own with a time limit. One that fails,
does not converge or takes too long says so."""

import json
import os
import platform
import re
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
OPTIONS = SOURCE / "examples" / "diffusion"
TOLERANCE = 1e-8
TYPES = {"host": "", "cuda": "-dm_vec_type cuda -dm_mat_type aijcusparse -assembly coo", "kokkos": "-dm_vec_type kokkos -dm_mat_type aijkokkos -assembly coo"}
COMMON = f"-ksp_rtol {TOLERANCE} -ksp_norm_type unpreconditioned -ksp_max_it 1000"
MULTIGRID = f"{COMMON} -ksp_type cg -pc_type mg -pc_mg_galerkin both"
METHODS = {  # name: (options in 2-D, in 3-D), beside the grid's
    "MG + line": (f"-options_file {OPTIONS}/multigrid-line.opts", f"-options_file {OPTIONS}/multigrid-line-3d.opts"),
    "boxmg": (f"{COMMON} -ksp_type cg -pc_type boxmg",) * 2,
    "boxmg, single": (f"{COMMON} -ksp_type cg -pc_type boxmg -pc_boxmg_precision single",) * 2,
    "boxmg, Richardson": (f"{COMMON} -ksp_type richardson -pc_type boxmg",) * 2,
    "boxmg, Richardson, single": (f"{COMMON} -ksp_type richardson -pc_type boxmg -pc_boxmg_precision single",) * 2,
    "line alone": (f"-options_file {OPTIONS}/krylov-line.opts",) * 2,
    "MG + SOR (default)": (MULTIGRID,) * 2,
    "MG + Jacobi": (f"{MULTIGRID} -mg_levels_pc_type jacobi",) * 2,
    "GAMG": (f"{COMMON} -ksp_type cg -pc_type gamg",) * 2,
    "ILU(0)": (f"{COMMON} -ksp_type bcgs -pc_type bjacobi -sub_pc_type ilu",) * 2,
    "BoomerAMG": (f"{COMMON} -ksp_type cg -pc_type hypre",) * 2,
}
ON_HOST = "-mg_coarse_ksp_type preonly -mg_coarse_pc_type redundant"  # a small factorization costs a host little, and a device a lot
COARSEST = {2: 33, 3: 17}  # nodes a side of the coarsest grid of PCMG


def grid(dimension, size, method):
    """Options for SIZE nodes a side; a multigrid method comes by its levels by refinement."""
    axes = "xyz"[:dimension]
    coarse, refinements = size, 0
    while "MG +" in method and coarse > COARSEST[dimension] and coarse % 2 == 1:
        coarse, refinements = (coarse + 1) // 2, refinements + 1
    words = [f"-da_grid_{axis} {coarse}" for axis in axes] + [f"-dim {dimension}"]
    return " ".join(words + ([f"-da_refine {refinements}"] if refinements else []))


def solve(arguments, method, dimension, size, problem, more="", symmetric=True):
    """One process; a dictionary with what it measured, or with why it did not."""
    program, library = arguments.build / "bin" / "diffusion", arguments.build / "lib" / "libweft.so"
    options = METHODS[method][dimension - 2]
    if not symmetric:
        options = options.replace("-ksp_type cg", "-ksp_type fgmres")
    command = [str(program)] + (["-dll_append", str(library)] if "line" in method or "boxmg" in method else [])
    command += f"{grid(dimension, size, method)} {problem} {options} {TYPES[arguments.types]} -repeat {arguments.repeat}".split()
    if "line" in method:
        command += f"{more} {ON_HOST if arguments.types == 'host' and 'MG' in method else ''}".split()
    if arguments.ranks > 1:
        command = [arguments.mpiexec, "-n", str(arguments.ranks)] + command
    result = measure(command, arguments.limit)
    if "failure" not in result and not 0 <= result["residual"] <= 1.01 * TOLERANCE:
        result["failure"] = f"residual {result['residual']:.0e}"
    return result


def measure(command, limit):
    """What a process of examples/diffusion measured, or why it did not."""
    with tempfile.TemporaryDirectory(prefix="weft") as folder:
        environment = dict(os.environ, TMPDIR=folder, OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive", OMPI_MCA_rmaps_base_oversubscribe="1")
        try:
            process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit, env=environment)
        except subprocess.TimeoutExpired:
            return {"failure": f"> {limit:g} s"}
    found = re.search(r"^\{.*\}$", process.stdout, re.M)
    if process.returncode or not found:
        error = re.search(r"PETSC ERROR: (?!-)(\S.*)", process.stdout)
        return {"failure": "not in this PETSc" if "Unable to find requested PC type" in process.stdout else "error", "error": error.group(1) if error else process.stdout[-400:]}
    result = json.loads(found.group(0))
    result["command"] = " ".join(command)
    if not result["converged"]:
        result["failure"] = result["reason"].replace("DIVERGED_", "").lower()
    return result


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * 1 + "--:|" * (len(header) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def processor():
    try:
        return re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text()).group(1)
    except (OSError, AttributeError):
        return platform.machine()
