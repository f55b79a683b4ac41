#!/usr/bin/env python3
"""What a compact derivative costs on many GPUs, by a model whose constants were measured on few: the tables of docs/results/compact.md. A GPU has a cube of
nodes; ranks form a cube too (a line of them up to four); times in ms, first derivative of order 4, along an axis that ranks cut."""

import argparse
import math

from bench_text import table

MEASURED = {("one pass", 2): "95 %", ("solver", 2): "92 %", ("solver", 4): "87 %, before", ("one pass", 4): "not with today's messages"}


def swept(c, n, ranks, message):
    """One pass: neighbours' sums take `reach` rows at an end, and a quarter of the lines are swept in two parts that look `early` rows into each other."""
    sides = min(ranks - 1, 2)
    words = 1 + sides * (c.reach + c.early / 4) / (2 * n)
    local = c.swept * (n / 512) ** 3
    return local * words + (max(0, message(2) - local / 4) + c.waits if sides else 0)


def solved(c, n, ranks, message, exact=False):
    """The KSP: a halo behind the stencil's inside, products over `reach` rows at the speed of a copy, then what ranks tell each other of a line."""
    sides = min(ranks - 1, 2)
    if not sides:
        return c.solved * (n / 512) ** 3
    local = c.solved * (n / 512) ** 3
    halo, products = max(0, message(1) - local / 2), sides * c.reach * 8 * n**2 / c.memory
    told = 2 * (message(2) + c.latency * (math.log2(ranks) - 1)) if exact else message(1)
    return local + halo + products + told


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--swept", type=float, default=0.657, help="ms of 512³ on one GPU in one pass, measured")
    parser.add_argument("--solved", type=float, default=1.335, help="the same by the KSP, measured")
    parser.add_argument("--memory", type=float, default=4.2e9, help="bytes a ms of a copy, measured")
    parser.add_argument("--latency", type=float, default=0.05, help="ms of a message with the host's waits before it, measured")
    parser.add_argument("--waits", type=float, default=0.005, help="ms that a pass across ranks loses to launches and waits, from 0.692 ms on two GPUs")
    parser.add_argument("--inside", type=float, default=145e6, help="bytes a ms between GPUs of a host, measured")
    parser.add_argument("--network", type=float, default=40e6, help="bytes a ms over a network, assumed: 400 Gb/s a GPU")
    parser.add_argument("--host", type=int, default=8, help="GPUs of a host")
    parser.add_argument("--reach", type=int, default=31, help="rows in which an end is felt")
    parser.add_argument("--early", type=int, default=64, help="rows that two parts of a sweep both read")
    c = parser.parse_args()
    rows = [["GPUs", "ranks along a line", "weak scaling, 512³ each: one pass", "measured", "KSP, neighbours only", "measured", "KSP, exact", "strong scaling, 2048³: one pass",
             "KSP, neighbours only"]]
    one = {"one pass": swept(c, 512, 1, None), "solver": solved(c, 512, 1, None)}
    for gpus in (2, 4, 8, 64, 512, 4096):
        ranks = gpus if gpus <= 4 else round(gpus ** (1 / 3))
        speed = c.inside if gpus <= c.host else c.network
        cells = [f"{gpus}{', network' if gpus > c.host else ''}", str(ranks)]

        def message(words, n=512):
            return c.latency + words * 8 * n**2 / speed

        def weak(way, ms):
            return f"{ms:.2f} ({100 * one[way] / ms:.0f} %)"

        cells += [weak("one pass", swept(c, 512, ranks, message)), MEASURED.get(("one pass", gpus), ""), weak("solver", solved(c, 512, ranks, message)),
                  MEASURED.get(("solver", gpus), ""), weak("solver", solved(c, 512, ranks, message, exact=True))]
        if gpus >= 8:
            n = 2048 / ranks
            for way, ms in (("one pass", swept(c, n, ranks, lambda words: message(words, n))), ("solver", solved(c, n, ranks, lambda words: message(words, n)))):
                cells.append(f"{ms:.3g} ({100 * one[way] * (2048 / 512) ** 3 / gpus / ms:.0f} %)")
        else:
            cells += ["", ""]
        rows.append(cells)
    print("\n".join(table(rows, 1)))


if __name__ == "__main__":
    main()
