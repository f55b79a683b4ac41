"""Values that are no numbers, and ranks without rows, end in one reason on all ranks. Prints "wrong" for what does not."""

import sys

import numpy as np
import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

WORLD = PETSc.COMM_WORLD


def solver(A, pc, ksp="preonly", dm=None):
    made = PETSc.KSP().create(WORLD)
    made.setOperators(A)
    if dm:
        made.setDM(dm)
        made.setDMActive(False)
    made.setType(ksp)
    made.getPC().setType(pc)
    made.setTolerances(max_it=10)
    made.setFromOptions()
    return made


def tell(holds, *what):
    if not holds:
        print(f"wrong on rank {WORLD.rank}:", *what, flush=True)


def beside_the_blocks(kind):
    """A value of the first row of each rank but the first that couples it to the rank before."""
    size = 12
    A = PETSc.Mat().create(WORLD)
    A.setSizes((size, size))
    A.setType(kind)
    A.setUp()
    first, last = A.getOwnershipRange()
    for row in range(first, last):
        A[row, row] = 4
        for column in (row - 1, row + 1):
            if 0 <= column < size and (kind != "sbaij" or column > row):
                A[row, column] = -1
    A.assemble()
    b, x = A.createVecRight(), A.createVecLeft()
    b.set(1)
    interface = size // WORLD.size  # where the first rank ends
    for bad in (np.nan, np.inf):
        for ksp in ("preonly", "gmres", "richardson"):
            row, column = interface - 1, interface
            if first <= row < last:
                A[row, column] = bad
            A.assemble()
            made = solver(A, "crout", ksp)
            made.solve(b, x)
            tell(made.getConvergedReason() == PETSc.KSP.ConvergedReason.DIVERGED_PCSETUP_FAILED, kind, ksp, bad, made.getConvergedReason())
            if first <= row < last:
                A[row, column] = -1
            A.assemble()
            made.setType("gmres")
            made.getPC().apply(b, x)  # PETSc's own KSPGMRES ends the first solve after one that failed in NaN, with its own PCs too
            made.solve(b, x)
            tell(made.getConvergedReason() > 0, kind, bad, ksp, "good values again", made.getConvergedReason())


def adi():
    """Each value that couples nodes of two ranks, the corners of boxes too."""
    dm = PETSc.DMDA().create([5, 5], dof=2, stencil_type="box", stencil_width=1, boundary_type=["periodic", "periodic"], comm=WORLD)
    A = dm.createMat()
    A.assemble()
    A.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    first, last = A.getOwnershipRange()
    rows = [A.getRow(row)[0].copy() for row in range(first, last)]
    for row, columns in zip(range(first, last), rows):
        A.setValues(row, columns, np.where(columns == row, 20.0, -1.0))
    A.assemble()
    b, x = A.createVecRight(), A.createVecLeft()
    b.set(1)
    for at in range(0, 50, 7):
        mine = first <= at < last
        beside = [c for c in rows[at - first] if not first <= c < last][:4] if mine else []
        for k in range(4):
            for value in (np.nan, -1.0):
                if k < len(beside):
                    A[at, beside[k]] = value
                A.assemble()
                if value != -1:
                    bad = PETSc.Vec().createMPI((1, PETSc.DETERMINE), comm=WORLD)
                    bad.set(float(k < len(beside)))
                    made = solver(A, "adi", dm=dm)
                    made.solve(b, x)
                    tell((made.getConvergedReason() < 0) == (bad.sum() > 0), at, k, made.getConvergedReason())


def right_hand_side():
    """A NaN at each row, which stays on one rank: Richardson's iteration of the type itself looks at the result on all of them."""
    dm = PETSc.DMDA().create([6, 4], stencil_width=1, comm=WORLD)
    A = dm.createMat()
    A.assemble()
    first, last = A.getOwnershipRange()
    rows = [A.getRow(row)[0].copy() for row in range(first, last)]
    for row, columns in zip(range(first, last), rows):
        A.setValues(row, columns, np.where(columns == row, 5.0, 0.0))
    A.assemble()
    b, x = A.createVecRight(), A.createVecLeft()
    made = solver(A, "line", "richardson", dm)
    for row in range(24):
        b.set(1)
        if first <= row < last:
            b[row] = np.nan
        b.assemble()
        made.solve(b, x)
        tell(made.getConvergedReason() < 0, row, made.getConvergedReason())


def no_rows():
    """Norms that PETSc keeps of a vector end with an application on all ranks, also on those without rows."""
    for pc in ("crout", "line"):
        size = 2 if WORLD.rank == 0 else 0
        A = PETSc.Mat().createAIJ(((size, 2), (size, 2)), nnz=2, comm=WORLD)
        if size:
            A[0, 0], A[0, 1], A[1, 0], A[1, 1] = 2, -1, -1, 2
        A.assemble()
        b, x = A.createVecRight(), A.createVecLeft()
        b.set(1)
        made = solver(A, pc)
        made.setUp()
        x.set(5)
        x.norm()
        made.getPC().apply(b, x)
        tell(abs(x.norm() - 2**0.5) < 1e-12, pc, "norm", x.norm())  # those that keep one stay out of the reduction: the others wait


def no_entries():
    """A matrix of zeros is a zero pivot."""
    for nodes in ([1], [4], [3, 3]):
        dm = PETSc.DMDA().create(nodes, stencil_width=1, boundary_type=["periodic"] * len(nodes), comm=WORLD)
        v = dm.createGlobalVec()
        size, whole = v.getLocalSize(), v.getSize()
        A = PETSc.Mat().createAIJ(((size, whole), (size, whole)), csr=(np.zeros(size + 1, PETSc.IntType), np.zeros(0, PETSc.IntType), np.zeros(0)), comm=WORLD)
        b, x = A.createVecRight(), A.createVecLeft()
        b.set(1)
        for pc in ("line", "adi", "bcr", "boxmg", "crout"):
            made = solver(A, pc, "gmres", dm)
            try:
                made.solve(b, x)
                tell(made.getConvergedReason() < 0 or (pc == "line" and not x.norm() > 1e10), nodes, pc, made.getConvergedReason())
            except PETSc.Error as error:
                tell(error.ierr in (56, 60, 62, 63), nodes, pc, error)


for case in sys.argv[1].split(","):
    if case in ("aij", "baij", "sbaij", "dense"):
        beside_the_blocks(case)
    else:
        {"adi": adi, "right_hand_side": right_hand_side, "no_rows": no_rows, "no_entries": no_entries}[case]()
    if WORLD.rank == 0:
        print("done", case, flush=True)
