"""Runs cases, a few at a time, each in a process of its own."""

import sys
import time

from .child import Child
from .outcome import row_of


def duration(seconds):
    seconds = int(seconds + 0.5)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02} min"


class Progress:
    """A bar that is drawn anew on a terminal; elsewhere a line now and then."""

    def __init__(self, what, total, done, stream=sys.stderr, every=15.0):
        self.what, self.total, self.first, self.stream, self.every = what, total, done, stream, every
        self.done, self.failed, self.now = done, 0, ""
        self.started = self.shown = time.monotonic()
        self.terminal = stream.isatty()
        if not self.terminal and total > done:
            self.line(f"{what}: {total - done}" + (f", and {done} done before" if done else ""))

    def line(self, text):
        print(f"evaluate: {text}", file=self.stream, flush=True)

    def left(self):
        here = self.done - self.first
        if not here:
            return "?"
        return duration((time.monotonic() - self.started) / here * (self.total - self.done))

    def show(self, force=False):
        now = time.monotonic()
        if now - self.shown < (0.1 if self.terminal else self.every) and not force:
            return
        self.shown = now
        if self.terminal:
            filled = 30 * self.done // max(1, self.total)
            text = f"{self.what}: [{'#' * filled}{'.' * (30 - filled)}] {self.done}/{self.total}, left {self.left()}  {self.now}"
            self.stream.write("\r\x1b[K" + text[:150])
            self.stream.flush()
        else:
            self.line(f"{self.what}: {self.done}/{self.total}, {self.failed} without a result, left {self.left()}")

    def end(self):
        if self.terminal:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def start(case, arguments):
    return Child(case.command, arguments.time_limit, arguments.memory_limit, arguments.backend == "host")


def ended(case, child, arguments):
    """The row of a case whose process has ended, of which nothing is left then."""
    row = row_of(child, case, arguments.rtol, arguments.backend)
    child.remove()
    return row


def run_one(case, arguments):
    """A case alone, to its end."""
    child = start(case, arguments)
    try:
        while not child.poll():
            time.sleep(0.01)
    finally:
        child.kill("stopped")
    return ended(case, child, arguments)


def run_cases(what, cases, store, arguments):
    """Runs what the store has no row for. Whatever ends this early, the rows are in the store and no process is left."""
    todo = [case for case in cases if case.key not in store.rows][::-1]
    progress = Progress(what, len(cases), len(cases) - len(todo))
    running = []
    try:
        while todo or running:
            while todo and len(running) < arguments.parallel:
                case = todo.pop()
                running.append((case, start(case, arguments)))
                progress.now = case.name
            progress.show()
            for case, child in list(running):
                if not child.poll():
                    continue
                running.remove((case, child))
                row = ended(case, child, arguments)
                store.add(row)
                progress.done += 1
                progress.failed += row["outcome"] != "solved"
            time.sleep(0.01)
    finally:
        for _, child in running:
            child.kill("stopped")
            child.remove()
        progress.end()
