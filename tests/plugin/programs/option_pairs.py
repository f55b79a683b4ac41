"""Solves a small problem with one list of options after the other, read from a file as JSON; the first rank writes a list of JSON: what
came out to the last bit, which options the view says do nothing, and the error if there was one.

option_pairs.py OPERATOR FILE RESULTS. Where an option is {lines}, it is a file with lines along the last direction, without its first nodes."""

import hashlib
import json
import math
import re
import sys
import tempfile
from pathlib import Path

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

# Sizes, unknowns a node, and how each node couples to the one before and after it along each direction.
OPERATORS = {
    "plane": ((7, 30), 1, (1, 4)),
    "dense": ((7, 30), 1, (1, 4)),
    "column": ((1, 30), 1, (1, 4)),
    "pairs": ((6, 22), 2, (1, 4)),
    "row": ((61,), 1, (1,)),
    "space": ((4, 5, 40), 1, (1, 4, 16)),
}


def operator(name):
    """-u_xx - 4 u_yy - 16 u_zz + u on a grid with known values at its ends; two unknowns of a node couple."""
    sizes, unknowns, couplings = OPERATORS[name]
    grid = PETSc.DMDA().create(list(sizes), dof=unknowns, stencil_type="star", stencil_width=1)
    matrix = grid.createMat()
    row, column = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    for node in [(i, j, k) for (i0, i1) in [ends(grid, 0)] for i in range(i0, i1) for j in range(*ends(grid, 1)) for k in range(*ends(grid, 2))]:
        for c in range(unknowns):
            row.index, row.field = node[: len(sizes)], c
            entries = [(node, c, 1 + 2 * sum(couplings))] + [(node, 1 - c, -0.5)] * (unknowns - 1)
            for d, size in enumerate(sizes):
                for step in (-1, 1):
                    there = tuple(at + (step if k == d else 0) for k, at in enumerate(node))
                    if 0 <= there[d] < size:
                        entries.append((there, c, -couplings[d]))
            for there, field, value in entries:
                column.index, column.field = there[: len(sizes)], field
                matrix.setValueStencil(row, column, value)
    matrix.assemble()
    return matrix.convert("dense") if name == "dense" else matrix


def ends(grid, direction):
    ranges = grid.getRanges()
    return ranges[direction] if direction < len(ranges) else (0, 1)


def digest(x):
    """Of all values, on the first rank."""
    scatter, whole = PETSc.Scatter.toZero(x)
    scatter.scatter(x, whole)
    return hashlib.md5(whole.getArray(readonly=True).tobytes()).hexdigest()


def solve(matrix, given, where):
    options = PETSc.Options()
    for name, value in given.items():
        options[name] = value.replace("{lines}", str(where / "lines"))
    ksp = PETSc.KSP().create()
    result = {"came out": [], "idle": [], "error": None}
    try:
        ksp.setOperators(matrix)
        ksp.setType("richardson")
        ksp.setTolerances(rtol=1e-30, max_it=3)
        ksp.setFromOptions()
        x, b = matrix.createVecs()
        b.setArray([((7 * k) % 13) / 13 - 0.4 for k in range(*b.getOwnershipRange())])
        ksp.solve(b, x)  # a preconditioner may make all iterations itself
        result["came out"] = [digest(x)]
        ksp.setMonitor(lambda ksp, iteration, norm: result["came out"].append(float(norm).hex()))
        ksp.solve(b, x)
        result["came out"].append(digest(x))
        viewer = PETSc.Viewer().createASCII(str(where / "view"))
        ksp.view(viewer)
        viewer.destroy()
        if first:
            result["idle"] = re.findall(r"-(\w+) does nothing here", (where / "view").read_text())
    except PETSc.Error as error:
        result["error"] = error.ierr
    for name in given:
        options.delValue(name)
    ksp.destroy()
    return result


PETSc.Sys.pushErrorHandler("ignore")
first = PETSc.COMM_WORLD.rank == 0
matrix = operator(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    sizes, unknowns, _ = OPERATORS[sys.argv[1]]
    apart = math.prod(sizes[:-1]) * unknowns
    (Path(folder) / "lines").write_text("".join(" ".join(map(str, range(k, matrix.size[0], apart))) + "\n" for k in range(apart, 2 * apart)))
    results = [solve(matrix, given, Path(folder)) for given in json.loads(Path(sys.argv[2]).read_text())]
if first:
    Path(sys.argv[3]).write_text(json.dumps(results))
