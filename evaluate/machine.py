"""What the results depend on: the machine, the versions, the programs."""

import hashlib
import os
import pathlib
import platform
import subprocess

from . import InputError, inputs


def first_of(path, start):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return next((line.split(":" if ":" in line else "=", 1)[1].strip().strip('"') for line in file if line.startswith(start)), "")
    except OSError:
        return ""


def processor():
    return first_of("/proc/cpuinfo", "model name") or platform.machine()


def memory_bytes():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def said_by(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else ""


def device():
    return said_by("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")


def weft_version(source):
    return said_by("git", "-C", str(source), "describe", "--always", "--dirty") or "unknown"


def programs(build):
    """The programs that solve; an error where they are not built."""
    files = [build / "bin" / "weft_mm", build / "bin" / "diffusion", build / "lib" / "libweft.so"]
    for file in files:
        if not file.is_file():
            raise InputError(f"{file} is not there: ./weft evaluate builds it, or name the build folder with --build")
    return files


def fingerprint(build, backend):
    """The same for runs whose results can be put together: programs, processor, threads, backend."""
    parts = [inputs.digest(file) for file in programs(build)]
    return hashlib.sha256("|".join([*parts, processor(), os.environ.get("OMP_NUM_THREADS", ""), backend]).encode()).hexdigest()


def scalars(build):
    """The numbers that a build solves in, real or complex. Before it is there, what its name says; nothing of a PETSc of the user's own."""
    told = said_by("sh", str(build / "install" / "weft-config"), "--scalars")
    return told or ("complex" if "complex" in build.name else "" if build.name.startswith("own") else "real")


def facts(arguments, command):
    """For people: a dictionary of words."""
    found = {"Command": command, "Processor": f"{processor()}, {len(os.sched_getaffinity(0))} cores, {memory_bytes() / 2**30:.0f} GiB"}
    if arguments.backend != "host":
        found["Device"] = device() or "unknown"
    found["System"] = first_of("/etc/os-release", "PRETTY_NAME") or platform.platform()
    found["Threads"] = f"OMP_NUM_THREADS={os.environ.get('OMP_NUM_THREADS', 'unset')}, one rank"
    found["Weft"] = weft_version(pathlib.Path(__file__).resolve().parent.parent)
    return found
