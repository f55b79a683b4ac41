"""Other libraries, killed ranks, full disks."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import programs
import pytest

from solver_types import BLOCKS, TYPES

SOURCE = Path(os.environ["WEFT_SOURCE"])
MATRIX = SOURCE / "matrices" / "HB__gr_30_30.mtx.gz"


def test_two_libweft_are_one_too_many(run, library, tmp_path):
    """Another copy has other types of the same names. (The same file by two paths is one library: test_loading.py.)"""
    copy = shutil.copy(library, tmp_path / "libweft.so")
    failed = run("ex2", f"-dll_append {library},{copy} -pc_type line", load=False, expect=None)
    assert failed.code != 0
    assert re.search(r"a PC type '\w+' is registered already, and Weft overwrites none: load one of the two libraries only", failed.output)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("ranks", [1, 2])
def test_beside_another_plugin(run, library, first, ranks):
    plugins = [str(library), str(library.parent / "libneighbour.so")]
    together = ",".join(plugins if first else reversed(plugins))
    output = run("ex2", f"-dll_append {together} -pc_type composite -pc_composite_pcs line,neighbour -ksp_view -ksp_converged_reason", load=False, ranks=ranks).output
    assert "type: line" in output and "type: neighbour" in output and "CONVERGED_RTOL" in output


# ---------------------------------------------------------------------------------------------------------------- a killed rank


def processes(tag):
    """Those of this test: the tag is among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
        except OSError:
            continue  # it has ended
        if words and words[0].endswith(b"fault_probe") and tag.encode() in words:
            found.append(int(entry.name))
    return found


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


@pytest.mark.parametrize("name", TYPES)
def test_a_killed_rank_ends_the_others(name, tmp_path):
    options = BLOCKS if name == "factors" else TYPES[name]
    tag = f"-tag_{tmp_path}"
    command = [programs.MPIEXEC, "-n", "3", str(programs.BUILD / "bin" / "fault_probe"), "-dll_append", str(programs.LIBRARY)]
    job = subprocess.Popen(command + options.split() + ["-rounds", "100000000", "-heartbeat", tag], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, env=dict(programs.ENVIRONMENT, TMPDIR=str(tmp_path), OMP_NUM_THREADS="1"))
    try:
        for line in job.stdout:  # two solves are done: the third is on its way
            if line.startswith("round 2"):
                break
        ranks = processes(tag)
        assert len(ranks) == 3
        os.kill(ranks[1], signal.SIGKILL)
        output = job.communicate(timeout=60)[0]
        assert job.returncode != 0 and "signal 9" in output, output
        assert wait_for(lambda: not processes(tag), 20), "processes are left"
    finally:
        job.kill()
        for pid in processes(tag):
            os.kill(pid, signal.SIGKILL)


# ----------------------------------------------------------------------------------------------------------------- a full disk


def full(folder, name):
    """A file to which nothing can be written: no space is left on its device."""
    path = folder / name
    path.symlink_to("/dev/full")
    return path


PULSE = f"-dll_append {programs.LIBRARY} -case pulse -dim 2 -da_grid_x 12 -da_grid_y 12 -ts_max_steps 2"
FILES = [
    ("heat", "-steps 2 -output {full}/heat.bin", "heat.bin", "Write to file failed"),
    ("compact", PULSE + " -output {full}/pulse", "pulse.vts", "Write to file failed"),
    ("compact", PULSE + " -output {full}/pulse", "pulse.bin", "Write to file failed"),
    # PETSc 3.26 sees it at the first line, 3.18 not at all.
    ("compact", PULSE + " -output {full}/pulse", "pulse.csv", "pulse.csv could not be written to its end|Write to file failed"),
    ("weft_mm", f"{MATRIX} -json {{full}}/weft_mm.json", "weft_mm.json", "weft_mm.json could not be written to its end"),
    ("adi_bench", "--quick --backend=host --json={full}/adi.json --parts=counts --largest=32", "adi.json", "adi.json could not be written to its end"),
    ("crout_bench", f"--quick --backend=host --json={{full}}/crout.json --matrices={MATRIX}", "crout.json", "crout.json could not be written to its end"),
    ("dense_bench", f"--quick --backend=host --json={{full}}/dense.json --matrices={MATRIX}", "dense.json", "dense.json could not be written to its end"),
]


@pytest.mark.parametrize("program, options, name, message", FILES, ids=[f"{row[0]}-{row[2]}" for row in FILES])
def test_a_full_disk_is_told(program, options, name, message, tmp_path):
    if not (programs.BUILD / "bin" / program).exists():
        pytest.skip(f"{program} was not built")
    full(tmp_path, name)
    done = subprocess.run([str(programs.BUILD / "bin" / program)] + options.format(full=tmp_path).split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=120, env=dict(programs.ENVIRONMENT, OMP_NUM_THREADS="1"))
    assert done.returncode != 0 and re.search(message, done.stdout), done.stdout


def test_a_table_that_cannot_be_printed():
    with open("/dev/full", "w") as nowhere:
        done = subprocess.run([str(programs.BUILD / "bin" / "weft_mm"), str(MATRIX)], stdout=nowhere, stderr=subprocess.PIPE, text=True, timeout=120, env=programs.ENVIRONMENT)
    assert done.returncode == 1 and "the table could not be written to its end" in done.stderr, done.stderr
