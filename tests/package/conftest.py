"""An installation that was moved, which the tests of a run share."""

import pytest
from installed import BUILD, command


@pytest.fixture(scope="session")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    command("cmake", "--install", str(BUILD), "--prefix", str(folder / "first"))
    (folder / "first").rename(folder / "moved")
    return folder / "moved"
