"""Solves a small problem, on a grid of so many nodes along x and y, with a matrix of this type if one is named, with one list of options after the other, read from standard input as JSON;
prints a line of JSON for each: the residual norms to the last bit, which options the view says do nothing, and the error if there was one."""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

RESULTS = os.fdopen(os.dup(1), "w")  # apart from what PETSc prints
os.dup2(2, 1)
NX, NY = map(int, sys.argv[1:3])


def operator():
    """-u_xx - 4 u_yy + u on a grid with known values at its ends."""
    grid = PETSc.DMDA().create([NX, NY], stencil_type="star", stencil_width=1)
    matrix = grid.createMatrix()
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    for j in range(NY):
        for i in range(NX):
            row.index = (i, j)
            for di, dj, value in ((0, 0, 11.0), (-1, 0, -1.0), (1, 0, -1.0), (0, -1, -4.0), (0, 1, -4.0)):
                if 0 <= i + di < NX and 0 <= j + dj < NY:
                    column.index = (i + di, j + dj)
                    matrix.setValueStencil(row, column, value)
    matrix.assemble()
    return matrix.convert(sys.argv[3]) if sys.argv[3:] else matrix


def solve(matrix, given, where):
    options = PETSc.Options()
    for name, value in given.items():
        options[name] = value
    ksp = PETSc.KSP().create()
    result = {"norms": [], "idle": [], "error": None}
    try:
        ksp.setOperators(matrix)
        ksp.setType("richardson")
        ksp.setTolerances(rtol=1e-30, max_it=3)
        ksp.setConvergenceHistory()
        ksp.setFromOptions()
        x, b = matrix.createVecs()
        b.setArray([((7 * k) % 13) / 13 - 0.4 for k in range(b.size)])
        ksp.solve(b, x)
        result["norms"] = [float(norm).hex() for norm in ksp.getConvergenceHistory()]
        viewer = PETSc.Viewer().createASCII(str(where))
        ksp.view(viewer)
        viewer.destroy()
        result["idle"] = re.findall(r"-(\w+) does nothing here", where.read_text())
    except PETSc.Error as error:
        result["error"] = error.ierr
    for name in given:
        options.delValue(name)
    ksp.destroy()
    return result


PETSc.Sys.pushErrorHandler("ignore")
matrix = operator()
with tempfile.TemporaryDirectory() as folder:
    for given in json.load(sys.stdin):
        print(json.dumps(solve(matrix, given, Path(folder) / "view")), file=RESULTS, flush=True)
