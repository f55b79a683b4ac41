"""What the tests of factors in Python share. To be imported after petsc4py.init."""

from petsc4py import PETSc
from scipy import sparse


def petsc(matrix):
    m = sparse.csr_matrix(matrix)
    m.sort_indices()
    A = PETSc.Mat().createAIJ(m.shape, csr=(m.indptr, m.indices, m.data))
    A.assemble()
    return A


def hear(solver, options):
    """Has a KSP or a PC read these as a user's options."""
    database = PETSc.Options()
    for name, value in options.items():
        database[name] = value
    solver.setFromOptions()
    for name in options:
        database.delValue(name)
