#!/usr/bin/env python3
"""Plots of multigrid in one option and its rivals: whole time against the grid, iterations against anisotropy, jumps and convection.

    scripts/boxmg_plots.py --build build/debian --out docs/results           # measures, and draws boxmg-time.png and boxmg-iterations.png
    scripts/boxmg_plots.py --draw build/debian/results/boxmg.json --out docs/results      # draws what was measured before

Each case is a process of its own, as in diffusion.py, whose methods and limits these are. All solve to the same true residual. What was measured is kept in
BUILD/results/boxmg.json, and cases that are there are not measured again unless --again asks for it.
"""

import argparse
import json
import os
import platform
import sys
from pathlib import Path

import boxmg
import diffusion

METHODS = ["boxmg", "boxmg, single", "MG + line", "BoomerAMG"]
STRENGTHS = [10.0**j for j in range(7)]
PECLETS = [10.0**j for j in range(-1, 5)]

# panels of a figure: name: (dimension, label of x, values of x, problem of a value and of the nodes a side, whether the matrix is symmetric)
ITERATIONS = {
    "anisotropy, K = (1, 1/eps)": (2, "eps", [1 / s for s in STRENGTHS], lambda eps, n: f"-eps {eps:g}", True),
    "in space, K = (1, 1/eps, eps)": (3, "eps", [1 / s for s in STRENGTHS], lambda eps, n: f"-eps {eps:g}", True),
    "checkerboard, 8 x 8": (2, "contrast", STRENGTHS, lambda contrast, n: f"-contrast {contrast:g} -material checkerboard", True),
    "each node at random": (2, "contrast", STRENGTHS, lambda contrast, n: f"-contrast {contrast:g} -material random", True),
    "flow (1, 0.3), upwind": (2, "Péclet number of a cell", PECLETS, lambda peclet, n: boxmg.convection(peclet, (1, 0.3))(n), False),
    "flow that goes around, upwind": (2, "Péclet number of a cell", PECLETS, lambda peclet, n: boxmg.convection(peclet, (1, 0), "-flow recirculating")(n), False),
}
SETUPS = "-setups 3"  # the fastest counts
TIME = {  # the values of x are nodes a side, and are drawn as unknowns
    "K = 1": (2, "unknowns", None, lambda n, _: f"{SETUPS} -k 1,1", True),
    "K = (1, 1e3)": (2, "unknowns", None, lambda n, _: f"{SETUPS} -k 1,1e3", True),
    "3-D, K = 1": (3, "unknowns", None, lambda n, _: f"{SETUPS} -k 1,1,1", True),
    "3-D, K = (1, 1e3, 1e-3)": (3, "unknowns", None, lambda n, _: f"{SETUPS} -k 1,1e3,1e-3", True),
}


def measure(arguments, known):
    """Adds to the runs that are known those of both figures; each is a dictionary that says what it is of."""
    keys = {(run["panel"], run["x"], run["method"], run["size"]) for run in known}
    sizes = {2: arguments.sizes, 3: arguments.sizes_3d}
    for panel in arguments.panels:
        dimension, _, values, problem, symmetric = {**TIME, **ITERATIONS}[panel]
        for x in values or sizes[dimension]:
            size = arguments.nodes[dimension - 2] if values else x
            for method in arguments.methods:
                if (panel, x, method, size) in keys:
                    continue
                result = diffusion.solve(arguments, method, dimension, size, problem(x, size), "" if symmetric else "-ksp_type fgmres", symmetric)
                known.append(dict(panel=panel, x=x, method=method, size=size, result=result))
                print(f"{panel}, {x:g}, {size}, {method}: {boxmg.cell(result, 'solve')}", flush=True)
                save(arguments, known)


def save(arguments, runs):
    machine = dict(processor=diffusion.processor(), cores=os.cpu_count(), system=platform.system(), ranks=arguments.ranks, types=arguments.types, repeat=arguments.repeat)
    arguments.json.write_text(json.dumps(dict(machine=machine, runs=runs), indent=1) + "\n")


def curve(axis, runs, method, colour, x, y):
    """A method's curve; a cross on the upper edge is a case that it did not solve."""
    good = [run for run in runs if "failure" not in run["result"]]
    style = "--" if method.endswith("single") else "-"
    axis.plot([x(run) for run in good], [y(run) for run in good], color=colour, marker=".", linestyle=style, label=method)
    failed = [x(run) for run in runs if "failure" in run["result"]]
    if failed:
        axis.plot(failed, [1 - 0.02 * int(colour[1:])] * len(failed), color=colour, marker="x", linestyle="", transform=axis.get_xaxis_transform(), clip_on=False)


def figure(path, panels, runs, value, label, limits):
    """A panel for each problem that was measured, all with the same limits."""
    from matplotlib import pyplot, ticker

    panels = {name: panel for name, panel in panels.items() if any(run["panel"] == name for run in runs)}
    rows = (len(panels) + 1) // 2
    picture, axes = pyplot.subplots(rows, 2, figsize=(10, 3.3 * rows), squeeze=False)
    methods = list(dict.fromkeys(run["method"] for run in runs))
    for axis, (name, (dimension, of_x, values, _, _)) in zip(axes.flat, panels.items()):
        of_panel = sorted((run for run in runs if run["panel"] == name), key=lambda run: run["x"])
        for number, method in enumerate(methods):
            curve(axis, [run for run in of_panel if run["method"] == method], method, f"C{number}", lambda run: run["x"] if values else run["x"] ** dimension, value)
        sizes = ", ".join(sorted({f"{run['size']}{'²³'[dimension - 2]}" for run in of_panel})) if values else ""
        axis.set(xscale="log", yscale="log", xlabel=of_x, ylabel=label, ylim=limits)
        axis.set_title(f"{name}, {sizes}" if sizes else name, fontsize=10)
        axis.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
        for scale in (axis.xaxis, axis.yaxis):
            scale.set_minor_formatter(ticker.NullFormatter())
        if of_x == "eps":
            axis.invert_xaxis()
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    for axis in list(axes.flat)[len(panels):]:
        axis.remove()
    picture.tight_layout()
    picture.savefig(path, dpi=80)
    pyplot.close(picture)


def draw(arguments, kept):
    try:
        import matplotlib

        matplotlib.use("Agg")
    except ImportError:
        sys.exit("boxmg_plots: this Python has no matplotlib (Debian: python3-matplotlib)")
    clock = "_cpu" if kept["machine"]["types"] == "host" else ""  # a host may be busy with other things
    label = f"{'processor ' if clock else ''}us an unknown"

    def whole(run):
        return 1e6 * (run["result"]["update" + clock] + run["result"]["solve" + clock]) / run["x"] ** TIME[run["panel"]][0]

    def iterations(run):
        return run["result"]["iterations"]

    for name, panels, value, of_y in (("time", TIME, whole, label), ("iterations", ITERATIONS, iterations, "iterations")):
        runs = [run for run in kept["runs"] if run["panel"] in panels]
        values = [value(run) for run in runs if "failure" not in run["result"]]
        if values:
            figure(arguments.out / f"boxmg-{name}.png", panels, runs, value, of_y, (0.8 * min(values), 1.2 * max(values)))
            print(f"written: {arguments.out}/boxmg-{name}.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--build", type=Path, help="build folder with bin/diffusion and lib/libweft.so")
    where.add_argument("--draw", type=Path, metavar="JSON", help="draw what was measured before")
    parser.add_argument("--types", choices=diffusion.TYPES, default="host", help="where vectors and matrices are")
    parser.add_argument("--panels", nargs="+", choices=[*TIME, *ITERATIONS], metavar="PANEL", default=[*TIME, *ITERATIONS], help="problems, by their titles in the plots (all)")
    parser.add_argument("--sizes", type=int, nargs="*", default=[65, 129, 257, 513], help="nodes a side in 2-D for the time")
    parser.add_argument("--sizes-3d", type=int, nargs="*", default=[25, 33, 49, 65], help="nodes a side in 3-D for the time")
    parser.add_argument("--nodes", type=int, nargs=2, default=[257, 33], help="nodes a side for the iterations, in 2-D and 3-D")
    parser.add_argument("--methods", nargs="+", choices=diffusion.METHODS, default=METHODS)
    parser.add_argument("--repeat", type=int, default=5, help="timed solves; the fastest counts")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one case")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--mpiexec", default=os.environ.get("WEFT_MPIEXEC", "mpiexec"))
    parser.add_argument("--again", action="store_true", help="measure the panels anew, whatever was measured before")
    parser.add_argument("--out", type=Path, help="folder for the plots (BUILD/results, or that of the JSON file)")
    arguments = parser.parse_args()
    if arguments.build:
        arguments.build = arguments.build.resolve()
        arguments.json = arguments.build / "results" / "boxmg.json"
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        known = json.loads(arguments.json.read_text())["runs"] if arguments.json.exists() else []
        measure(arguments, [run for run in known if not (arguments.again and run["panel"] in arguments.panels)])
    else:
        arguments.json = arguments.draw
    arguments.out = arguments.out or arguments.json.parent
    draw(arguments, json.loads(arguments.json.read_text()))


if __name__ == "__main__":
    main()
