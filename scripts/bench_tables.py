"""Markdown tables of what a suite measured, the papers' figures beside."""

import pathlib

import bench_poisson
from bench_results import LIBRARIES, is_library, lines_and_rows, paper
from bench_text import number, percent, ratio, shown, small, table

COLUMNS_OF_TEXT = 6


#: What the size, layout and coefficients of a name are called in a suite, and the words that its floor moves.
HEADS = {"poisson": ["N x Q", "ends", "solution"]}
WORDS = {"poisson": "2 a point"}
WORDS_OF_LINES = "5 a row, 2 where lines share their coefficients, 3 b b + 2 b a node of b unknowns"


EXPLAINED_LINES = [
    "x floor: times the floor (1 is the floor). x one-shot: a solve with the factors of before, as a share of factoring and solving.",
    "error: the largest |T x - rhs| of a row relative to |T| |x| + |rhs|; of x: |x - solution| / |solution| in the 2-norm, where the solution is "
    "known.",
    "times faster than: the library for the same work, and its time; below 1 the library is faster. What it overwrites of its inputs is brought "
    "back outside of its time. cuSPARSE keeps no factors: solves alone are compared with its one-shot work."]
EXPLAINED_POINTS = ["x floor: times the floor (1 is the floor). error: the largest difference from the solution; random ones lie in [-1, 1)."]


def all_rows(results, suite):
    """Every measurement with both sides of its ratios."""
    rows = [[*HEADS.get(suite, ["lines x rows", "layout", "coefficients"]), "precision", "work", "method", "ms", "spread", "GB/s", "floor ms",
             "x floor", "x one-shot", "error", "of x", "times faster than"]]
    for name, result in results.timed().items():
        floor, once = results.floor(name), results.one_shot(name)
        rivals = "" if is_library(name.method) else ", ".join(rival_text(results, name, rival) for rival in results.rivals(name))
        rows.append([name.size.replace("x", " x "), name.layout, name.coefficients, name.precision, name.work,
                     shown(name.method, result.label),
                     number(result.milliseconds), percent(result.spread), number(floor / result.milliseconds * results.rate() / 1e6),
                     number(floor), number(result.milliseconds / floor), number(once and ratio(result.milliseconds, once.milliseconds)),
                     small(result.error), small(result.forward_error), rivals])
    kept = [k for k in range(len(rows[0])) if any(row[k] not in ("", "–") for row in rows[1:])]
    return table([[row[k] for k in kept] for row in rows], COLUMNS_OF_TEXT)


def rival_text(results, name, rival):
    time = results.rows[rival].milliseconds
    where = [word for word, differs in [(rival.layout, rival.layout != name.layout), (rival.work, rival.work != name.work)] if differs]
    notes = " ".join([*where, f"{number(time)} ms"])
    return f"{rival.method.split(':')[1]} {number(time / results.rows[name].milliseconds)} ({notes})"


def adi(results):
    figures, source = paper("adi.csv")
    text = [f"Figures of the thesis: {source}", ""]
    for lines in (16, 1):
        rows = sorted({lines_and_rows(name)[1] for name in results.timed() if lines_and_rows(name)[0] == lines and lines_and_rows(name)[1] <= 2048})
        if not rows:
            continue
        out = [["microseconds, rows:", *map(str, rows)]]
        for method in results.values("method"):
            if "," in method and not method.startswith("spike"):
                continue
            cells = [results.milliseconds(method=method, size=f"{lines}x{n}", work="one-shot") for n in rows]
            if any(cells):
                out.append([shown(method), *(number(1e3 * ms) if ms else "–" for ms in cells)])
        printed = [f for f in figures if int(f["lines"]) == lines and not f["parameter"] and f["table"] != "22"]
        for device, method in dict.fromkeys((f["device"], f["method"]) for f in printed):
            cells = {int(f["rows"]): f["us"] for f in printed if (f["device"], f["method"]) == (device, method)}
            out.append([f"{method}, thesis, {device}", *(number(float(cells[n])) if n in cells else "–" for n in rows)])
        text += [f"### {lines} systems" if lines > 1 else "### 1 system", "", *table(out), ""]
    return text + adi_spike(results, figures) + adi_parameters(results, figures)


def adi_spike(results, figures):
    printed = {(f["method"], int(f["rows"])): float(f["us"]) for f in figures if f["table"] == "22"}
    out = [["rows", "cr ms", "spike ms", "cr / spike", "thesis: cr ms", "spike ms", "cr / spike"]]
    for rows in sorted({rows for _, rows in printed}):
        ours = [results.milliseconds(method=method, size=f"16x{rows}", work="one-shot") for method in ("cr", "spike")]
        thesis = [printed[method, rows] / 1e3 for method in ("cr", "spike")]
        out.append([str(rows), *map(number, ours), number(ratio(*ours)), *map(number, thesis), number(ratio(*thesis))])
    return ["### SPIKE against CR, 16 systems (thesis: Kepler CUDA)", "", *table(out), ""]


def adi_parameters(results, figures):
    """The hybrids at 16 x 2048 by what they are told. `steps` PCR steps leave lines of 2048 / 2^steps rows to Thomas."""
    time = {method: results.milliseconds(method=method, size="16x2048", work="one-shot") for method in results.values("method")}
    lengths = [1 << k for k in range(1, 11)]
    own = {"pcr-thomas": lambda length: f"pcr-thomas,steps={11 - length.bit_length() + 1}",
           "cr-pcr-thomas": lambda length: f"cr-pcr-thomas,slice={length}"}
    out = [["microseconds, Thomas length:", *map(str, lengths)]]
    for method, text in own.items():
        cells = [time.get(text(length)) for length in lengths]
        out.append([method, *(number(1e3 * ms) if ms else "–" for ms in cells)])
        for device in ("Kepler CUDA", "Pascal CUDA"):
            printed = {f["parameter"]: float(f["us"]) for f in figures if (f["method"], f["device"]) == (method, device)}
            out.append([f"{method}, thesis, {device}", *(number(printed.get(f"thomas={length}")) for length in lengths)])
    rows = [1 << k for k in range(3, 11)]
    switches = [time.get(f"cr-pcr,switch_rows={n}") for n in rows]
    switch = [["microseconds, rows left at the switch:", *map(str, rows)], ["cr-pcr", *(number(1e3 * ms) if ms else "–" for ms in switches)]]
    return ["### Where hybrids switch, 16 x 2048", "", *table(out), "", *table(switch), "",
            "The thesis finds CR-PCR fastest with one CR step on Kepler (1024 rows left) and with 128 to 256 rows left on Pascal.", ""]


def tpr(results):
    ratios, source = paper("tpr_ratios.csv")
    accuracy, accuracy_source = paper("tpr_accuracy.csv")
    text = [f"Figures of the paper: {source} {accuracy_source}", "",
            "Matrix -1 2 -1, solution 1; milliseconds, and after the slash the relative error in the 2-norm.", ""]
    ours, grid = {}, {"coefficients": "poisson"}
    for precision in results.values("precision"):
        for lines in (1, 8, 64):
            rows = [n for n in (1 << k for k in range(7, 20)) if f"{lines}x{n}" in results.values("size", precision=precision, **grid)]
            methods = results.values("method", precision=precision, **grid)
            methods = [m for m in methods if any(results.milliseconds(precision=precision, size=f"{lines}x{n}", method=m, **grid) for n in rows)]
            rivals = [m for m in methods if is_library(m)]
            solvers = [m for m in methods if not is_library(m)]
            if not methods:
                continue
            printed = {int(f["rows"]): f for f in accuracy} if (precision, lines) == ("fp32", 1) else {}
            head = ["rows", *map(shown, methods), *(f"{m} x {r.split(':')[1]}" for m in solvers for r in rivals)]
            out = [head + (["paper's errors: stable", "fastest", "Thomas"] if printed else [])]
            for n in rows:
                here = {m: r for m in methods for name, r in results.timed().items()
                        if (name.precision, name.size, name.method, name.coefficients) == (precision, f"{lines}x{n}", m, "poisson")}
                cells = [f"{number(here[m].milliseconds)} / {small(here[m].forward_error)}" if m in here else "–" for m in methods]
                for m in solvers:
                    for r in rivals:
                        faster = ratio(here[r].milliseconds, here[m].milliseconds) if m in here and r in here else None
                        cells.append(number(faster))
                        if faster:
                            ours.setdefault((precision, lines, m, r), []).append(faster)
                if printed:
                    cells += [printed[n][key] for key in ("tpr_stable", "tpr_fastest", "thomas")]
                out.append([str(n), *cells])
            text += [f"### {precision}, {lines} system{'s' if lines > 1 else ''}", "", *table(out), ""]
    out = [["precision", "systems", "method", "times faster than", "average", "maximum", "paper: average", "maximum"]]
    for (precision, lines, method, rival), values in ours.items():
        printed = next(f for f in ratios if (f["precision"], f["lines"]) == (precision, str(lines)))
        out.append([precision, str(lines), shown(method), shown(rival), number(sum(values) / len(values)), number(max(values)),
                    printed["average"] or "–", printed["maximum"] or "–"])
    return text + ["### Averages over the sizes, as the paper makes them", "", *table(out, 4), ""] + tpr_matrices(results)


def tpr_matrices(results):
    """The two matrices of the paper's Table 8 that its merge fails on."""
    printed = {"type-5": "NaN", "type-12": "7.6e-10"}
    out = [["matrix", "method", "ms", "median error", "largest error", "paper's error"]]
    for name, result in results.timed().items():
        if name.coefficients in printed:
            out.append([name.coefficients, shown(name.method), number(result.milliseconds), small(result.median_error), small(result.error),
                        printed[name.coefficients]])
    return ["### Matrices 5 and 12, 64 systems of 512 rows, fp64", "",
            "Errors are |T x - rhs| of a row relative to |T| |x| + |rhs|. The matrices are not dominant: the median over the systems is what a "
            "merge decides, the largest what the smallest pivot of any system costs.", "", *table(out, 2), ""] if len(out) > 1 else []


def toeplitz(results):
    figures, source = paper("near_toeplitz.csv")
    text = [f"Figures of the thesis: {source}", ""]
    for work in results.values("work"):
        methods = results.values("method", work=work)
        rivals = [m for m in results.values("method") if is_library(m) and (m in methods or work == "solve" and m.startswith("cusparse"))]
        solvers = [m for m in methods if not is_library(m) and any(name.method == m for name in results.timed())]
        columns = ["MKL 1 core", "MKL 8 cores", "cuSPARSE", "global", "shared"]
        out = [["rows x lines", *(f"{shown(m)} ms" for m in solvers), *(f"error of x, {shown(m)}" for m in solvers),
                *(f"{shown(r)} ms" for r in rivals),
                *(f"{m} x {r.split(':')[1]}" for m in solvers for r in rivals), *(f"thesis: {c}" for c in columns), "cuSPARSE / shared"]]
        for f in figures:
            lines = {"size": f"{f['lines']}x{f['rows']}", "layout": "contiguous", "precision": "fp64"}
            own = {m: results.milliseconds(method=m, work=work, **lines) for m in solvers}
            other = {r: results.milliseconds(method=r, work=work, **lines) or results.milliseconds(method=r, work="one-shot", **lines)
                     for r in rivals}
            printed = [float(f[key]) if f[key] else None for key in ("mkl_1", "mkl_8", "cusparse", "global", "shared")]
            errors = [results.result(method=m, work=work, **lines) for m in solvers]
            out.append([f"{f['rows']} x {f['lines']}", *map(number, own.values()), *(small(e and e.forward_error) for e in errors),
                        *map(number, other.values()),
                        *(number(ratio(other[r], own[m])) for m in solvers for r in rivals), *map(number, printed),
                        number(ratio(printed[2], printed[4]))])
        text += [f"### {work}, closures of one row", "", *table(out), ""]
    return text


def cyclic(results):
    """One system, and how many times faster than each figure of the thesis: its GPU's with the transfers, which are not here."""
    figures, source = paper("cyclic_reduction.csv")
    text = [f"Figures of the thesis: {source} Ours: one-shot, without transfers, one thread on a host.", ""]
    printed = {"CPU": "cpu_first", "CPU, padded": "cpu_padded", "GPU": "gpu_first", "GPU, padded": "gpu_padded"}
    for precision in results.values("precision"):
        of_precision = [f for f in figures if f["precision"] == precision and f"1x{f['rows']}" in results.values("size", precision=precision)]
        methods = results.values("method", precision=precision)
        solvers = [m for m in methods if not is_library(m)]
        if not of_precision:
            continue
        out = [["rows", *(f"{shown(m)} ms" for m in methods), *(f"thesis: {c} ms" for c in printed), *(f"{shown(m)} x the thesis's best" for m in solvers)]]
        for f in of_precision:
            own = {m: results.milliseconds(method=m, precision=precision, size=f"1x{f['rows']}") for m in methods}
            theirs = [1e3 * float(f[key]) if f[key] else None for key in printed.values()]
            best = min((ms for ms in theirs if ms), default=None)
            out.append([f"2^{int(f['rows']).bit_length() - 1}", *(number(ms) if ms else "–" for ms in own.values()), *(number(ms) if ms else "–" for ms in theirs),
                        *(number(ratio(best, own[m])) if best and own[m] else "–" for m in solvers)])
        text += [f"### {precision}", "", *table(out), ""]
    return text


def methods(results):
    """Milliseconds, times what `wide` takes, times the floor."""
    text = []
    for layout in results.values("layout"):
        for work in results.values("work"):
            here = [name for name in results.timed() if (name.layout, name.work) == (layout, work)]
            sizes = list(dict.fromkeys(name.size for name in here))
            out = [["ms / x wide / x floor", *(size.replace("x", " x ") for size in sizes)]]
            for method in dict.fromkeys(name.method for name in here):
                cells = []
                for size in sizes:
                    name = next((n for n in here if (n.method, n.size) == (method, size)), None)
                    time = results.rows[name].milliseconds if name else None
                    wide = results.milliseconds(method="wide", size=size, layout=layout, work=work)
                    cells.append(f"{number(time)} / {number(ratio(time, wide))} / {number(ratio(time, results.floor(name)))}" if name else "–")
                out.append([shown(method), *cells])
            text += [f"### {layout}, {work}", "", *table(out), ""] if here else []
    return text


def report(suite, results, quick):
    context = results.context
    title = f"# Suite {suite} of {pathlib.Path(context['executable']).name}, {context['date']}" + (" (quick)" if quick else "")
    copies = ", ".join(f"{method} {rate / 1e6:.0f} GB/s" for method, rate in results.copies().items())
    versions = [f"{library} {context[library]}" for library in LIBRARIES.values() if library in context]
    machines = dict.fromkeys(f"{name.backend} ({context.get(name.backend, '')})" for name in results.rows)
    lines = [title, "", f"{', '.join([*machines, *versions])}. Memory: {copies}. The floor moves the words of a problem "
             f"({WORDS.get(suite, WORDS_OF_LINES)}) at the rate of the fastest copy.",
             f"Load of the {context['num_cpus']} processors: {context['load_avg'][0]:.1f} before, {context['load_after']:.1f} after; host times are "
             "only worth something where nothing else ran.", ""]
    own = {"adi": adi, "tpr": tpr, "toeplitz": toeplitz, "cyclic": cyclic, "methods": methods, "poisson": bench_poisson.tables}
    if suite in own:
        lines += [*own[suite](results), "## All measurements", ""]
    lines += ["ms: the median run of the repetition with the smallest; inputs and factors from memory, not from cache.",
              "spread: how much slower the slowest repetition was. GB/s: the words of the floor in that time.",
              *(EXPLAINED_POINTS if suite == "poisson" else EXPLAINED_LINES), "",
              *all_rows(results, suite), ""]
    if results.missing:
        names = dict.fromkeys(name.method.split(",")[0] for name in results.missing)
        lines += [f"Not in this build: {', '.join(names)}.", ""]
    if results.failures:
        lines += ["## Not timed", "", *(f"- {'/'.join(name)}: {message}" for name, message in results.failures.items()), ""]
    return lines
