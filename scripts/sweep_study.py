"""Draws what `weft_mm FILE -sweep-study -json FILE.json` found: residual of the factors and iterations over the number of sweeps.

    python3 scripts/sweep_study.py FILE.json [PICTURE.png]
"""

import json
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        study = json.load(file)
    swept, exact, history = [], None, []
    for result in study["results"]:
        found = re.search(r"-pc_crout_sweeps (\d+)", result["options"])
        if found and result["solved"]:
            swept.append((int(found.group(1)), result["iterations"]))
        elif result["solved"]:
            exact = result["iterations"]
        history = max(history, result.get("history", []), key=len)
    if not history:
        sys.exit(f"{sys.argv[1]} holds no sweep study: run weft_mm with -sweep-study and -json")

    picture, left = plt.subplots(figsize=(7, 4))
    left.semilogy(range(len(history)), history, color="tab:blue", marker=".")
    left.xaxis.get_major_locator().set_params(integer=True)
    left.set_xlabel("sweeps")
    left.set_ylabel("residual of the factors, |A - LU| / |A|", color="tab:blue")
    right = left.twinx()
    right.plot(*zip(*swept), color="tab:red", marker="o", linestyle="none")
    if exact is not None:
        right.axhline(exact, color="tab:red", linewidth=0.8, linestyle="--", label="exact factors")
        right.legend(loc="upper right")
    right.set_ylim(bottom=0)
    right.set_ylabel("iterations", color="tab:red")
    left.set_title(f"{study['matrix']['file'].split('/')[-1]}: {study['matrix']['rows']} rows, {study['matrix']['nonzeros']} non-zeros")
    picture.tight_layout()
    target = sys.argv[2] if len(sys.argv) == 3 else re.sub(r"(\.json)?$", ".png", sys.argv[1], count=1)
    picture.savefig(target, dpi=150)
    print(target)


main()
