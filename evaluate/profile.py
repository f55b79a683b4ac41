"""Performance profiles (Dolan and Moré, Benchmarking optimization software with performance profiles, Math. Program. 91, 2002)."""

import bisect
import math


def times_of(rows):
    """{problem: {configuration: seconds}} of what was solved, and the set of all problems."""
    table = {}
    for row in rows:
        table.setdefault(row["problem"], {})
        if row["outcome"] == "solved":
            table[row["problem"]][row["configuration"]] = max(row["total_seconds"], 1e-9)
    return table


def ratios(table):
    """{configuration: sorted times over the problem's least}, and the number of problems that anything solved. What did not solve has no ratio: infinity."""
    found, problems = {}, 0
    for times in table.values():
        if not times:
            continue
        problems += 1
        least = min(times.values())
        for configuration, seconds in times.items():
            found.setdefault(configuration, []).append(seconds / least)
    return {configuration: sorted(values) for configuration, values in found.items()}, problems


def share(sorted_ratios, problems, tau):
    """rho(tau): the share of problems solved within tau times the least time."""
    return bisect.bisect_right(sorted_ratios, tau * (1 + 1e-12)) / problems if problems else 0.0


def area(sorted_ratios, problems, most=100.0):
    """Under the profile over log tau from 1 to most, from 0 to 1: what curves are put in order by."""
    if not problems:
        return 0.0
    return sum(1 - math.log(ratio) / math.log(most) for ratio in sorted_ratios if ratio < most) / problems
