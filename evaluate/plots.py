"""Pictures: performance profiles, time against size, iterations against anisotropy. As PNG and SVG, and as SVG for the page, whose ink follows its theme."""

import io
import re

from . import profile
from .cases import WEFT

COLOURS = ("#d1495b", "#2e86de", "#2a9d5c", "#b8860b", "#8e5bd0", "#d9772b", "#12969b", "#c2529a", "#6d7f3a", "#7a7f8c", "#4f6bd8", "#a3593b")
MARKERS = "osD^vP*Xph<>"
SHADES = ((0, 0), (0.45, 255), (0.4, 0))  # how much of white or black is in the colours: as they are, and in the second and third dozen
EXTERNAL = ("hypre", "ml", "mumps", "umfpack", "cholmod")
MOST_CURVES = 12
INK = "#010203"  # stands for the text's colour until it is known where the picture goes


def matplotlib():
    """pyplot, or nothing where matplotlib is not installed."""
    try:
        import matplotlib as library
        library.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return None
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "weft", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "text.color": INK,
                            "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK, "ytick.color": INK, "grid.color": "#808890", "grid.alpha": 0.25,
                            "axes.titlesize": 10.5, "axes.titleweight": "bold", "legend.frameon": False, "legend.fontsize": 8.5, "legend.labelcolor": INK})
    return pyplot


class Style:
    """The looks of configurations: Weft's types solid, PETSc's dashed, other libraries' dotted. Each keeps its colour and its marker in every picture, and no two
    share them until there are more than three dozen."""

    def __init__(self, configurations):
        self.configurations = {configuration.name: configuration for configuration in configurations}
        self.given = {}

    def of(self, name):
        place = self.given.setdefault(name, len(self.given))
        configuration = self.configurations.get(name)
        type_ = configuration.type if configuration else ""
        line = "-" if type_ in WEFT else ":" if type_ in EXTERNAL else "--"
        return {"color": shaded(COLOURS[place % len(COLOURS)], *SHADES[place // len(COLOURS) % len(SHADES)]), "marker": MARKERS[place % len(MARKERS)], "linestyle": line, "linewidth": 2.2 if line == "-" else 1.6,
                "markersize": 4.5, "label": name}


def shaded(colour, part, towards):
    """A colour with a part of another in it: towards is 255 for white and 0 for black."""
    return "#" + "".join(f"{round((1 - part) * int(colour[place:place + 2], 16) + part * towards):02x}" for place in (1, 3, 5))


def chosen(curves, problems, style, one_of_each=False):
    """The best of each type of Weft's, and the best of all, or of each other type, until there are enough."""
    ranked = sorted(curves, key=lambda name: -profile.area(curves[name], problems))
    type_of = {name: style.configurations[name].type if name in style.configurations else "" for name in ranked}
    ours = [next((name for name in ranked if type_of[name] == type_), None) for type_ in WEFT]
    wanted = set(filter(None, ours))
    for name in ranked:
        if len(wanted) >= MOST_CURVES:
            break
        if not one_of_each or all(type_of[name] != type_of[other] for other in wanted):
            wanted.add(name)
    return [name for name in ranked if name in wanted]


def beside(axis):
    axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0)


def draw_profile(plot, problems, rows, style):
    kinds = [("matrix", "matrices"), ("grid", "model problems")]
    panels = []
    for kind, words in kinds:
        names = {problem.name for problem in problems if problem.kind == kind}
        curves, count = profile.ratios(profile.times_of([row for row in rows if row["problem"] in names]))
        if count:
            panels.append((words, curves, count))
    if not panels:
        return None
    figure, axes = plot.subplots(len(panels), 1, figsize=(9.2, 4.3 * len(panels)), squeeze=False, layout="constrained")
    for axis, (words, curves, count) in zip(axes[:, 0], panels):
        most = 100.0
        for name in chosen(curves, count, style):
            x = [1.0] + [ratio for ratio in curves[name] if ratio <= most] + [most]
            y = [profile.share(curves[name], count, tau) for tau in x]
            axis.step(x, y, where="post", **{**style.of(name), "marker": None})
        axis.set_xscale("log")
        axis.set_xlim(1, most)
        axis.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
        axis.minorticks_off()
        axis.set_ylim(0, 1.02)
        axis.grid(True)
        axis.set_title(f"Share of {count} {words} solved within τ times the least time")
        axis.set_xlabel("τ")
        axis.set_ylabel("share")
        beside(axis)
    return figure


def draw_size(plot, problems, rows, style):
    panels = []
    grids = {problem.name: problem.facts["rows"] for problem in problems if problem.kind == "grid" and {"size", "large", "huge"} & set(problem.family.split())
             and "dim 3" not in problem.options}
    curves, count = profile.ratios(profile.times_of([row for row in rows if row["problem"] in grids]))
    if len(set(grids.values())) > 1 and count:
        lines = {name: sorted((grids[row["problem"]], row["total_seconds"]) for row in rows
                              if row["problem"] in grids and row["configuration"] == name and row["outcome"] == "solved") for name in chosen(curves, count, style)}
        panels.append(("Model problem, eps 1e-3", lines, True))
    sizes = {problem.name: problem.facts["rows"] for problem in problems if problem.kind == "matrix" and problem.facts.get("rows")}
    curves, count = profile.ratios(profile.times_of([row for row in rows if row["problem"] in sizes]))
    if count:
        lines = {name: sorted((sizes[row["problem"]], row["total_seconds"]) for row in rows
                              if row["problem"] in sizes and row["configuration"] == name and row["outcome"] == "solved") for name in chosen(curves, count, style)[:8]}
        panels.append(("Matrices, a point each", lines, False))
    if not panels:
        return None
    figure, axes = plot.subplots(len(panels), 1, figsize=(9.2, 4.3 * len(panels)), squeeze=False, layout="constrained")
    for axis, (title, lines, joined) in zip(axes[:, 0], panels):
        for name, points in lines.items():
            look = style.of(name)
            axis.plot(*zip(*points), **(look if joined else {**look, "linestyle": "none", "alpha": 0.75}))
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.grid(True)
        axis.set_title(title)
        axis.set_xlabel("rows")
        axis.set_ylabel("set-up and solve, seconds")
        beside(axis)
    return figure


def draw_anisotropy(plot, problems, rows, style):
    at = {problem.name: problem.parameter for problem in problems if "anisotropy" in problem.family.split()}
    if len(at) < 2:
        return None
    lines = {}
    for row in rows:
        if row["problem"] in at and row["outcome"] == "solved":
            lines.setdefault(row["configuration"], []).append((1 / at[row["problem"]], row["iterations"]))
    # Direct solvers take one iteration, which says nothing here.
    lines = {name: sorted(points) for name, points in lines.items() if max(count for _, count in points) > 1}
    if not lines:
        return None
    table = {}
    for name, points in lines.items():
        for x, count in points:
            table.setdefault(x, {})[name] = max(count, 1)
    curves, count = profile.ratios(table)
    figure, axis = plot.subplots(figsize=(9.2, 4.6), layout="constrained")
    for name in chosen(curves, count, style, one_of_each=True):
        axis.plot(*zip(*lines[name]), **style.of(name))
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.grid(True)
    axis.set_title("Iterations as one direction of the grid couples more strongly (129²)")
    axis.set_xlabel("1 / eps")
    axis.set_ylabel("iterations")
    beside(axis)
    return figure


DRAWN = {"profile": ("Performance profile", draw_profile), "size": ("Time against size", draw_size), "anisotropy": ("Iterations against anisotropy", draw_anisotropy)}


def draw(problems, rows, configurations, folder):
    """Writes NAME.png and NAME.svg for each picture there are results for; [(name, title, SVG for the page)]."""
    plot = matplotlib()
    if not plot:
        return []
    style, found = Style(configurations), []
    for name, (title, make) in DRAWN.items():
        figure = make(plot, problems, rows, style)
        if not figure:
            continue
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
        found.append((name, title, inline(stream.getvalue())))
        (folder / f"{name}.svg").write_text(stream.getvalue().replace(INK, "#202428"), encoding="utf-8")
        for text in figure.findobj(lambda artist: hasattr(artist, "set_color") and hasattr(artist, "get_color")):
            if str(text.get_color()) == INK:  # of a collection of lines it is an array
                text.set_color("#202428")
        figure.savefig(folder / f"{name}.png", dpi=110, facecolor="white")
        plot.close(figure)
    return found


def inline(svg):
    """Without what only a file needs; text and axes take the page's colour."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    return svg.replace(INK, "currentColor")
