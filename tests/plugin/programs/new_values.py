"""A matrix of blocks whose values change, then another one: the PC of the options beside a fresh one and beside that of the same matrix as AIJ."""

import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
kind, bs, nodes = options.getString("kind"), options.getInt("bs"), 30


def fill(A, round, reach):
    A.zeroEntries()
    first, last = (row // bs for row in A.getOwnershipRange())
    upper = "sbaij" in A.getType()
    for i in range(first, last):
        for j in {i, *(j for j in (i - reach, i - 1, i + 1, i + reach) if 0 <= j < nodes)}:
            values = [(4 + bs + round if i == j else -1.5 / abs(i - j)) if a == b else 0.1 * (1 + round) for a in range(bs) for b in range(bs)]
            if not upper or j >= i:
                A.setValuesBlocked([i], [j], values)
    A.assemble()


def matrix(kind):
    A = PETSc.Mat().create()
    A.setSizes(nodes * bs, bs)
    A.setType(kind)
    A.setUp()
    A.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
    return A


def applied(pc, A):
    y, b = A.createVecs()
    for row in range(*b.getOwnershipRange()):
        b[row] = 1 + row % 7
    b.assemble()
    pc.apply(b, y)
    return y


def made(A):
    pc = PETSc.PC().create()
    pc.setOperators(A)
    pc.setFromOptions()
    pc.setUp()
    return pc


A, rows = matrix(kind), matrix("aij")
fill(A, 0, 1)
kept = made(A)
for round, reach in enumerate((1, 1, 1, 7, 7)):
    if round == 3:  # PETSc's MPIBAIJ loses values that are put in places that it has not: another matrix
        A, rows = matrix(kind), matrix("aij")
    fill(A, round, reach)
    fill(rows, round, reach)
    kept.setOperators(A)
    kept.setUp()
    y = applied(kept, A)
    for other in (applied(made(A), A), applied(made(rows), rows)):
        other.axpy(-1, y)
        PETSc.Sys.Print(f"round {round} difference {other.norm() / y.norm():.1e}")
