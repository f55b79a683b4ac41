#!/usr/bin/env python3
"""Waves from a point source in a square, -u_xx - u_yy - k^2 (1 - i s) u = f, with layers at the sides that absorb them, and a picture of them.

    python3 examples/helmholtz/helmholtz.py -dll_append build/debian-complex/lib/libweft.so -n 513 -waves 20 -picture waves.png \\
        -ksp_type fgmres -pc_type bcr -ksp_converged_reason

For a petsc4py with complex scalars (Debian: python3-petsc4py-complex3.18, with PETSC_DIR at that PETSC). It knows nothing of Weft: the preconditioner, any
that takes a matrix, gets the shifted Laplacian -u_xx - u_yy - k^2 (1 - i shift) u in place of the operator (Erlangga, Oosterlee, Vuik, SIAM J. Sci.
Comput. 27 (2006) 1471).

    -n <257>          nodes along each side
    -waves <10>       wave lengths along each side
    -layer <0.15>     share of a side that each layer takes
    -shift <0.5>      of the shifted Laplacian
    -lens <0>         how much slower waves are in a disc in the middle
    -picture <none>   where the picture goes; needs matplotlib
"""

import sys
import time

import petsc4py

petsc4py.init(sys.argv)
import numpy as np  # noqa: E402
from petsc4py import PETSc  # noqa: E402


def laplacian(da, diagonal):
    """The five points of -u_xx - u_yy, times h^2, with u = 0 beyond the sides, and something on the diagonal (an array over this rank's nodes)."""
    A = da.createMat()
    (x0, x1), (y0, y1) = da.getRanges()
    sizes, row, column = da.getSizes(), PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
    for y in range(y0, y1):
        for x in range(x0, x1):
            row.index = (x, y, 0)
            A.setValueStencil(row, row, 4 + diagonal[y - y0, x - x0])
            for other in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)):
                if all(0 <= i < n for i, n in zip(other, sizes)):
                    column.index = (*other, 0)
                    A.setValueStencil(row, column, -1)
    A.assemble()
    return A


def medium(da, layer, lens):
    """Over this rank's nodes: how deep in the layers they are, from 0 to 1 for each, and the square of how much slower waves are there."""
    (x0, x1), (y0, y1) = da.getRanges()
    h = 1 / (da.getSizes()[0] + 1)
    x, y = (np.arange(x0, x1) + 1) * h, ((np.arange(y0, y1) + 1) * h)[:, None]
    depth = sum(np.maximum(0, (layer - np.minimum(t, 1 - t)) / layer) ** 2 for t in (x, y))
    return depth, np.where((x - 0.5) ** 2 + (y - 0.5) ** 2 < 0.15**2, (1 + lens) ** 2, 1)


def main():
    options = PETSc.Options()
    n, waves, layer = options.getInt("n", 257), options.getReal("waves", 10), options.getReal("layer", 0.15)
    shift, lens, picture = options.getReal("shift", 0.5), options.getReal("lens", 0), options.getString("picture", "")
    if not np.issubdtype(PETSc.ScalarType, np.complexfloating):
        raise SystemExit("waves need a petsc4py with complex scalars: set PETSC_DIR to such a PETSc (Debian: python3-petsc4py-complex3.18)")
    da = PETSc.DMDA().create(sizes=[n, n], dof=1, stencil_width=1)
    da.setFromOptions()
    da.setUp()

    (x0, x1), (y0, y1) = da.getRanges()
    h = 1 / (n + 1)
    depth, slower = medium(da, layer, lens)
    kh2 = (2 * np.pi * waves * h) ** 2 * slower
    A = laplacian(da, -kh2 * (1 - 1j * depth))
    M = laplacian(da, -((2 * np.pi * waves * h) ** 2) * (1 - 1j * shift) * np.ones_like(kh2))

    b, u = da.createGlobalVec(), da.createGlobalVec()
    with da.getVecArray(b) as f:
        if x0 <= n // 4 < x1 and y0 <= n // 3 < y1:
            f[n // 4, n // 3] = 1
    ksp = PETSc.KSP().create()
    ksp.getPC().setDM(da)
    ksp.setOperators(A, M)
    ksp.setTolerances(rtol=1e-6, max_it=1000)
    ksp.setFromOptions()
    begin = time.perf_counter()
    ksp.setUp()
    ready = time.perf_counter()
    ksp.solve(b, u)
    end = time.perf_counter()
    if ksp.getConvergedReason() < 0:
        PETSc.Sys.Print(f"not converged: KSPConvergedReason {ksp.getConvergedReason()}")
    r = b - A * u
    PETSc.Sys.Print(
        f"{n} x {n} nodes, {waves:g} waves, {n / waves:.1f} nodes each: {ksp.getIterationNumber()} iterations, residual {r.norm() / b.norm():.1e}, "
        f"{ready - begin:.3f} s set-up, {end - ready:.3f} s solve"
    )
    if picture:
        draw(da, u, picture)


def draw(da, field, picture):
    """The real part of a field, on the first rank."""
    natural = da.createNaturalVec()
    da.globalToNatural(field, natural)
    scatter, whole = PETSc.Scatter.toZero(natural)
    scatter.scatter(natural, whole)
    if PETSc.COMM_WORLD.rank != 0:
        return
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    u = whole.getArray().real.reshape(da.getSizes()[::-1])
    most = np.quantile(np.abs(u), 0.995)
    figure, axes = plt.subplots(figsize=(5, 5))
    axes.imshow(u, origin="lower", extent=(0, 1, 0, 1), cmap="RdBu", vmin=-most, vmax=most)
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    figure.savefig(picture, dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    main()
