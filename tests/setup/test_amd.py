"""What a compiler for AMD makes of rows that wait for each other, looked at in its assembler: needs a Kokkos with HIP and no device."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

KOKKOS = Path(os.environ["WEFT_KOKKOS_PREFIX"]) / "include"
CONFIG = KOKKOS / "KokkosCore_config.h"
has_hip = CONFIG.exists() and "#define KOKKOS_ENABLE_HIP" in CONFIG.read_text() and shutil.which("hipcc")
PROGRAM = """
#include "crout/triangles/levels.hpp"
template void weft::triangular::in_order<Kokkos::HIP>(const char *, const Kokkos::HIP &, const weft::triangular::FindLevel<double> &,
                                                      const weft::triangular::Ticket<Kokkos::HIP> &);
"""


def loops(kernel):
    """(how many loops are around it, instruction) of a kernel, by the comments at its blocks."""
    depth, found = 0, []
    for line in kernel.splitlines():
        if re.match(r"(\.LBB|; %bb\.)", line):
            depth = 0
        depth = max([depth, *(int(d) for d in re.findall(r"Depth=(\d+)", line))])
        if instruction := re.match(r"\t([a-z]\w*.*)", line):
            found.append((depth, instruction[1]))
    return found


@pytest.mark.skipif(not has_hip, reason="needs hipcc and a Kokkos with HIP")
@pytest.mark.parametrize("architecture", ["gfx90a", "gfx942", "gfx1100"])
def test_a_row_is_published_before_its_thread_leaves_the_loop(architecture, tmp_path):
    """Behind the loop it would be when the last thread of the wavefront leaves, which may be waiting for this very row."""
    (tmp_path / "rows.cpp").write_text(PROGRAM)
    source = Path(os.environ["WEFT_SOURCE"]) / "src"
    subprocess.run(["hipcc", "-std=c++20", "-O3", "-w", f"--offload-arch={architecture}", "--cuda-device-only", "-S", f"-I{source}", "-isystem", str(KOKKOS), "rows.cpp", "-o", "rows.s"],
                   cwd=tmp_path, check=True)
    kernels = [text for text in re.split(r"^(?=_Z\w+:)", (tmp_path / "rows.s").read_text(), flags=re.MULTILINE) if re.match(r"\w*InOrderByThread", text)]
    assert kernels
    for kernel in kernels:
        code = loops(kernel.split("s_endpgm")[0])
        waits = [depth for depth, what in code if re.match(r"(flat|global)_load_(dwordx2|b64).* (glc|sc0)", what)]
        published = [depth for depth, what in code if re.match(r"(flat|global)_store_(dwordx2|b64)", what)]
        assert waits and published and min(published) >= max(waits) > 0, (waits, published)
