"""Tools that watch memory: how to run a program under each."""

import subprocess
from pathlib import Path

SUPPRESSIONS = Path(__file__).resolve().parent / "suppressions"

# PETSc and MPI are not instrumented, and keep what they have until the process ends.
ADDRESS = {"ASAN_OPTIONS": "detect_leaks=0:protect_shadow_gap=0", "UBSAN_OPTIONS": "print_stacktrace=1"}


def memcheck():
    """The words before a command."""
    words = ["valgrind", "-q", "--error-exitcode=9", "--num-callers=30", "--max-threads=4000", f"--suppressions={SUPPRESSIONS / 'valgrind.supp'}"]
    mpi = Path("/usr/share/openmpi/openmpi-valgrind.supp")
    return words + ([f"--suppressions={mpi}"] if mpi.exists() else [])


def address_for_plain_programs():
    """The environment of a program that is not instrumented itself and loads a library that is: what this needs has to be there first. The C++ library
    too: AddressSanitizer looks for what throws exceptions when it starts."""
    where = [subprocess.run(["gcc", f"-print-file-name={name}"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip() for name in ("libasan.so", "libstdc++.so")]
    return dict(ADDRESS, LD_PRELOAD=":".join(where))
