"""Prints what getters say of a new solver, and of one with options, as two lines of JSON. Arguments: the kind, the getters and what each gives, the
options: adi PCADIGetType:i,PCADIGetShifts:n* -pc_adi_shifts 1,2; i is an integer or an enumeration, d a number, s a name, n* a list of numbers and
its length before it."""

import ctypes
import json
import sys

import petsc4py

kind, getters, options = sys.argv[1], dict(one.split(":") for one in sys.argv[2].split(",")), " ".join(sys.argv[3:])
petsc4py.init(sys.argv[:1])
from petsc4py import PETSc  # noqa: E402

library = ctypes.CDLL(PETSc.Options().getString("dll_append"))
TYPES = {"i": ctypes.c_int, "d": ctypes.c_double, "s": ctypes.c_char_p, "n": ctypes.c_int, "*": ctypes.POINTER(ctypes.c_double)}


def told(solver):
    found = {}
    for name, form in getters.items():
        values = [TYPES[one]() for one in form]
        handle = (solver.pc if name.startswith("PC") else solver).handle
        code = getattr(library, name)(ctypes.c_void_p(handle), *map(ctypes.byref, values))
        assert code == 0, name
        if form == "n*":
            found[name] = values[1][: values[0].value] if values[0].value else []
        else:
            found[name] = [value.value.decode() if one == "s" else value.value for one, value in zip(form, values)]
    return found


for given in ("", options):
    PETSc.Options().insertString(given)
    ksp = PETSc.KSP().create()
    if any(name.startswith("KSP") for name in getters):
        ksp.setType(kind)
    ksp.pc.setType(kind)
    ksp.setFromOptions()
    print(json.dumps(told(ksp)))
