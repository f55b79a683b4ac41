#!/usr/bin/env python3
"""Resonances of a disc in which waves are slow, in a square with layers at the sides that absorb them: -u_xx - u_yy = k^2 (1 - i s) c^-2 u.

    python3 examples/helmholtz/resonances.py -dll_append build/debian-complex/lib/libweft.so -n 257 -waves 5 -lens 1 \\
        -st_ksp_type preonly -st_pc_type lu -st_pc_factor_mat_solver_type crout

For a slepc4py with complex scalars (Debian: python3-slepc4py-complex3.18, with PETSC_DIR at that PETSC). SLEPc shifts and inverts: it finds the
eigenvalues k^2 nearest to a target, and solves with the shifted operator by what -st_ksp_type and -st_pc_type say.

    -n <257>          nodes along each side
    -waves <5>        the target: wave lengths along each side
    -layer <0.15>     share of a side that each layer takes
    -lens <1>         how much slower waves are in the disc in the middle
    -picture <none>   where a picture of the resonance that lasts longest goes; needs matplotlib
    -eps_nev <4>      how many are found
"""

import sys
import time

import slepc4py

slepc4py.init(sys.argv)
import numpy as np  # noqa: E402
from helmholtz import draw, laplacian, medium  # noqa: E402
from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402


def main():
    options = PETSc.Options()
    n, waves, layer = options.getInt("n", 257), options.getReal("waves", 5), options.getReal("layer", 0.15)
    lens, picture = options.getReal("lens", 1), options.getString("picture", "")
    if not np.issubdtype(PETSc.ScalarType, np.complexfloating):
        raise SystemExit("resonances need a slepc4py with complex scalars: set PETSC_DIR to such a PETSc (Debian: python3-slepc4py-complex3.18)")
    da = PETSc.DMDA().create(sizes=[n, n], dof=1, stencil_width=1)
    da.setFromOptions()
    da.setUp()
    depth, slower = medium(da, layer, lens)
    A, B, weights = laplacian(da, np.zeros_like(depth)), da.createMat(), da.createGlobalVec()
    with da.getVecArray(weights) as w:
        w[:, :] = (slower * (1 - 1j * depth)).T / (n + 1) ** 2
    B.setDiagonal(weights)

    solver = SLEPc.EPS().create()
    solver.setOperators(A, B)
    solver.setProblemType(SLEPc.EPS.ProblemType.GNHEP)
    solver.setDimensions(4)
    solver.setTarget((2 * np.pi * waves) ** 2)
    solver.setWhichEigenpairs(SLEPc.EPS.Which.TARGET_MAGNITUDE)
    solver.getST().setType("sinvert")
    solver.setFromOptions()
    begin = time.perf_counter()
    solver.setUp()
    ready = time.perf_counter()
    solver.solve()
    end = time.perf_counter()
    pairs = [(np.sqrt(solver.getEigenvalue(k)), k) for k in range(solver.getConverged())]
    for k, number in sorted(pairs, key=lambda pair: abs(pair[0] ** 2 - solver.getTarget())):
        error = solver.computeError(number, SLEPc.EPS.ErrorType.RELATIVE)
        PETSc.Sys.Print(f"waves {k.real / (2 * np.pi):.8f} {k.imag / (2 * np.pi):+.8f} i, quality {abs(k.real / (2 * k.imag)):.4g}, error {error:.1e}")
    PETSc.Sys.Print(f"{n} x {n} nodes, {len(pairs)} resonances: {ready - begin:.3f} s set-up, {end - ready:.3f} s solve")
    if picture and pairs:
        field = A.createVecRight()
        solver.getEigenvector(min(pairs, key=lambda pair: abs(pair[0].imag))[1], field)
        draw(da, field, picture)


main()
