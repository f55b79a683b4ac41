"""Black-box tests of weft_mm: WEFT_BUILD names the build folder with bin/weft_mm, WEFT_SOURCE the checkout."""

import os
import pathlib

import pytest
from market_runs import run_many, weft_mm, write, write_market_file  # noqa: F401


@pytest.fixture
def matrices():
    return pathlib.Path(os.environ["WEFT_SOURCE"]) / "matrices"
