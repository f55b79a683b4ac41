"""One solver in a process of its own, watched: how long it takes, how much memory it takes, how it ends."""

import ctypes
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time

MOST_OUTPUT = 64 << 20  # bytes of a file that a solver may write
ADDRESS_SLACK = 1 << 30  # address space that libraries map and never touch
PAGE = os.sysconf("SC_PAGE_SIZE")
RESULT = "{result}"  # in a command: the file where the solver shall leave what it found
NOT_PASSED_ON = ("PETSC_OPTIONS",)  # would be felt in every case


class Child:
    """memory: most bytes of resident memory. address_space: hold the process to it (and some slack) from the start; not where CUDA maps its own."""

    def __init__(self, command, seconds, memory, address_space=True):
        self.seconds, self.memory = seconds, memory
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weft-evaluate-"))
        self.result = self.folder / "result.json"
        self.reason = ""  # why it was ended, by us
        self.peak = 0
        self.code = None
        # Open MPI jobs that start and end at the same time remove each other's session folder: each gets a place of its own.
        environment = {name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON} | {"TMPDIR": str(self.folder)}
        environment["OMPI_MCA_ess_singleton_isolated"] = "1"  # one rank alone needs no daemon, which would leave our process group
        parent = os.getpid()

        def limit():
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a solver does not outlive its evaluation
            if os.getppid() != parent:
                os._exit(1)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_OUTPUT, MOST_OUTPUT))
            if address_space:
                resource.setrlimit(resource.RLIMIT_AS, (memory + ADDRESS_SLACK, memory + ADDRESS_SLACK))

        with open(self.folder / "output", "wb") as output:
            self.started = time.monotonic()
            words = [word.replace(RESULT, str(self.result)) for word in command]
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment,
                                            start_new_session=True, preexec_fn=limit)

    def poll(self):
        """Whether it has ended; ends it where it has passed a limit."""
        if self.code is not None:
            return True
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid:
            self.ended(status, usage)
            return True
        if time.monotonic() - self.started > self.seconds:
            self.kill("time")
        elif self.resident() > self.memory:
            self.kill("memory")
        return self.code is not None

    def resident(self):
        try:
            with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * PAGE
        except (OSError, IndexError):  # it is ending
            return 0

    def kill(self, reason=""):
        """At once: a solver has nothing to tidy up, and one that hangs would not."""
        if self.code is None:
            self.reason = reason
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            _, status, usage = os.wait4(self.process.pid, 0)
            self.ended(status, usage)

    def ended(self, status, usage):
        self.wall = time.monotonic() - self.started
        self.code = self.process.returncode = os.waitstatus_to_exitcode(status)
        self.peak = usage.ru_maxrss * 1024
        try:  # what it may have left running
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    def output(self, whole=False):
        """What it printed, or the end of it."""
        with open(self.folder / "output", "rb") as file:
            file.seek(0 if whole else max(0, file.seek(0, os.SEEK_END) - (1 << 16)))
            return file.read().decode("utf-8", "replace")

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
