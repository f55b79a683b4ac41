"""What a run of a benchmark program measured."""

import collections
import csv
import json
import os
import pathlib

Name = collections.namedtuple("Name", "backend precision size layout coefficients work method")
Result = collections.namedtuple("Result", "milliseconds spread bytes_a_row error forward_error median_error label")

LIBRARIES = {"lapack": "LAPACK", "cusparse": "cuSPARSE"}
MISSING = "not in this build"
PAPERS = pathlib.Path(__file__).resolve().parent.parent / "bench" / "papers"


def parse_name(text):
    """What Google Benchmark appends to a name (/iterations:1) is left out."""
    return Name(*text.split("/")[:7])


def is_library(method):
    return method.split(":")[0] in LIBRARIES


def lines_and_rows(name):
    return tuple(int(part) for part in name.size.split("x"))


def paper(name):
    """The rows of a file of bench/papers, and the comment above them, which says where they are from."""
    lines = (PAPERS / name).read_text().splitlines()
    source = " ".join(line[1:].strip() for line in lines if line.startswith("#"))
    return list(csv.DictReader(line for line in lines if not line.startswith("#"))), source


class Results:
    """The repetition of each benchmark that other programs disturbed least, how much slower the worst one was, and what went wrong."""

    def __init__(self, report):
        self.context = report["context"]
        self.missing, self.failures, self.rows = [], {}, {}
        entries = collections.defaultdict(list)
        for entry in report["benchmarks"]:
            name = parse_name(entry["name"])
            if entry.get("error_occurred"):
                if entry["error_message"] == MISSING:
                    self.missing += [name] if name not in self.missing else []
                else:
                    self.failures[name] = entry["error_message"]
            elif entry.get("run_type") == "iteration":
                entries[name].append(entry)
        for name, runs in entries.items():
            best, worst = (choose(runs, key=lambda run: run["median_ms"]) for choose in (min, max))
            spread = worst["median_ms"] / best["median_ms"] - 1 if len(runs) > 1 else None
            self.rows[name] = Result(best["median_ms"], spread, best["bytes_a_row"], best["error"], best.get("forward_error"),
                                     best.get("median_error"), best.get("label", ""))

    @staticmethod
    def read(path):
        results = Results(json.loads(pathlib.Path(path).read_text()))
        results.context["load_after"] = os.getloadavg()[0]
        return results

    def copies(self):
        """Bytes a millisecond of each way to move memory."""
        return {name.method: lines_and_rows(name)[1] * result.bytes_a_row / result.milliseconds
                for name, result in self.rows.items() if name.work == "copy"}

    def rate(self):
        """The fastest copy's bytes a millisecond: what every floor is made from."""
        return max(rate for method, rate in self.copies().items() if method != "read-4-write-1")

    def timed(self):
        return {name: result for name, result in self.rows.items() if name.work != "copy"}

    def floor(self, name):
        """Milliseconds that moving the words of a problem takes at least."""
        lines, rows = lines_and_rows(name)
        return lines * rows * self.rows[name].bytes_a_row / self.rate()

    def rivals(self, name):
        """The library's functions for the same lines: those for the same layout, then those that it has for another layout only. One that
        keeps no factors is compared by what it would take: factoring and solving."""
        same = [n for n in self.timed() if is_library(n.method) and n[:3] == name[:3] and n.coefficients == name.coefficients]
        found = [n for n in same if n.work == name.work] or [n for n in same if n.work == "one-shot"]
        here = [n for n in found if n.layout == name.layout]
        return here + [n for n in found if n.layout != name.layout and n.method not in {h.method for h in here}]

    def one_shot(self, name):
        """The same with factoring."""
        return self.rows.get(name._replace(work="one-shot")) if name.work == "solve" else None

    def result(self, **fields):
        """Of the only benchmark with these fields, or None."""
        for name, result in self.timed().items():
            if all(getattr(name, field) == value for field, value in fields.items()):
                return result
        return None

    def milliseconds(self, **fields):
        found = self.result(**fields)
        return found and found.milliseconds

    def values(self, field, **fields):
        """The values of a field among the benchmarks with these fields, those that have no row for lack of a method included."""
        names = [n for n in [*self.timed(), *self.missing] if all(getattr(n, key) == value for key, value in fields.items())]
        return list(dict.fromkeys(getattr(name, field) for name in names))
