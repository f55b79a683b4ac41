#!/usr/bin/env python3
"""What the check of direct solvers costs: set-up and new values of examples/diffusion with it and without.

    scripts/check_price.py --build build/debian                  # on a host: processor milliseconds of one core
    scripts/check_price.py --build build/cuda --types cuda       # on a device: milliseconds

A case is two processes, one with the check and one without (bounds of 1e300), several times in turn; in a process everything is warm and the least of
--setups counts. No Python bindings of PETSc are needed.
"""

import argparse
import sys
from pathlib import Path

import diffusion

WITHOUT = {"bcr": "-pc_bcr_check_warn 1e300 -pc_bcr_check_fail 1e300", "crout": "-pc_crout_check_warn 1e300 -pc_crout_check_fail 1e300"}
METHODS = {"bcr": "-pc_type bcr", "crout": "-pc_type crout -pc_crout_pattern full"}  # of crout: factors with all fill
DEFAULTS = {"host": ("bcr:1023,1023", "bcr:63,63,63", "crout:511,511"), "cuda": ("bcr:2049,2049", "bcr:128,128,128", "crout:257,257", "crout:513,513")}
DEFAULTS["kokkos"] = DEFAULTS["cuda"]


def measure(arguments, method, nodes, more):
    command = [str(arguments.build / "bin" / "diffusion"), "-dll_append", str(arguments.build / "lib" / "libweft.so"), "-dim", str(len(nodes)), "-k", ",".join("1" for _ in nodes)]
    command += [word for axis, n in zip("xyz", nodes) for word in (f"-da_grid_{axis}", n)]
    command += f"-ksp_type preonly {METHODS[method]} {more} {diffusion.TYPES[arguments.types]} -setups {arguments.setups} -repeat {arguments.setups}".split()
    result = diffusion.measure(command, arguments.limit)
    if "failure" in result:
        return result
    host = arguments.types == "host"
    return {"set-up": result["setup_again_cpu" if host else "setup_again"], "new values": result["update_cpu" if host else "update"], "one application": result["solve_cpu" if host else "solve"], "petsc": result["petsc"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="build folder with bin/diffusion and lib/libweft.so")
    parser.add_argument("--types", choices=diffusion.TYPES, default="host", help="where vectors and matrices are")
    parser.add_argument("--cases", nargs="+", metavar="METHOD:NODES", help="such as bcr:2049,2049 crout:511,511; defaults are those of the results page")
    parser.add_argument("--setups", type=int, default=5, help="timed set-ups of a process; the fastest counts")
    parser.add_argument("--rounds", type=int, default=3, help="so many processes with and without; the fastest count")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one process")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    rows, version = [], "?"
    for case in arguments.cases or DEFAULTS[arguments.types]:
        method, _, size = case.partition(":")
        nodes = size.split(",")
        if method not in METHODS or not 2 <= len(nodes) <= 3 or not all(n.isdigit() for n in nodes):
            sys.exit(f"check_price: {case} is not METHOD:NX,NY or METHOD:NX,NY,NZ, METHOD one of {', '.join(METHODS)}")
        least, failure = ({}, {}), None
        for _ in range(arguments.rounds):
            for which, more in enumerate(("", WITHOUT[method])):
                result = measure(arguments, method, nodes, more)
                if "failure" in result:
                    failure = f"{result['failure']} {result.get('error', '')}".strip()
                    break
                version = result.pop("petsc")
                least[which].update({what: min(seconds, least[which].get(what, seconds)) for what, seconds in result.items()})
            if failure:
                break
        name = f"`{method}`, {' x '.join(nodes)}"
        print(f"{name}: {failure or least}", file=sys.stderr, flush=True)
        if failure:
            rows.append([f"{name}: {failure}", "", "", ""])
            continue
        with_it, without = least
        for what in ("set-up", "new values"):
            rows.append([f"{name}, {what}", f"{with_it[what] * 1e3:.3g}", f"{without[what] * 1e3:.3g}", f"{100 * (1 - without[what] / with_it[what]):.0f} %"])
        rows.append([f"{name}, one application", f"{with_it['one application'] * 1e3:.3g}", f"{without['one application'] * 1e3:.3g}", ""])
    print(f"PETSc {version}, {diffusion.processor()}, types {arguments.types}, {'processor ' if arguments.types == 'host' else ''}milliseconds; the share is of the time with the check.\n")
    print(diffusion.table(["", "with", "without", "share"], rows))


if __name__ == "__main__":
    main()
