"""Runs weft_mm and writes files for it: WEFT_BUILD names the build folder with bin/weft_mm."""

import concurrent.futures
import gzip
import os
import pathlib
import re
import subprocess
import tempfile

import programs
import pytest

ENVIRONMENT = dict(programs.ENVIRONMENT, OMP_NUM_THREADS="1")
ENVIRONMENT.pop("WEFT_MATRIX_MIRROR", None)


class Outcome:
    """What a run left: exit code, output, and the complaints, which are the stderr lines of weft_mm that are no progress."""

    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr
        self.complaints = [line for line in self.err.splitlines() if line.startswith("weft_mm: ") and not line.startswith("weft_mm: [")]

    def __repr__(self):  # what pytest shows where a test fails
        return f"exit code {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"

    def rows(self):
        """The table's rows as lists of cells."""
        lines = self.out.splitlines()
        start = next(index for index, line in enumerate(lines) if line.startswith("option set")) + 1
        rows = []
        for line in lines[start:]:
            cells = re.split(r"  +", line.rstrip(), maxsplit=7)
            if len(cells) != 8:
                break
            rows.append(cells)
        return rows


def run_weft_mm(folder, *arguments, ranks=1):
    program = pathlib.Path(os.environ["WEFT_BUILD"]) / "bin" / "weft_mm"
    launcher = [os.environ.get("WEFT_MPIEXEC") or "mpiexec", "-n", str(ranks)] if ranks > 1 else []
    command = launcher + [str(program)] + [str(argument) for argument in arguments]
    # Open MPI jobs that start and end at the same time remove each other's session folder: each gets a place of its own.
    with tempfile.TemporaryDirectory() as scratch:
        return Outcome(subprocess.run(command, cwd=folder, env=ENVIRONMENT | {"TMPDIR": scratch}, capture_output=True, text=True, timeout=100))


def run_many(jobs):
    """The outcomes of [(folder, arguments, ranks)], several at a time, because starting MPI is mostly waiting."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda job: run_weft_mm(job[0], *job[1], ranks=job[2]), jobs))


def write_market_file(path, text):
    """.gz where the name says so."""
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.fixture
def weft_mm(tmp_path):
    """Runs weft_mm in a folder of its own."""
    return lambda *arguments, ranks=1: run_weft_mm(tmp_path, *arguments, ranks=ranks)


@pytest.fixture
def write(tmp_path):
    """Writes a Matrix Market file into that folder."""
    return lambda text, name="A.mtx": write_market_file(tmp_path / name, text)
