"""Runs of examples/compact with its options file: the lines of JSON, and the derivatives node by node."""

import array
import json
import math
import os
import pathlib

OPTIONS = pathlib.Path(os.environ["WEFT_SOURCE"]) / "examples" / "compact" / "compact.opts"


def derivatives(result):
    return [json.loads(line) for line in result.output.splitlines() if line.startswith("{")]


def compact(run, options, **how):
    return run("compact", f"-options_file {OPTIONS} {options}", **how)


def fields(run, options, folder, **how):
    """The derivatives themselves, node by node in the order of the grid, whatever ranks have them."""
    views = " ".join(f"-compact_view_{axis} binary:{folder}/{axis}" for axis in "xyz")
    rows = derivatives(compact(run, f"{options} {views}", **how))
    for row in rows:
        values = array.array("d", (folder / row["axis"]).read_bytes()[-8 * math.prod(row["grid"]) :])  # a header before it is of other sizes with other indices
        values.byteswap()
        yield row, values


def furthest(here, there):
    return max(abs(a - b) for a, b in zip(here, there, strict=True))


def rounding(row):
    """What a field of values up to 1 that is known to its last bit leaves unknown of a derivative: weights of the rows near ends, over a power of the spacing."""
    nodes, weights = dict(zip("xyz", row["grid"]))[row["axis"]], (2, 5, 56)[row["derivative"]]
    return 6 * 2.2e-16 * weights * nodes ** row["derivative"]
