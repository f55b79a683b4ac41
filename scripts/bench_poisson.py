"""Tables and pictures of the suite poisson: the paper's rows with its figures beside, how errors grow with the grid, the discretization's order."""

import math

from bench_results import lines_and_rows, paper
from bench_text import number, small, table

COLUMNS = {"cpu_4": "CPU, 4 threads", "cpu_1": "CPU, 1 thread", "gpu_first": "GPU", "gpu_window": "GPU, window"}
METHODS = ["auto", "partial", "buneman1"]  # of each row of the paper


def tables(results):
    return paper_rows(results) + growth(results) + order(results)


def times_of(results, precision, size):
    """Milliseconds of each method, and of `auto` with right-hand side and solution on the host."""
    same = {"precision": precision, "size": size, "coefficients": "random"}
    times = {method: results.milliseconds(method=method, work="solve", **same) for method in METHODS}
    return {**times, "with transfers": results.milliseconds(method="auto", work="with-transfers", **same)}


def paper_rows(results):
    figures, source = paper("buneman.csv")
    measured = [(f, times_of(results, f["precision"], f"{f['n']}x{f['q']}")) for f in figures]
    measured = [(f, times) for f, times in measured if any(times.values())]
    if not measured:
        return []
    text = [f"Figures of the thesis: {source}", ""]
    kinds = [kind for kind in [*METHODS, "with transfers"] if any(times[kind] for _, times in measured)]
    for precision in ("fp64", "fp32"):
        out = [["N x Q", *(f"thesis: {column} s" for column in COLUMNS.values()), *(f"{kind} ms" for kind in kinds), "error of auto",
                *(f"auto x {column}" for column in COLUMNS.values())]]
        for f, times in measured:
            if f["precision"] != precision:
                continue
            size = f"{f['n']}x{f['q']}"
            result = results.result(precision=precision, size=size, coefficients="random", method="auto", work="solve")
            # a printed 0.000 says how coarse the clock was, and no ratio
            ratios = [float(f[key]) * 1e3 / times["auto"] if times["auto"] and float(f[key] or 0) else None for key in COLUMNS]
            out.append([f"{f['n']} x {f['q']}", *(f[key] or "–" for key in COLUMNS), *(number(times[kind]) for kind in kinds),
                        small(result and result.error), *map(number, ratios)])
        if len(out) > 1:
            text += [f"### The thesis's rows, {precision}", "", *table(out), ""]
    return text + [summary(measured, kinds, len(figures)), ""]


def summary(measured, kinds, rows):
    """In how many rows each kind of solve beats every figure that is not printed as 0.000, and the least ratio there is."""
    said = []
    for kind in kinds:
        least = {(f["precision"], f["n"], f["q"]): min(float(f[key]) for key in COLUMNS if float(f[key] or 0)) * 1e3 / times[kind]
                 for f, times in measured if times[kind]}
        worst = min(least, key=least.get)
        said.append(f"`{kind}` in {sum(value > 1 for value in least.values())} of {len(least)}, least {number(least[worst])} times "
                    f"({worst[0]}, {worst[1]} x {worst[2]})")
    zeros = sum(any(f[key] and not float(f[key]) for key in COLUMNS) for f, _ in measured)
    return (f"{len(measured)} of the thesis's {rows} rows measured. Faster than all that the thesis prints for a row: {'; '.join(said)}. {zeros} rows print a "
            "0.000, by which nothing can be divided: these are compared by their other figures.")


def squares(results, precision):
    """Errors of each method over N, for N = Q."""
    errors = {}
    for name, result in results.timed().items():
        n, q = lines_and_rows(name)
        if name.coefficients == "random" and name.work == "solve" and name.precision == precision and n == q:
            errors.setdefault(name.method, {})[n] = result.error
    return errors


def growth(results):
    text = []
    for precision in ("fp64", "fp32"):
        errors = squares(results, precision)
        sizes = sorted({n for line in errors.values() for n in line})
        if sizes:
            out = [["N = Q", *errors], *([str(n), *("–" if n not in line else small(line[n]) for line in errors.values())] for n in sizes)]
            text += [f"### Errors against the size of the grid, {precision}", "", *table(out), ""]
    return text + (["inf: not a number, or beyond the largest one.", ""] if text else [])


def intervals(name):
    return lines_and_rows(name)[0] + {"dirichlet": 1, "neumann": -1}.get(name.layout, 0)


def discretization(results):
    """Errors over the number of intervals, for each kind of ends."""
    errors = {}
    for name, result in results.timed().items():
        if name.coefficients == "smooth":
            errors.setdefault(name.layout, {})[intervals(name)] = result.error
    return errors


def order(results):
    errors = discretization(results)
    sizes = sorted({n for line in errors.values() for n in line})
    if not sizes:
        return []
    out = [["ends, all around", *map(str, sizes), "order of the last two"]]
    for ends, line in errors.items():
        finest = sorted(line)[-2:]
        last = math.log(line[finest[0]] / line[finest[1]], finest[1] / finest[0]) if len(finest) > 1 else None
        out.append([ends, *(small(line.get(n)) for n in sizes), f"{last:.3f}" if last is not None else "–"])
    return ["### Errors of the discretization", "", "u_xx + u_yy - u = f on (0, 1) x (0, 2), so many intervals along x and as many along y. u = e^(x + y), or "
            "e^(sin(2 pi x) + sin(pi y)) where periodic; values or derivatives given at the ends.", "", *table(out), ""]


def draw(plt, results, folder):
    """Writes poisson-time.png and poisson-errors.png; returns their names."""
    names = []
    figures, _ = paper("buneman.csv")
    if any(any(times_of(results, f["precision"], f"{f['n']}x{f['q']}").values()) for f in figures):
        figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), constrained_layout=True)
        for axis, precision in zip(axes, ("fp64", "fp32")):
            rows = [f for f in figures if f["precision"] == precision and f["n"] == f["q"]]
            for column, label in COLUMNS.items():
                line = [(int(f["q"]), 1e3 * float(f[column])) for f in rows if f[column]]
                axis.loglog(*zip(*line), linestyle="--", marker=".", label=f"thesis, {label}")
            for kind in [*METHODS, "with transfers"]:
                times = [(int(f["q"]), times_of(results, precision, f"{f['n']}x{f['q']}")[kind]) for f in rows]
                times = [(n, ms) for n, ms in times if ms]
                if times:
                    axis.loglog(*zip(*times), marker=".", label=kind)
            decorate(axis, f"squares of the thesis, {precision}", "N = Q", "milliseconds")
        names.append(save(plt, figure, folder / "poisson-time.png"))
    grown, steps = [squares(results, precision) for precision in ("fp64", "fp32")], discretization(results)
    if any(grown) or steps:
        figure, axes = plt.subplots(1, 3, figsize=(15, 4.2), constrained_layout=True)
        for axis, errors, precision in zip(axes, grown, ("fp64", "fp32")):
            for method, line in errors.items():
                # beyond, plain would leave the others no room
                finite = sorted((n, e) for n, e in line.items() if 0 < e <= 1e10)
                if finite:
                    axis.loglog(*zip(*finite), marker=".", label=method)
            if precision == "fp64":
                axis.axhline(1e-12, color="grey", linestyle=":", linewidth=1)
            axis.axhline(1, color="grey", linestyle="-", linewidth=1)
            decorate(axis, f"largest error of a solution in [-1, 1), {precision}", "N = Q", "error")
        for ends, line in steps.items():
            axes[2].loglog(*zip(*sorted(line.items())), marker=".", label=ends)
        if steps:
            sizes = sorted({n for line in steps.values() for n in line})
            axes[2].loglog(sizes, [10 / n**2 for n in sizes], color="grey", linestyle=":", label="second order")
        decorate(axes[2], "error of the discretization", "intervals", "error")
        names.append(save(plt, figure, folder / "poisson-errors.png"))
    return names


def decorate(axis, title, x, y):
    axis.set_title(title, fontsize=9)
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    axis.grid(alpha=0.3)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=6)


def save(plt, figure, path):
    figure.savefig(path, dpi=80)
    plt.close(figure)
    return path.name
