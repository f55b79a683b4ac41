#!/usr/bin/env python3
"""Whether a program or library that nvcc compiled would jump to nowhere where it copies a lambda.

    check_lambdas.py build/cuda-sm_90/lib/libweft.so

nvcc makes a __host__ __device__ lambda an object whose copies are made through a pointer. That is a variable of the file in which the lambda is, and is
set where one is made. A linker keeps one file's copy of each template's function. Where GCC has made another copy for some callers (f.isra.0), or has put
the function into its caller, the lambda is made by one file and copied by another one's function, whose pointer is null. It shows in the program: a pointer
that is set and never used, while another one of the same name is used. Write a class with operator() there. Prints such functions; exit status 1 if there
are any.
Needs nm, objdump and c++filt, and a file that was not stripped."""

import collections
import re
import subprocess
import sys

FUNCTION = re.compile(r"[A-Za-z_][A-Za-z_0-9:]*")
POINTER = re.compile(r"__nv_hdl_helper.*fp_(copier|caller)")
TARGET = re.compile(r"# ([0-9a-f]+)")
SET = re.compile(r"mov\S*\s+%\w+,-?0x[0-9a-f]+\(%rip\)")


def pointers_of(program):
    """Their names by their addresses."""
    lines = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout.splitlines()
    symbols = [line.split() for line in lines]
    return {int(s[0], 16): s[2] for s in symbols if len(s) == 3 and POINTER.search(s[2])}


def uses_of(program, pointers):
    """Addresses of those that are set, and of those that are read or called."""
    is_set, is_used = set(), set()
    with subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", program], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            target = TARGET.search(line) if "(%rip)" in line else None
            address = int(target.group(1), 16) if target else None
            if address in pointers:
                (is_set if SET.search(line) else is_used).add(address)
    return is_set, is_used


def strays(pointers, is_set, is_used):
    """Names of pointers of which one is set and not used, and another one is used."""
    of_name = collections.defaultdict(set)
    for address, name in pointers.items():
        of_name[name].add(address)
    return [name for name, all_of_it in of_name.items() if (all_of_it & is_set) - is_used and all_of_it & is_used]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pointers = pointers_of(sys.argv[1])
    found = strays(pointers, *uses_of(sys.argv[1], pointers))
    readable = subprocess.run(["c++filt"], input="\n".join(found), capture_output=True, text=True, check=True).stdout.splitlines()
    functions = {", ".join(dict.fromkeys(word for word in FUNCTION.findall(name) if word.startswith("weft::"))) for name in readable}
    print(f"{len(pointers)} pointers of lambdas, {len(found)} that are set in one file and used in another one" + ("" if pointers else " (or the file was stripped)"))
    for function in sorted(functions):
        print("  a lambda in one of: " + function)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
