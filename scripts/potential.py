#!/usr/bin/env python3
"""Runs examples/potential, a PETSc program that knows nothing of Weft, with -pc_type bcr and with PETSc's multigrid; draws the solutions.

    scripts/potential.py --build build/debian [--types cuda] [--size 513] [--picture docs/results/potential.png]
"""

import argparse
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
TYPES = {"host": "", "cuda": "-dm_vec_type cuda -dm_mat_type aijcusparse", "kokkos": "-dm_vec_type kokkos -dm_mat_type aijkokkos"}
MULTIGRID = "-ksp_type gmres -ksp_rtol 1e-10 -pc_type mg -pc_mg_levels {levels} -pc_mg_galerkin both"
PROBLEMS = {"charges": "Potential of three charges in a grounded box", "gyre": "Stream function of a wind-driven ocean"}


def run(program, options):
    process = subprocess.run([str(program)] + options.split(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if process.returncode:
        print(process.stdout)
        sys.exit(f"potential: '{program} {options}' ended with {process.returncode}")
    return process.stdout


def read_vts(path):
    """The point data of a structured grid in one piece as PETSc's VTK viewer writes it: its sizes and its values, x fastest."""
    data = path.read_bytes()
    mark = data.index(b"<AppendedData encoding=\"raw\">")
    header, start = data[:mark].decode(), data.index(b"_", mark) + 1
    extent = [int(word) for word in re.search(r'Piece Extent="([^"]*)"', header).group(1).split()]
    shape = (extent[1] - extent[0] + 1, extent[3] - extent[2] + 1)
    offset = int(re.search(r'Name="potential"[^>]*offset="(\d+)"', header).group(1))
    length = 8 if 'header_type="UInt64"' in header else 4
    count = shape[0] * shape[1]
    return shape, struct.unpack_from(f"<{count}d", data, start + offset + length)


def draw(fields, picture):
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("no picture: this Python has no matplotlib (Debian: python3-matplotlib)")
        return
    figure, axes = pyplot.subplots(1, len(fields), figsize=(5.2 * len(fields), 4.6), constrained_layout=True)
    for axis, (name, (shape, values)) in zip(axes, fields.items()):
        rows = [values[j * shape[0] : (j + 1) * shape[0]] for j in range(shape[1])]
        # A charge in a point is a peak of any height: the colours end where 99.9 % of the values do.
        sizes = sorted(abs(value) for value in values)
        most = sizes[int(0.999 * (len(sizes) - 1))]
        colours = {"cmap": "RdBu_r", "vmin": -most, "vmax": most} if min(values) < 0 else {"cmap": "viridis", "vmin": 0, "vmax": most}
        image = axis.imshow(rows, origin="lower", extent=(0, 1, 0, 1), interpolation="bilinear", **colours)
        levels = [most * k / 8 for k in range(-7, 8) if k and (k > 0 or min(values) < 0)]
        axis.contour(rows, levels=levels, extent=(0, 1, 0, 1), colors="black", linewidths=0.5)
        axis.set_title(PROBLEMS[name], fontsize=10)
        axis.set_xlabel("x")
        axis.set_ylabel("y")
        figure.colorbar(image, ax=axis, shrink=0.85)
    figure.savefig(picture, dpi=120)
    print(f"picture: {picture}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, required=True, help="build folder that holds bin/potential and lib/libweft.so")
    parser.add_argument("--types", choices=TYPES, default="host", help="PETSc's vector and matrix types")
    parser.add_argument("--size", type=int, default=257, help="nodes along x and y, boundaries included; 2^k + 1 for multigrid")
    parser.add_argument("--picture", type=Path, help="PNG to draw")
    arguments = parser.parse_args()
    program, options = arguments.build / "bin" / "potential", f"-options_file {SOURCE}/examples/potential/bcr.opts"
    load = f"-dll_append {arguments.build}/lib/libweft.so"
    size = f"-da_grid_x {arguments.size} -da_grid_y {arguments.size} {TYPES[arguments.types]}"
    levels = max(1, (arguments.size - 1).bit_length() - 3)
    fields = {}
    with tempfile.TemporaryDirectory(prefix="weft") as folder:
        for name in PROBLEMS:
            file = Path(folder) / f"{name}.vts"
            print("bcr:       ", *run(program, f"{load} {options} -problem {name} {size} -view_potential vtk:{file}").split("\n"))
            print("multigrid: ", *run(program, f"-problem {name} {size} {MULTIGRID.format(levels=levels)}").split("\n"))
            fields[name] = read_vts(file)
    if arguments.picture:
        draw(fields, arguments.picture)


if __name__ == "__main__":
    main()
