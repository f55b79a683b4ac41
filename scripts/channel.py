#!/usr/bin/env python3
"""A picture of the temperature that examples/channel writes: its .vts file, as ParaView reads it, to a PNG file.

    scripts/channel.py channel.vts channel.png
"""

import argparse
import re
import sys
from pathlib import Path

import numpy

EXTENT = re.compile(r'<Piece Extent="(\d+) (\d+) (\d+) (\d+) 0 0">(.*?)</Piece>', re.S)
ARRAY = re.compile(r'Name="(\w+)" NumberOfComponents="(\d)" format="appended" offset="(\d+)"')


def read(path):
    """x, y and u at the nodes, rows of constant y, from the pieces of PETSc's ranks. An array of the appended data begins with its bytes' number."""
    head, found, data = path.read_bytes().partition(b'<AppendedData encoding="raw">')
    if not found:
        sys.exit(f"channel: {path} is not what PETSc's viewer of VTK files writes")
    text, data = head.decode(), data[data.index(b"_") + 1 :]
    count = numpy.uint64 if 'header_type="UInt64"' in text else numpy.uint32
    nodes = [int(n) + 1 for n in re.search(r'WholeExtent="0 (\d+) 0 (\d+) 0 0"', text).groups()]
    x, y, u = (numpy.full(nodes[::-1], numpy.nan) for _ in range(3))
    for first_x, last_x, first_y, last_y, arrays in EXTENT.findall(text):
        place = slice(int(first_y), int(last_y) + 1), slice(int(first_x), int(last_x) + 1)
        shape = [part.stop - part.start for part in place]
        for name, components, offset in ARRAY.findall(arrays):
            begin = int(offset) + count().itemsize
            size = int(components) * shape[0] * shape[1]
            values = numpy.frombuffer(data, numpy.float64, size, begin).reshape(*shape, int(components))
            if name == "Position":
                x[place], y[place] = values[..., 0], values[..., 1]
            else:
                u[place] = values[..., 0]
    return x, y, u


def draw(path, x, y, u):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(9, 2.9))
    shown = axis.pcolormesh(x, y, u, cmap="inferno", vmin=0, vmax=1, shading="gouraud")
    axis.contour(x, y, u, levels=numpy.arange(0.1, 1, 0.1), colors="white", linewidths=0.5)
    axis.contourf(x, y, u, levels=[1 - 1e-7, 2], colors="#404040")
    # every 16th line of the mesh
    for line in range(0, len(y), 16):
        axis.plot(x[line], y[line], color="white", linewidth=0.2, alpha=0.6)
    axis.set(aspect="equal", xlabel="x", ylabel="y", title="temperature: bodies 1 (grey), walls 0, no flux through the ends")
    figure.colorbar(shown, ax=axis, shrink=0.8, pad=0.02)
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vts", type=Path, help="what examples/channel wrote")
    parser.add_argument("png", type=Path, help="the picture")
    arguments = parser.parse_args()
    draw(arguments.png, *read(arguments.vts))


if __name__ == "__main__":
    main()
