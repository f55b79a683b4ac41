"""Pictures of what a suite measured: time against size, and the distance from the floor."""

import math

import bench_poisson
from bench_results import is_library, lines_and_rows

#: What panels differ in; papers' suites have a panel for every number of lines.
PANELS = {"adi": ("precision", "lines"), "tpr": ("precision", "lines", "coefficients")}
DEFAULT_PANELS = ("precision", "layout", "coefficients", "work")


def draw(suite, results, folder):
    """Writes the pictures and returns their names; none where matplotlib is not there."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    if suite == "poisson":
        return bench_poisson.draw(plt, results, folder)
    panels = {}
    for name, result in results.timed().items():
        values = {**name._asdict(), "lines": lines_and_rows(name)[0]}
        if "," in name.method and suite == "adi":
            continue  # a table of its own
        key = ", ".join(f"{values[field]} lines" if field == "lines" else values[field] for field in PANELS.get(suite, DEFAULT_PANELS))
        panels.setdefault(key, {}).setdefault(name.method, []).append((name, result))
    several = {key: panel for key, panel in panels.items() if len({name.size for runs in panel.values() for name, _ in runs}) > 1}
    panels = several or panels  # one size alone is a table's matter, unless there is nothing else
    if not panels:
        return []
    return [picture(plt, panels, folder / f"{suite}-time.png", "milliseconds", lambda name, result: result.milliseconds),
            picture(plt, panels, folder / f"{suite}-floor.png", "times the floor", lambda name, result: result.milliseconds / results.floor(name))]


def picture(plt, panels, path, label, value):
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure, axes = plt.subplots(rows, columns, figsize=(5.5 * columns, 3.8 * rows), squeeze=False, constrained_layout=True)
    every = [axis for line in axes for axis in line]
    methods = list(dict.fromkeys(method for panel in panels.values() for method in panel))
    for axis, (title, panel) in zip(every, panels.items()):
        sizes = sorted({lines_and_rows(name) for runs in panel.values() for name, _ in runs}, key=lambda size: (size[1], -size[0]))
        for method, runs in panel.items():
            points = sorted((sizes.index(lines_and_rows(name)), value(name, result)) for name, result in runs)
            colour = f"C{methods.index(method) % 10}"
            axis.plot(*zip(*points), color=colour, marker=".", linestyle="--" if is_library(method) else "-", label=method.replace(":", " "))
        axis.set_title(title, fontsize=9)
        axis.set_yscale("log")
        axis.set_ylabel(label)
        axis.set_xticks(range(len(sizes)), [f"{lines} x {length}" for lines, length in sizes], rotation=45, ha="right", fontsize=7)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=6)
    for axis in every[len(panels):]:
        axis.remove()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path.name
