"""No more memory on the host or the device: an error or a reason of PETSc's, for every allocation of set-up and solve."""

import os
import re
import subprocess

import programs
import pytest

import device_types
from solver_types import TYPES

PROBE = [str(programs.BUILD / "bin" / "fault_probe"), "-dll_append", str(programs.LIBRARY)]


def run_probe(options, **environment):
    return subprocess.run(PROBE + options.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300,
                          env=dict(programs.ENVIRONMENT, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", **environment))


@pytest.mark.parametrize("name", TYPES)
def test_each_allocation_may_be_refused(name):
    done = run_probe(f"{TYPES[name]} -refuse", LD_PRELOAD=str(programs.BUILD / "lib" / "libfail_allocation.so"))
    counts = re.search(r"refused: (\d+), told by PETSc's error (\d+), by KSP's reason (\d+), killed (\d+)", done.stdout)
    assert counts, done.stdout
    refused, errors, reasons, killed = map(int, counts.groups())
    assert refused >= 5 and refused == errors + reasons and killed == 0, done.stdout


def check_headrooms(options, headrooms):
    """With none of it the solve fails, with the most of it not, and each failure is told."""
    solved = []
    for headroom in headrooms:
        done = run_probe(f"{options} {headroom}")
        assert 0 <= done.returncode < 128, done.stdout  # no signal
        told = "PETSC ERROR" in done.stdout or "FACTOR_OUTMEMORY" in done.stdout
        solved.append(bool(re.search(r"^first: (CONVERGED|DIVERGED_ITS)", done.stdout, re.MULTILINE)))
        assert solved[-1] != told, done.stdout
    assert not solved[0] and solved[-1], solved


@pytest.mark.parametrize("name", TYPES)
def test_little_memory(name):
    """A limit on the address space in MiB, from nothing to what the type needs: 200 x 200 nodes."""
    # OpenBLAS tries for ever where it gets no buffers for a product: PETSc's own loops take none.
    check_headrooms(f"-n 200 {TYPES[name]} -ksp_max_it 3 -vec_mdot_use_gemv 0 -vec_maxpy_use_gemv 0 -headroom", (0, 2, 5, 1000))


@pytest.mark.skipif("WEFT_DEVICE" not in os.environ, reason="needs a device, and WEFT_DEVICE set to cuda or hip")
@pytest.mark.parametrize("name", TYPES)
def test_little_device_memory(name):
    """All of the device's memory is taken but for so many MiB: 500 x 500 nodes."""
    check_headrooms(f"-n 500 {TYPES[name]} {device_types.TYPES[device_types.KIND]} -ksp_max_it 3 -device_headroom", (0, 4, 16, 4000))
