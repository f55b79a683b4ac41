"""The suite compact of bench.py: compact finite differences by examples/compact: orders by grid refinement, modified wavenumbers, times of a derivative
along each axis, and a pulse in a periodic box with its energy. Programs of several ranks run under mpiexec."""

import json
import math
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from bench_tables import number, small, table

ROOT = Path(__file__).resolve().parent.parent
TYPES = {"host": [], "device": ["-dm_vec_type", "cuda"]}
#: Cubes whose derivatives are timed, and of the pulse's pictures.
CUBES = {"host": [64, 128], "device": [256, 512]}
SCHEMES = [("first", 4), ("first", 6), ("second", 4), ("second", 6)]
#: Milliseconds of a derivative along x in the thesis (Table 4.2): 1 GPU (K20), 8 CPU cores.
THESIS = {256: (19.9, 79.5), 512: (164.5, 556.8)}


class Failed(Exception):
    pass


def run(program, options, folder, environment):
    """Runs everything; returns why it failed, or None."""
    try:
        Suite(program, options, folder, environment).run()
    except Failed as failure:
        return str(failure)
    return None


class Suite:
    def __init__(self, program, options, folder, environment):
        self.program, self.folder, self.environment = Path(program), folder, environment
        self.backend, self.quick = options.backend or "host", options.quick
        self.ranks = options.ranks or [1]
        self.library = self.program.parent.parent / "lib" / "libweft.so"

    def call(self, *arguments, ranks=1):
        mpi = [shutil.which("mpiexec") or "mpiexec", "-n", str(ranks)] if ranks > 1 else []
        command = [*mpi, str(self.program), "-dll_append", str(self.library), "-options_file", str(ROOT / "examples/compact/compact.opts"),
                   *TYPES[self.backend], *map(str, arguments)]
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Failed(f"{' '.join(command)} ended with exit status {done.returncode}:\n{done.stdout[-2000:]}")
        return done.stdout

    def derivatives(self, *arguments, ranks=1):
        return [json.loads(line) for line in self.call(*arguments, ranks=ranks).splitlines() if line.startswith("{")]

    def run(self):
        print("suite compact: orders, wavenumbers, times, a pulse", flush=True)
        text = ["# Compact finite differences", "", f"Suite compact, {self.backend}; load {os.getloadavg()[0]:.1f}. The program is examples/compact with its options file.", ""]
        refinement, timing = self.refinement(), self.timing()
        text += self.orders(refinement) + self.times(timing)
        pulse = self.pulse()
        text += [pulse[0], ""]
        (self.folder / "compact.json").write_text(json.dumps({"refinement": refinement, "timing": timing}, indent=1))
        pictures = self.draw(refinement, pulse)
        text += [f"![{name}]({name})" for name in pictures]
        (self.folder / "compact.md").write_text("\n".join(text) + "\n")
        print("\n".join(text))
        print(f"written to {self.folder}: compact.md, compact.json{''.join(', ' + name for name in pictures)}")

    def refinement(self):
        rows = []
        for kind, order in SCHEMES:
            for periodic in (False, True):
                for n in (16, 32, 64, 128) if periodic or self.quick else (16, 32, 64, 128, 256):
                    rows += self.derivatives("-dim", 1, "-da_grid_x", n if periodic else n + 1, "-compact_derivative", kind, "-compact_order", order,
                                             *(["-compact_periodic"] if periodic else []))
        return rows

    @staticmethod
    def series(rows, derivative, order, periodic):
        return [row for row in rows if (row["derivative"], row["order"], row["periodic"]) == (derivative, order, periodic)]

    def orders(self, rows):
        out = [["scheme", "ends", "intervals", "largest error", "order", "mean square", "order", "middle half", "order"]]
        for derivative, order in ((d, o) for d in (1, 2) for o in (4, 6)):
            for periodic in (False, True):
                before = None
                for row in self.series(rows, derivative, order, periodic):
                    cells = [f"{'first' if derivative == 1 else 'second'} derivative, order {order}", "periodic" if periodic else "open",
                             str(row["grid"][0] - (not periodic))]
                    for key in ("most", "mean_square", "middle"):
                        cells += [small(row[key]), f"{math.log2(before[key] / row[key]):.2f}" if before and row[key] > 0 else ""]
                    out.append(cells)
                    before = row
        return ["## Errors and orders by grid refinement", "", "f = sin(2 pi x + 0.3) on [0, 1]; open ends have closures of third order, beside them rows of fourth.",
                "", *table(out, 2), ""]

    def timing(self):
        rows = []
        for n in CUBES[self.backend][:1 if self.quick else None]:
            for ranks in self.ranks:
                for kind, order in SCHEMES[:1] if self.quick else SCHEMES:
                    for one_pass in (0, 1):
                        rows += self.derivatives("-da_grid_x", n, "-da_grid_y", n, "-da_grid_z", n, "-repeat", 3 if self.quick else 10, "-compact_derivative", kind,
                                                 "-compact_order", order, "-compact_one_pass", one_pass, ranks=ranks)
        return rows

    def times(self, rows):
        out = [["grid", "ranks", "derivative, order", "way", "axis", "ms", "of it the stencil", "a copy", "x copy", "error", "thesis: 1 GPU", "8 cores"]]
        for row in rows:
            n = row["grid"][0]
            thesis = THESIS.get(n) if (row["derivative"], row["order"], row["axis"]) == (1, 4, "x") else None
            out.append([f"{n}³", str(row["ranks"]), f"{'first' if row['derivative'] == 1 else 'second'}, {row['order']}",
                        "one pass" if row["one_pass"] else "solver", row["axis"], number(1e3 * row["seconds"]),
                        "" if row["one_pass"] else number(1e3 * row["stencil"]), number(1e3 * row["copy"]), number(row["seconds"] / row["copy"]),
                        small(row["most"]), *(map(number, thesis) if thesis else ("", ""))])
        return ["## A derivative along each axis", "", "Vectors where the backend is; a copy is PETSc's VecCopy of the same field. Thesis: Table 4.2, K20 and Xeon E5-2670 v2.", "",
                *table(out, 4), ""]

    def pulse(self):
        n = 64 if self.quick else 128
        fields, energy, words = [], [], ""
        with tempfile.TemporaryDirectory() as scratch:
            for end in (0.25, 1):
                words = self.call("-case", "pulse", "-dim", 2, "-da_grid_x", n, "-da_grid_y", n, "-compact_order", 6, "-ts_max_time", end, "-output", f"{scratch}/p")
                fields.append((end, Path(f"{scratch}/p.bin").read_bytes()[-8 * n * n :]))  # after a header whose size is that of PetscInt
                energy = [[float(word) for word in line.split(",")] for line in Path(f"{scratch}/p.csv").read_text().splitlines()[1:]]
        found = re.search(r"pulse: .*", words)
        if not found:
            raise Failed(f"no pulse in {words[-500:]}")
        away = max(abs(e - x) / x for _, _, e, x in energy)
        return f"## A pulse in a periodic box\n\n{n}², order 6, TSRK of order 4: {found.group(0)}; its energy is within {away:.1e} of the exact one in every step.", n, fields, energy

    def wavenumbers(self, kind, order, alpha=0.45):
        """Wavenumbers, and what the scheme makes of each."""
        lines = self.call("-case", "wavenumber", "-compact_derivative", kind, "-compact_order", order, "-compact_alpha", alpha).splitlines()
        return zip(*(map(float, line.split()) for line in lines if re.match(r"[\d.]+ [-\d.]+$", line)))

    def draw(self, rows, pulse):
        try:
            import matplotlib

            matplotlib.use("Agg")
            import matplotlib.pyplot as plot
            import numpy
        except ImportError:
            return []
        figure, axes = plot.subplots(1, 4, figsize=(18, 4))
        for derivative, order in ((d, o) for d in (1, 2) for o in (4, 6)):
            for periodic in (False, True):
                some = self.series(rows, derivative, order, periodic)
                axes[0].loglog([row["grid"][0] - (not periodic) for row in some], [row["mean_square"] for row in some], "o-" if periodic else "s--",
                               label=f"{'f′' if derivative == 1 else 'f″'}, {order}, {'periodic' if periodic else 'open'}")
        axes[0].set(title="mean square error", xlabel="intervals")
        axes[0].legend(fontsize=7)
        for kind, order in SCHEMES:
            axes[1].plot(*self.wavenumbers(kind, order), "-" if kind == "first" else "--", label=f"compact, {'f′' if kind == 'first' else 'f″'}, {order}")
        k = numpy.linspace(0, math.pi, 65)
        for label, values in (("explicit, 2", numpy.sin(k)), ("explicit, 4", (8 * numpy.sin(k) - numpy.sin(2 * k)) / 6),
                              ("explicit, 6", (45 * numpy.sin(k) - 9 * numpy.sin(2 * k) + numpy.sin(3 * k)) / 30)):
            axes[1].plot(k, values, ":", label=label)
        axes[1].plot(k, k, "k", linewidth=0.5)
        axes[1].set(title="modified wavenumber", xlabel="k h", ylim=(0, 3.2))
        axes[1].legend(fontsize=7)
        for order in (4, 6):
            for alpha in (0.3, 0.45):
                axes[2].plot(*self.wavenumbers("filter", order, alpha), label=f"order {order}, {alpha}")
        axes[2].set(title="what the filter leaves", xlabel="k h")
        axes[2].legend(fontsize=7)
        _, n, fields, energy = pulse
        axes[3].plot([row[1] for row in energy], [row[2] for row in energy], label="computed")
        axes[3].plot([row[1] for row in energy], [row[3] for row in energy], "k:", label="exact")
        axes[3].set(title="energy of the pulse", xlabel="time")
        axes[3].legend()
        figure.tight_layout()
        figure.savefig(self.folder / "compact.png", dpi=80)
        figure, axes = plot.subplots(1, len(fields), figsize=(4 * len(fields), 3.6))
        for axis, (end, field) in zip(axes, fields):
            axis.imshow(numpy.frombuffer(field, dtype=">f8").reshape(n, n), origin="lower", extent=(0, 1, 0, 1), cmap="magma")
            axis.set_title(f"t = {end:g}")
        figure.tight_layout()
        figure.savefig(self.folder / "pulse.png", dpi=80)
        return ["compact.png", "pulse.png"]
