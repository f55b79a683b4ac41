"""What programs of complex scalars have in common."""

import numpy as np
from petsc4py import PETSc

options = PETSc.Options()


def numbers(da, seed=0):
    """A random vector of a DMDA, the same on any number of ranks."""
    natural = da.createNaturalVec()
    first, last = natural.getOwnershipRange()
    random = np.random.default_rng(seed)
    natural.setArray((random.normal(size=natural.getSize()) + 1j * random.normal(size=natural.getSize()))[first:last])
    x = da.createGlobalVec()
    da.naturalToGlobal(natural, x)
    return x


def pc_of(matrix, settings, kind=None, da=None):
    """A preconditioner that has read these settings as a user's options; they name its type where `kind` does not."""
    for name, value in settings.items():
        options[name] = value
    pc = PETSc.PC().create()
    if da:
        pc.setDM(da)
    pc.setOperators(matrix)
    if kind:
        pc.setType(kind)
    pc.setFromOptions()
    pc.setUp()
    for name in settings:
        options.delValue(name)
    return pc
