#!/usr/bin/env python3
"""A gallery of known programs, untouched: tutorials of PETSc, SLEPc and deal.II and demos of dolfinx, with their own solver, with the best that PETSc has
and with Weft, by options only.

    scripts/gallery.py --only cavity                       one program: a row of a table
    scripts/gallery.py --install                           installs what the programs need from Debian 12's packages, as root, then runs them all
    scripts/gallery.py --json bench/results/gallery.json --draw docs/gallery    keeps what was measured, and draws a picture for each program
    scripts/gallery.py --list                              the programs, and where their sources come from

Each run is a process of its own, with one thread and a limit of time. Of several option sets the fastest that ends with the right answer counts, for PETSc
and for Weft alike. Times are the least of some runs, from PETSc's own log: `linear` is set-up and solve of all linear systems, `solver` is all of SNESSolve,
TSStep or EPSSolve. Iterations are those of all linear solves together. An answer is right if it differs from that of the program's own solver (or, where that one
fails, of the first of PETSc's that does not) by less than the program's tolerance.
"""

import argparse
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import numpy

from bench_text import number, table

ROOT = Path(__file__).resolve().parents[1]
PETSC = "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real/share/petsc/examples/src"
SLEPC = "/usr/share/slepc/3.18/share/slepc/examples/src"
DEALII = "/usr/share/doc/libdeal.ii-doc/examples"
DOLFINX = "/usr/share/dolfinx"
PACKAGES = {  # of a way to build
    "petsc": "libpetsc-real3.18-dev libpetsc3.18-dev-examples gcc pkg-config",
    "slepc": "libslepc-real3.18-dev libslepc3.18-dev-examples gcc pkg-config",
    "deal.II": "libdeal.ii-dev libdeal.ii-doc g++ cmake make",
    "python": "python3-dolfinx-real dolfinx-doc python3-h5py python3-scipy gcc",
}
KINDS = ("default", "petsc", "weft")
LINEAR = {"KSPSolve", "KSPSetUp", "PCSetUp", "PCSetUpOnBlocks"}  # frames of PETSc's log that are linear systems

AMG = {"GAMG": "-pc_type gamg", "BoomerAMG": "-pc_type hypre"}
LU = {"LU": "-pc_type lu", "MUMPS": "-pc_type lu -pc_factor_mat_solver_type mumps"}
CHOLESKY = {"Cholesky": "-pc_type cholesky", "MUMPS": "-pc_type cholesky -pc_factor_mat_solver_type mumps"}


def under(prefix, options):
    """The option sets with each option under a prefix."""
    return {name: re.sub(r"(^| )-", rf"\1-{prefix}", text) for name, text in options.items()}


def square(unknowns, which):
    """One unknown of a square grid's nodes."""
    return lambda folder, x: x.reshape(-1, unknowns)[:, which].reshape(int(round((len(x) / unknowns) ** 0.5)), -1)


# A program: its source, how it is built, its problem (the options that all runs share), a tiny one, what shows its answer (an option for PETSc, or a pattern of
# what it prints), what counts as its solver, and option sets.
PROGRAMS = {
    "cavity": {
        "title": "SNES ex19, a driven cavity",
        "source": f"{PETSC}/snes/tutorials/ex19.c",
        "build": "petsc",
        "binary": "snes_ex19",
        "problem": "-da_refine 5 -lidvelocity 10 -grashof 1e3",
        "tiny": "-da_refine 2 -grashof 100",
        "answer": "-snes_view_solution",
        "solver": {"SNESSolve"},
        "default": {"ILU": ""},
        "petsc": {"MG": "-pc_type mg", "ASM": "-pc_type asm", **AMG, **LU},
        "weft": {"boxmg": "-pc_type boxmg", "MG and line": "-pc_type mg -mg_levels_pc_type line", "crout": "-pc_type crout"},
        "field": square(4, 3),
        "shows": "temperature",
    },
    "ice": {
        "title": "SNES ex48, an ice sheet",
        "source": f"{PETSC}/snes/tutorials/ex48.c",
        "build": "petsc",
        "binary": "snes_ex48",
        "problem": "-M 5 -P 3 -da_refine 3 -thi_hom x -thi_L 10e3 -thi_mat_type aij -ksp_rtol 1e-5",
        "tiny": "-M 4 -P 3 -da_refine 1 -thi_mat_type aij",
        "answer": "-snes_view_solution",
        "solver": {"SNESSolve"},
        "default": {"ILU": ""},
        "petsc": {"MG": "-pc_type mg", "MG and ICC": "-pc_type mg -ksp_type fgmres -mg_levels_ksp_type gmres -mg_levels_ksp_max_it 1 -mg_levels_pc_type icc", **AMG, **LU},
        "weft": {
            "MG and line": "-pc_type mg -mg_levels_pc_type line",
            "MG and line, one sweep": "-pc_type mg -mg_levels_ksp_type richardson -mg_levels_ksp_max_it 1 -mg_levels_pc_type line",
            "boxmg": "-pc_type boxmg",
            "line": "-pc_type line",
        },
    },
    "sponge": {
        "title": "KSP ex49, elasticity of a sponge",
        "source": f"{PETSC}/ksp/ksp/tutorials/ex49.c",
        "build": "petsc",
        "binary": "ex49",
        "problem": "-mx 96 -my 96 -c_str 3 -sponge_E0 1 -sponge_E1 1000 -sponge_nu0 0.4 -sponge_nu1 0.2 -sponge_t 1 -sponge_w 8 -no_view "
        "-elas_ksp_rtol 1e-8 -elas_ksp_max_it 5000",
        "tiny": "-mx 16 -my 16 -c_str 3 -sponge_E0 1 -sponge_E1 100 -sponge_t 2 -sponge_w 4 -no_view -elas_ksp_rtol 1e-8 -elas_ksp_max_it 2000",
        "prefix": "elas_",
        "answer": "-elas_ksp_view_solution",
        "default": {"ILU": ""},
        "petsc": under("elas_", {"GAMG": "-ksp_type cg -pc_type gamg", "BoomerAMG": "-ksp_type cg -pc_type hypre", "ICC": "-ksp_type cg -pc_type icc", **CHOLESKY}),
        "weft": under(
            "elas_",
            {
                "boxmg": "-ksp_type cg -pc_type boxmg",
                "GAMG and line": "-ksp_type cg -pc_type gamg -mg_levels_pc_type line",
                "crout": "-ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type crout",
            },
        ),
        "field": square(2, 0),
        "shows": "displacement along x",
    },
}
