"""Random options of every type, from the lists that the library prints under -help."""

import numpy as np

import operators


def some(rng, lists, kind, options, chance):
    for option, choices in lists.items():
        if option.startswith(f"pc_{kind}_") and rng.random() < chance:
            options[option] = str(rng.choice(choices))


def choose(rng, lists, grid):
    """A solver and its options. "direct": it claims to solve."""
    kinds = ["line", "line", "crout", "crout", "factor"] + (["adi", "bcr", "bcr", "boxmg", "boxmg"] if grid else [])
    kind = str(rng.choice(kinds))
    options = {}
    if kind == "factor":
        options["pc_type"] = str(rng.choice(["lu", "cholesky", "ilu", "icc"]))
        options["pc_factor_mat_solver_type"] = "crout"
        return {"kind": kind, "options": options}
    options["pc_type"] = kind
    some(rng, lists, kind, options, 0.25)
    if kind == "line":
        if rng.random() < 0.2:
            options["pc_line_sweeps"] = "2"
        if rng.random() < 0.2:
            options["pc_line_omega"] = "0.7"
    if kind == "boxmg":
        for option, most in (("levels", 5), ("sweeps", 3), ("coarsest", 60)):
            if rng.random() < 0.2:
                options[f"pc_boxmg_{option}"] = str(rng.integers(1, most))
        if rng.random() < 0.75:
            options["pc_boxmg_share"] = "0"  # these grids are small
    if kind == "adi" and rng.random() < 0.3:
        options["pc_adi_cycle"] = str(rng.integers(1, 6))
    if kind == "crout":
        if rng.random() < 0.3:
            options["pc_crout_levels"] = str(rng.integers(0, 4))
        if rng.random() < 0.2:
            options["pc_crout_sweeps"] = str(rng.integers(1, 12))
        if rng.random() < 0.1:
            options["pc_crout_ordering"] = str(rng.choice(["rcm", "amd", "nd"]))
    return {"kind": kind, "options": options}


def case(seed, lists):
    """An operator and a solver for it."""
    rng = np.random.default_rng(seed)
    operator = operators.choose(rng)
    if lists.get("scalars") == "complex":
        operator["complex"] = operators.choose_complex(seed)
    solver = choose(rng, lists, operator["kind"] == "grid")
    if lists.get("scalars") == "complex" and solver["kind"] == "adi":
        solver["options"].setdefault("pc_adi_cycle", "2")  # how many complex shifts are best takes seconds without optimization
    return {"seed": seed, "operator": operator, "solver": solver}
