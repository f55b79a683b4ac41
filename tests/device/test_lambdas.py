"""No lambda is made by one file and copied by another, whose pointer is null: scripts/check_lambdas.py, of what nvcc compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from device_types import KIND

CHECK = Path(os.environ["WEFT_SOURCE"]) / "scripts" / "check_lambdas.py"


@pytest.mark.skipif(KIND != "cuda", reason="other compilers make no such pointers")
def test_copies_of_lambdas():
    done = subprocess.run([sys.executable, CHECK, Path(os.environ["WEFT_BUILD"]) / "lib" / "libweft.so"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stdout.startswith("0 pointers"), "of a stripped library nothing can be said"
