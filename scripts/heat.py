#!/usr/bin/env python3
"""The example heat, in time: order 2 in time and space with Weft's ADI as the inner solver, and pictures of it.

Usage: heat.py BUILD FOLDER writes FOLDER/heat.md and FOLDER/heat.png. The program is examples/heat/heat.c, which knows nothing of Weft.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot
import numpy

SIZES = [15, 31, 63, 127]
SOLVER = "-ksp_type adi -ksp_rtol 1e-9"


def run(build, problem, n, steps, extra=""):
    command = [str(build / "bin" / "heat"), "-dll_append", str(build / "lib" / "libweft.so"), "-problem", problem]
    command += f"-da_grid_x {n} -da_grid_y {n} -steps {steps} {SOLVER} {extra}".split()
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    found = re.search(r"steps (\d+) iterations (\d+) error (\S+)", output)
    if not found:
        sys.exit(output)
    return int(found.group(1)), int(found.group(2)), float(found.group(3))


def solution(build, n, steps, end):
    """The pulse at a time, from PETSc's binary form: class, size, values, all big-endian."""
    with tempfile.TemporaryDirectory() as folder:
        name = Path(folder) / "u"
        run(build, "pulse", n, steps, f"-ts_max_time {end} -output {name}")
        return numpy.frombuffer(name.read_bytes()[-8 * n * n :], dtype=">f8").reshape(n, n)


def main(build, folder):
    table = ["| problem | inner nodes | time steps | KSPADI iterations | largest error | order |", "|---|---|---|---|---|---|"]
    figure, axes = plot.subplots(1, 4, figsize=(14, 3.4))
    for problem in ("exponential", "pulse"):
        errors = []
        for n in SIZES:
            steps, iterations, error = run(build, problem, n, (n + 1) // 2)
            order = f"{numpy.log2(errors[-1] / error):.2f}" if errors else ""
            errors.append(error)
            table.append(f"| {problem} | {n} x {n} | {steps} | {iterations} | {error:.2e} | {order} |")
        axes[0].loglog([n + 1 for n in SIZES], errors, "o-", label=problem)
    axes[0].loglog([16, 128], [2e-1, 2e-1 / 64], "k:", label="order 2")
    axes[0].set_xscale("log", base=2)
    axes[0].set_xlabel("1 / h (time steps: half of it)")
    axes[0].set_title("largest error at the end")
    axes[0].legend()
    for axis, end, steps in zip(axes[1:], (0.02, 0.625, 1.25), (64, 64, 64)):
        axis.imshow(solution(build, 127, steps, end), origin="lower", extent=(0, 2, 0, 2), cmap="magma")
        axis.set_title(f"pulse, t = {end:g}")
    figure.tight_layout()
    figure.savefig(folder / "heat.png", dpi=90)
    text = [
        "# Heat in time",
        "",
        "[`examples/heat`](../../examples/heat/heat.c) solves u_t + v . grad u = nu Laplace(u) + f with PETSc's TS (Crank and Nicolson) and knows",
        f"nothing of Weft; each step is solved by `{SOLVER}`. `exponential`: u = e^(x+2y) cos t in the unit square. `pulse`: a pulse that moves",
        "through a square of side 2 and spreads, nu = 1/100. Steps in time and space are halved together.",
        "",
        "    python3 scripts/heat.py BUILD docs/results",
        "",
        *table,
        "",
        "![errors and the pulse](heat.png)",
        "",
    ]
    (folder / "heat.md").write_text("\n".join(text))
    print("\n".join(table))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
