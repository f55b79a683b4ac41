"""Weft's solvers for petsc4py: importing this module is all there is to do, then pc.setType("line"), "adi", "bcr", "boxmg" or "crout".

Where PETSc has not started yet, PETSC_OPTIONS asks it to load the library when it does; where it has, the library is loaded at once.
"""

import ctypes
import os
import sys
from pathlib import Path

from . import built

__version__ = built.VERSION


def library():
    """The path of libweft."""
    return str(Path(__file__).resolve().parent / built.LIBRARY)


def options():
    """The option with which a PETSc program loads the library."""
    path = library()
    if any(character.isspace() or character == "," for character in path):
        raise ImportError(f"weft: PETSc splits options at blanks and commas, and {path} has one: install weft in a folder without")
    return f"-dll_append {path}"


def _check_petsc4py():
    """petsc4py has the version of its PETSc. What else may differ (scalars, indices) the library itself finds out when PETSc loads it."""
    try:
        import petsc4py
    except ImportError:
        return  # another Python interface to PETSc, or only options() is wanted
    found = petsc4py.__version__.split(".")[:2]
    if found != built.PETSC_VERSION.split(".")[:2]:
        raise ImportError(
            f"weft was built with PETSc {built.PETSC_VERSION} (in {built.PETSC_PREFIX}) and this Python has petsc4py {petsc4py.__version__}: "
            "build the wheel again with PETSC_DIR set to that petsc4py's PETSc"
        )


def _load_now(PETSc):
    """Registers the types with a PETSc that runs already, as PETSc itself would have done when it started."""
    code = ctypes.CDLL(library()).PetscDLLibraryRegister_weft()
    if code:
        raise ImportError("weft: PETSc has started already, and does not take the library: its own message is above, or in what follows") from PETSc.Error(code)


def _load():
    _check_petsc4py()
    PETSc = sys.modules.get("petsc4py.PETSc")
    if PETSc and PETSc.Sys.isInitialized():
        _load_now(PETSc)
    elif options() not in os.environ.get("PETSC_OPTIONS", ""):
        os.environ["PETSC_OPTIONS"] = f"{options()} {os.environ.get('PETSC_OPTIONS', '')}".strip()


_load()
