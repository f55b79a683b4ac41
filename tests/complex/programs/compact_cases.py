"""libweft_compact with complex scalars, each case by its name: -case NAME. Fields are random; real and imaginary parts have derivatives of their own."""

import ctypes
import os
import sys
from pathlib import Path

import petsc4py

petsc4py.init(sys.argv)
import common  # noqa: E402
import numpy as np  # noqa: E402
from compact_reference import differentiate, differentiate_ring, schemes  # noqa: E402
from petsc4py import PETSc  # noqa: E402

options = PETSc.Options()
say = PETSc.Sys.Print
library = ctypes.CDLL(Path(os.environ["WEFT_BUILD"]) / "lib" / "libweft_compact.so")
Int = ctypes.c_int64 if PETSc.IntType().itemsize == 8 else ctypes.c_int32
ALPHA = 0.3  # of the filters of compact_reference


def call(function, *arguments):
    code = getattr(library, function)(*arguments)
    if code:
        raise PETSc.Error(code)


def handle(thing):
    return ctypes.c_void_p(thing.handle)


class Compact:
    """A derivative or filter along one direction, by the functions of weft_compact.h."""

    def __init__(self, da, direction, scheme, spacing, beside=None):
        self.it = ctypes.c_void_p()
        kind = ctypes.c_int(2 * (scheme.derivative - 1) + (scheme.order == 6))  # WEFT_COMPACT_FIRST_4, ...
        if beside:
            call("WeftCompactCreateBeside", beside.it, kind, ctypes.byref(self.it))
        elif scheme.derivative == 0:
            call("WeftCompactCreateFilter", handle(da), Int(direction), Int(scheme.order), ctypes.c_double(ALPHA), ctypes.byref(self.it))
        else:
            call("WeftCompactCreate", handle(da), Int(direction), kind, ctypes.c_double(spacing), ctypes.byref(self.it))

    def apply(self, u, function="WeftCompactApply"):
        du = u.duplicate()
        du.set(complex("nan"))
        call(function, self.it, handle(u), handle(du))
        return du

    def destroy(self):
        call("WeftCompactDestroy", ctypes.byref(self.it))


def grid(direction, rows, periodic):
    """A box of some lines along a direction. Ranks: all of them along it, or, where there are four, two along it and two across."""
    sizes, ranks = [3, 2, 4], [1, 1, 1]
    sizes[direction] = rows
    ranks[direction] = PETSc.COMM_WORLD.size
    if PETSc.COMM_WORLD.size == 4:
        ranks[direction], ranks[(direction + 1) % 3] = 2, 2
    da = PETSc.DMDA().create(sizes=sizes, dof=1, stencil_width=1, boundary_type=["periodic" if periodic else "none"] * 3, proc_sizes=ranks)
    return da, sizes


def whole(da, v):
    """A vector of the DMDA in the order of its nodes, [z, y, x], on every rank."""
    natural = da.createNaturalVec()
    da.globalToNatural(v, natural)
    scatter, everywhere = PETSc.Scatter.toAll(natural)
    scatter.scatter(natural, everywhere)
    return everywhere.getArray().reshape(da.getSizes()[::-1])


def expected(scheme, values, direction, h, periodic):
    """The reference's derivative of each line, of real and of imaginary parts."""
    of = differentiate_ring if periodic else differentiate
    part = lambda numbers: np.apply_along_axis(lambda line: of(scheme, list(line), h), 2 - direction, numbers)
    return part(values.real) + 1j * part(values.imag)


def report(what, got, wanted, most=1e-13):
    apart = np.abs(got - wanted).max() / np.abs(wanted).max()
    say(f"{what}: {'alike' if apart <= most else f'apart by {apart:.1e}'}")


def derivatives():
    """Every scheme along every direction, of lines and of rings."""
    rows = options.getInt("rows")
    for direction in range(3):
        for periodic in (False, True):
            da, _ = grid(direction, rows, periodic)
            u = common.numbers(da, seed=direction)
            values, h = whole(da, u), 1 / 7
            for scheme in schemes():
                compact = Compact(da, direction, scheme, h)
                report(f"{scheme} along {'xyz'[direction]}, {'ring' if periodic else 'line'}", whole(da, compact.apply(u)), expected(scheme, values, direction, h, periodic))
                compact.destroy()


def again():
    """A second derivative with the first one's messages."""
    of = {str(scheme): scheme for scheme in schemes()}
    for first, second in (("first-4", "second-4"), ("first-6", "second-6"), ("first-4", "second-6")):
        for periodic in (False, True):
            da, _ = grid(0, options.getInt("rows"), periodic)
            u, h = common.numbers(da), 0.1
            one = Compact(da, 0, of[first], h)
            other = Compact(da, 0, of[second], h, beside=one)
            one.apply(u)
            got = whole(da, other.apply(u, "WeftCompactApplyAgain"))
            report(f"{second} beside {first}", got, expected(of[second], whole(da, u), 0, h, periodic))
            one.destroy()
            other.destroy()


def parts():
    """The derivative of a real field is real, and that of i times it i times as much: to the last bit."""
    for scheme in schemes():
        da, _ = grid(1, options.getInt("rows"), False)
        u = common.numbers(da)
        u.setArray(u.getArray().real)
        compact = Compact(da, 1, scheme, 0.1)
        real = whole(da, compact.apply(u))
        u.scale(1j)
        imaginary = whole(da, compact.apply(u))
        same = not real.imag.any() and not imaginary.real.any() and np.array_equal(real.real, imaginary.imag)
        say(f"{scheme}: {'alike' if same else 'apart'}")
        compact.destroy()


globals()[options.getString("case")]()
